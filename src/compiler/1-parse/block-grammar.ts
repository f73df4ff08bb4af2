import type {
  AttributeNode,
  DeclarationNode,
  Declared,
  EntryNode,
  EnumValueNode,
  FieldNode,
  NameNode,
  TypeNode,
} from './syntax-nodes.ts';
import * as t from './tokens.ts';
import { TypeGrammar } from './type-grammar.ts';

/** The rule for one member of a block, and the words for the block and its member in messages. */
interface MemberReader<M> {
  readonly what: string;
  readonly member: string;
  readonly read: () => M;
}

interface Members<M> {
  readonly members: readonly M[];
  readonly attributes: readonly AttributeNode[];
}

/** The target of an alias with type parameters cannot be resolved. */
const UNREADABLE = { kind: 'broken' } as const;
const VALID_NAME = /^[A-Za-z]\w*$/;

/** The grammar of classes, enums and aliases. */
export abstract class BlockGrammar extends TypeGrammar {
  protected readonly name = this.RULE('name', (what: string): NameNode | undefined =>
    this.OR<NameNode | undefined>([
      { ALT: () => this.checkedName(this.take(t.Identifier)) },
      { ALT: () => this.#missingName(what) },
    ]),
  );

  protected readonly classBlock = this.RULE('classBlock', (): DeclarationNode | undefined => {
    const word = this.take(t.Class);
    const extension = this.#extension();
    const name = this.SUBRULE(this.name, { ARGS: ['class'] });
    this.ACTION(() => this.#classParameters(name));
    const read = (): FieldNode => this.SUBRULE(this.field);
    const { members, attributes } = this.#members(name, { what: 'class', member: 'a field', read });
    return name && { kind: 'class', name, fields: members, attributes, ...extension, ...this.declared(word) };
  });

  protected readonly field = this.RULE('field', (): FieldNode => {
    const token = this.take(t.Identifier);
    const name = this.ACTION(() => this.checkedName(token)) ?? this.nameOf(token);
    this.OPTION(() => {
      const colon = this.take(t.Colon);
      this.report('parse/colon-after-name', this.spanOf(colon), { name: name.text });
    });
    const parsed = this.OR([
      { GATE: () => this.nextOnSameLine(), ALT: () => this.SUBRULE(this.type) },
      { ALT: () => this.#missingType(name) },
    ]);
    this.ACTION(() => this.#separators());
    const { type, attributes } = parsed ?? { type: undefined, attributes: [] };
    return { name, attributes, ...(type !== undefined && { type }), ...this.documented(token) };
  });

  protected readonly enumBlock = this.RULE('enumBlock', (): DeclarationNode | undefined => {
    const word = this.take(t.Enum);
    const extension = this.#extension();
    const name = this.SUBRULE(this.name, { ARGS: ['enum'] });
    const read = (): EnumValueNode => this.SUBRULE(this.enumValue);
    const { members, attributes } = this.#members(name, { what: 'enum', member: 'an enum value', read });
    return name && { kind: 'enum', name, values: members, attributes, ...extension, ...this.declared(word) };
  });

  protected readonly enumValue = this.RULE('enumValue', (): EnumValueNode => {
    const token = this.take(t.Identifier);
    const name = this.ACTION(() => this.#enumValueName(token)) ?? this.nameOf(token);
    const attributes = this.SUBRULE(this.attributes);
    this.ACTION(() => this.#separators());
    return { name, attributes, ...this.documented(token) };
  });

  protected readonly alias = this.RULE('alias', (): DeclarationNode | undefined => {
    const word = this.take(t.TypeKeyword);
    const name = this.SUBRULE(this.name, { ARGS: ['type'] });
    const hasParameters = this.ACTION(() => this.#aliasParameters(name));
    this.CONSUME(t.Equals);
    const { type, attributes } = this.SUBRULE(this.type);
    const target = hasParameters ? { ...type, ...UNREADABLE } : type;
    return name && { kind: 'alias', name, type: target, attributes, ...this.declared(word) };
  });

  /** Reports a name with characters that are not allowed. */
  protected checkedName(token: t.DefinitionToken): NameNode {
    const name = token.image;
    if (!VALID_NAME.test(name)) this.report('parse/invalid-name', this.spanOf(token), { name, reason: reasonOf(name) });
    return this.nameOf(token);
  }

  protected documented(token: t.DefinitionToken): { readonly documentation?: string } {
    const { documentation } = token;
    return documentation === undefined ? {} : { documentation };
  }

  /** The members that all declaration nodes share, except the name. */
  protected declared(word: t.DefinitionToken): Omit<Declared, 'name'> {
    const span = this.spanFrom(word);
    const broken = this.brokenBetween(span);
    return { ...this.documented(word), span, ...(broken && { broken }) };
  }

  protected missingBlock(what: string, name: NameNode | undefined): readonly EntryNode[] {
    this.ACTION(() => {
      const next = this.peek();
      if (this.nextOnSameLine() && next.tokenType !== t.RightBrace) this.#reportNoBlock(next);
      else if (name !== undefined) this.report('parse/missing-block', name.span, { name: name.text, what });
      this.skipDeclaration(this.peek(0).depth);
    });
    return [];
  }

  /** Reads the block of a class or enum: its members and attributes. Not a rule, so it is part of the calling rule. */
  #members<M>(name: NameNode | undefined, { what, member, read }: MemberReader<M>): Members<M> {
    const members: M[] = [];
    const attributes: AttributeNode[] = [];
    this.OR1([
      {
        ALT: () => {
          this.CONSUME(t.LeftBrace);
          this.MANY(() =>
            this.OR2({
              IGNORE_AMBIGUITIES: true,
              DEF: [
                { GATE: () => what === 'class' && this.#atMethod(), ALT: () => this.#method(this.take(t.Function)) },
                { ALT: () => this.collect(members, read) },
                { ALT: () => this.#blockAttribute(attributes) },
                { ALT: () => this.SUBRULE(this.stray, { ARGS: [member] }) },
              ],
            }),
          );
          this.CONSUME(t.RightBrace);
        },
      },
      { ALT: () => void this.missingBlock(what, name) },
    ]);
    return { members, attributes };
  }

  #atMethod(): boolean {
    return this.nextIs(t.Function) && this.nextIs(t.Identifier, 2) && this.nextIs(t.LeftParenthesis, 3);
  }

  /** Skips a method, which is code, as the body of a workflow function is. */
  #method(word: t.DefinitionToken): void {
    this.ACTION(() => {
      const name = this.nameOf(this.peek());
      this.skipUntil(
        word.depth,
        () => this.nextIs(t.LeftBrace) || (this.peek().onNewLine && this.nextIs(t.Identifier)),
      );
      if (!this.nextIs(t.LeftBrace)) {
        this.report('parse/missing-block', name.span, { name: name.text, what: 'method' });
        return;
      }
      this.skipToken();
      this.report('parse/method', name.span, { name: name.text });
    });
  }

  /** Adds an attribute of the block. One with a single at sign above the first member is meant for that member. */
  #blockAttribute(attributes: AttributeNode[]): void {
    this.collect(attributes, () => this.SUBRULE(this.attribute));
    this.ACTION(() => {
      const last = attributes.at(-1);
      if (last === undefined || last.block || !this.nextIs(t.Identifier)) return;
      attributes.pop();
      this.report('parse/attribute-place', last.span, { name: last.name, isFirst: true });
    });
  }

  /** For the node of a class or enum, after its first word. */
  #extension(): { readonly extension?: true } {
    return this.peek(-1).tokenType === t.Dynamic ? { extension: true } : {};
  }

  #reportNoBlock(token: t.DefinitionToken): void {
    const advice = token.image === 'extends' ? 'Definitions cannot extend each other: repeat the fields.' : '';
    const params = { expected: '"{"', found: t.quoteToken(token), advice };
    this.report('parse/unexpected-token', this.spanOf(token), params);
  }

  #missingName(what: string): undefined {
    this.ACTION(() => {
      this.report('parse/missing-name', this.spanOf(this.peek(0)), { what });
      const { depth } = this.peek(0);
      this.skipUntil(depth, () => this.nextIs(t.LeftBrace) || this.nextIs(t.Equals) || this.atDeclaration());
    });
    return undefined;
  }

  #enumValueName(token: t.DefinitionToken): NameNode {
    // Attributes end a value, so another one can follow on the line.
    const begins = token.onNewLine || BEFORE_ENUM_VALUE.has(this.peek(-1).tokenType);
    if (!begins) {
      this.report('parse/enum-value-line', this.spanOf(token), { name: token.image });
      this.skipEntry(token.depth);
    }
    return this.checkedName(token);
  }

  #missingType(name: NameNode): { type: TypeNode; attributes: readonly AttributeNode[] } | undefined {
    this.ACTION(() => {
      const next = this.peek();
      if (
        !this.nextOnSameLine() ||
        next.tokenType === t.Attribute ||
        next.tokenType === t.RightBrace ||
        isSeparator(next)
      ) {
        this.report('parse/missing-type', name.span, { name: name.text, what: 'field' });
      } else {
        const advice = next.tokenType === t.Question ? `Write \`${name.text} Type?\` for an optional field.` : '';
        const params = { expected: 'a type', found: t.quoteToken(next), advice };
        this.report('parse/unexpected-token', this.spanOf(next), params);
      }
      this.skipEntry(this.peek(0).depth);
    });
    return undefined;
  }

  #separators(): void {
    const next = this.peek();
    if (!isSeparator(next)) return;
    this.report('parse/separator-in-block', this.spanOf(next), { text: next.image });
    this.skipToken();
  }

  #classParameters(name: NameNode | undefined): void {
    if (!this.nextIs(t.LeftParenthesis)) return;
    this.skipToken();
    if (name !== undefined) this.report('parse/ignored-parameters', name.span, { name: name.text, what: 'class' });
  }

  #aliasParameters(name: NameNode | undefined): boolean {
    if (!this.nextIs(t.Less)) return false;
    if (name !== undefined) this.report('parse/alias-parameters', name.span, { name: name.text });
    this.skipTo(t.Equals);
    return true;
  }
}

const BEFORE_ENUM_VALUE = new Set([t.LeftBrace, t.Comma, t.Attribute, t.RightParenthesis]);

function isSeparator(token: t.DefinitionToken): boolean {
  return token.tokenType === t.Comma || token.tokenType === t.Semicolon;
}

function reasonOf(name: string): string {
  if (name.startsWith('_')) return 'it begins with "_"';
  if (name.includes('-')) return 'it contains "-"';
  return 'it contains a letter that is not ASCII';
}
