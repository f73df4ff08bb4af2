import { tokenMatcher } from 'chevrotain';
import { equivalentOfGeneric } from './other-languages.ts';
import type {
  AttributeNode,
  DeclarationNode,
  Declared,
  EntryNode,
  EnumValueNode,
  FieldNode,
  NameNode,
  TypeNode,
  TypeNodeShape,
} from './syntax-nodes.ts';
import { isExactInteger } from './tokenize.ts';
import * as t from './tokens.ts';
import { unescapeString, ValueGrammar } from './value-grammar.ts';

/** A type, and the attributes that follow it: they belong to the field or parameter that has the type. */
export interface AttributedType {
  readonly type: TypeNode;
  readonly attributes: readonly AttributeNode[];
}

/** The most nested lists or maps, as for brackets. */
const MAX_NESTING = 64;

/** The most tokens of a generic type's arguments that the parser reads to suggest an equivalent. */
const LONGEST_ARGUMENTS = 20;

/** The grammar of types. */
abstract class TypeGrammar extends ValueGrammar {
  /** The number of open maps, whose angle brackets are not balanced beforehand. */
  #mapDepth = 0;

  protected readonly type = this.RULE('type', (): AttributedType => {
    this.OPTION(() => {
      const pipe = this.take(t.Pipe);
      this.report('parse/leading-pipe', this.spanOf(pipe), {});
    });
    const first = this.peek();
    const members: TypeNode[] = [this.SUBRULE1(this.postfixType)];
    let attributes = this.SUBRULE1(this.attributes);
    this.MANY(() => {
      this.CONSUME2(t.Pipe);
      const last = members.pop();
      this.ACTION(() => last !== undefined && members.push(withAttributes(last, attributes)));
      members.push(this.SUBRULE2(this.postfixType));
      attributes = this.SUBRULE2(this.attributes);
    });
    return this.ACTION(() => ({ type: this.#union(members, first), attributes }));
  });

  protected readonly postfixType = this.RULE('postfixType', (): TypeNode => {
    const first = this.peek();
    let type = this.SUBRULE(this.baseType);
    let count = 0;
    this.MANY({
      GATE: () => !this.peek().onNewLine,
      DEF: () =>
        this.OR([
          {
            ALT: () => {
              this.CONSUME(t.LeftBracket);
              this.CONSUME(t.RightBracket);
              count += 1;
              if (count <= MAX_NESTING) type = this.ACTION(() => this.#list(type, first)) ?? type;
            },
          },
          {
            ALT: () => {
              const mark = this.take(t.Question);
              type = this.ACTION(() => this.#optional(type, first, mark)) ?? type;
            },
          },
        ]),
    });
    this.ACTION(() => {
      if (count > MAX_NESTING) this.report('parse/nesting-too-deep', this.spanFrom(first), { limit: MAX_NESTING });
    });
    return type;
  });

  protected readonly baseType = this.RULE('baseType', (): TypeNode =>
    this.OR<TypeNode>({
      ERR_MSG: 'a type',
      IGNORE_AMBIGUITIES: true,
      DEF: [
        { GATE: () => this.nextIs(t.Less, 2) && this.#mapDepth < MAX_NESTING, ALT: () => this.SUBRULE(this.mapType) },
        { GATE: () => !this.atDeclaration(), ALT: () => this.SUBRULE(this.namedType) },
        { ALT: () => this.#stringLiteral(this.take(t.QuotedString)) },
        { ALT: () => this.#numberLiteral(this.take(t.Number)) },
        { ALT: () => this.SUBRULE(this.group) },
        { ALT: () => this.SUBRULE(this.bracketedType) },
        { ALT: () => this.SUBRULE(this.brokenType) },
      ],
    }),
  );

  /** A type inside another one: the attributes after it belong to it. */
  protected readonly innerType = this.RULE('innerType', (): TypeNode => {
    const { type, attributes } = this.SUBRULE(this.type);
    return this.ACTION(() => withAttributes(type, attributes));
  });

  protected readonly mapType = this.RULE('mapType', (): TypeNode => {
    this.#mapDepth += 1;
    try {
      const word = this.take(t.MapWord);
      this.CONSUME(t.Less);
      const key = this.SUBRULE1(this.innerType);
      if (this.ACTION(() => this.nextIs(t.Greater)) === true) return this.#mapWithoutValue(key, word);
      this.CONSUME(t.Comma);
      const value = this.SUBRULE2(this.innerType);
      this.CONSUME(t.Greater);
      return this.node({ kind: 'map', key, value }, word);
    } finally {
      this.#mapDepth -= 1;
    }
  });

  protected readonly namedType = this.RULE('namedType', (): TypeNode => {
    const name = this.take(t.Identifier);
    const shape: TypeNodeShape =
      name.image === 'true' || name.image === 'false'
        ? { kind: 'literal', value: name.image === 'true' }
        : { kind: 'name', name: name.image };
    const node = this.node(shape, name);
    const generic = this.ACTION(() => this.#parametersFollow()) === true;
    return generic ? this.#generic(name) : node;
  });

  protected readonly group = this.RULE('group', (): TypeNode => {
    const open = this.take(t.LeftParenthesis);
    const members: TypeNode[] = [this.SUBRULE1(this.innerType)];
    this.MANY(() => {
      this.CONSUME(t.Comma);
      members.push(this.SUBRULE2(this.innerType));
    });
    this.CONSUME(t.RightParenthesis);
    const only = members[0];
    return members.length === 1 && only !== undefined ? only : this.node({ kind: 'tuple', members }, open);
  });

  /** `[T]` and `[]T`, lists in other languages. */
  protected readonly bracketedType = this.RULE('bracketedType', (): TypeNode => {
    const open = this.take(t.LeftBracket);
    const element = this.OR([
      {
        ALT: () => {
          this.CONSUME1(t.RightBracket);
          return this.SUBRULE1(this.innerType);
        },
      },
      {
        ALT: () => {
          const inner = this.SUBRULE2(this.innerType);
          this.CONSUME2(t.RightBracket);
          return inner;
        },
      },
    ]);
    this.ACTION(() => this.report('parse/list-type', this.spanFrom(open), { equivalent: `${itemText(element)}[]` }));
    return this.node({ kind: 'list', element }, open);
  });

  protected readonly brokenType = this.RULE('brokenType', (): TypeNode => {
    const token = this.OR([
      { ALT: () => this.take(t.LeftBrace) },
      { ALT: () => this.take(t.InvalidValue) },
      { ALT: () => this.take(t.UnterminatedString) },
      { ALT: () => this.take(t.Stray) },
      { ALT: () => this.take(t.TooDeep) },
    ]);
    return this.ACTION(() => {
      this.#reportBrokenType(token);
      return this.node({ kind: 'broken' }, token);
    });
  });

  protected node(shape: TypeNodeShape, first: t.DefinitionToken): TypeNode {
    return { ...shape, attributes: [], span: this.spanFrom(first) };
  }

  #union(members: readonly TypeNode[], first: t.DefinitionToken): TypeNode {
    const only = members[0];
    if (members.length === 1 && only !== undefined) return only;
    const last = members.at(-1);
    const span = { file: this.file, start: first.startOffset, end: last?.span.end ?? first.startOffset };
    return { kind: 'union', members, attributes: [], span };
  }

  #list(element: TypeNode, first: t.DefinitionToken): TypeNode {
    const afterMark = element.kind === 'optional' && this.peek(-2).tokenType === t.Question;
    if (afterMark) this.report('parse/optional-before-list', this.spanFrom(first), {});
    return this.node({ kind: 'list', element }, first);
  }

  #optional(type: TypeNode, first: t.DefinitionToken, mark: t.DefinitionToken): TypeNode {
    if (this.peek(-1).tokenType !== t.Question) return this.node({ kind: 'optional', type }, first);
    // Reports only the second of several.
    if (this.peek(-2).tokenType !== t.Question) this.report('parse/double-optional', this.spanOf(mark), {});
    return type;
  }

  #stringLiteral(token: t.DefinitionToken): TypeNode {
    return this.node({ kind: 'literal', value: unescapeString(token.image.slice(1, -1)) }, token);
  }

  #numberLiteral(token: t.DefinitionToken): TypeNode {
    const text = token.image;
    if (text.includes('.')) this.report('parse/float-literal', this.spanOf(token), { text });
    else if (!isExactInteger(text)) this.report('parse/inexact-integer', this.spanOf(token), { text });
    return this.node({ kind: 'literal', value: Number(text) }, token);
  }

  /** `<T>`, or `[T]` as in some languages. */
  #parametersFollow(): boolean {
    if (!this.nextOnSameLine()) return false;
    return this.nextIs(t.Less) || (this.nextIs(t.LeftBracket) && !this.nextIs(t.RightBracket, 2));
  }

  #generic(name: t.DefinitionToken): TypeNode {
    if (this.nextIs(t.LeftBracket) && this.nextIs(t.Number, 2)) return this.#sizedList(name);
    const isTooDeep = name.tokenType === t.MapWord && this.nextIs(t.Less);
    const equivalent = equivalentOfGeneric(name.image, this.#argumentTexts());
    if (this.nextIs(t.LeftBracket)) this.skipToken();
    else {
      while (this.nextOnSameLine() && !this.nextIs(t.Greater) && !this.nextIs(t.LeftBrace)) this.skipToken();
      if (this.nextIs(t.Greater)) this.skipToken();
    }
    if (isTooDeep) this.report('parse/nesting-too-deep', this.spanOf(name), { limit: MAX_NESTING });
    else this.report('parse/generic-type', this.spanFrom(name), { name: name.image, equivalent });
    return this.node({ kind: 'broken' }, name);
  }

  /** Returns the arguments between the next brackets; none if they are more than names and literals. */
  #argumentTexts(): readonly string[] {
    const texts: string[] = [];
    for (let ahead = 2; ahead < LONGEST_ARGUMENTS; ahead += 2) {
      const [argument, after] = [this.peek(ahead), this.peek(ahead + 1)];
      if (argument.tokenType !== t.QuotedString && !tokenMatcher(argument, t.Identifier)) return [];
      texts.push(argument.image);
      if (after.tokenType === t.Greater || after.tokenType === t.RightBracket) return texts;
      if (after.tokenType !== t.Comma) return [];
    }
    return [];
  }

  /** The one type is that of the values, unless it is the usual type of keys. */
  #mapWithoutValue(only: TypeNode, word: t.DefinitionToken): TypeNode {
    const value = only.kind === 'name' ? only.name : 'string';
    const advice = `A map has a type for its keys and one for its values: write \`map<string, ${value}>\`.`;
    this.reportUnexpected(this.peek(), '","', advice);
    this.skipToken();
    return this.node({ kind: 'broken' }, word);
  }

  #sizedList(name: t.DefinitionToken): TypeNode {
    this.reportUnexpected(this.peek(2), '"]"', `A list has no fixed size: write \`${name.image}[]\`.`);
    this.skipToken();
    return this.node({ kind: 'broken' }, name);
  }

  #reportBrokenType(token: t.DefinitionToken): void {
    if (token.tokenType === t.LeftBrace) this.#reportInlineObject(token);
    else if (FOREIGN_QUOTE.test(token.image)) this.#reportForeignQuotes(token);
    else if (token.tokenType === t.Stray) {
      this.report('parse/invalid-character', this.spanOf(token), { text: token.image });
    } else this.reportBroken(token);
  }

  #reportInlineObject(open: t.DefinitionToken): void {
    this.report('parse/inline-object', this.spanOf(open), {});
    while (!this.nextIs(t.RightBrace) && !this.atEnd) this.skipToken();
    this.skipToken();
  }

  #reportForeignQuotes(open: t.DefinitionToken): void {
    while (this.nextOnSameLine() && !FOREIGN_QUOTE.test(this.peek().image)) this.skipToken();
    if (this.nextOnSameLine()) this.skipToken();
    this.report(open.image === "'" ? 'parse/single-quotes' : 'parse/curly-quotes', this.spanFrom(open), {});
  }
}

/** The type of an item as it is written before `[]`; `T` if it is long. */
function itemText(type: TypeNode): string {
  if (type.kind === 'name') return type.name;
  if (type.kind === 'list') return `${itemText(type.element)}[]`;
  return type.kind === 'optional' ? `(${itemText(type.type)}?)` : 'T';
}

/** A quote that does not delimit strings here. */
const FOREIGN_QUOTE = /^['\u2018-\u201F]$/u;

function withAttributes(type: TypeNode, attributes: readonly AttributeNode[]): TypeNode {
  return attributes.length === 0 ? type : { ...type, attributes: [...type.attributes, ...attributes] };
}

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
    this.reportUnexpected(token, '"{"', BLOCK_HABITS.get(token.image));
  }

  #missingName(what: string): undefined {
    this.ACTION(() => {
      const next = this.peek();
      if (this.nextOnSameLine() && /^\d/u.test(next.image)) {
        this.report('parse/invalid-name', this.spanOf(next), { name: next.image, reason: 'it begins with a digit' });
      } else this.report('parse/missing-name', this.spanOf(this.peek(0)), { what });
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
        this.reportUnexpected(next, 'a type', advice);
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

/** Advice for tokens of other languages in place of the brace of a block. */
const BLOCK_HABITS: ReadonlyMap<string, string> = new Map([
  ['extends', 'Definitions cannot extend each other: repeat the fields.'],
  [':', 'Write the content between `{` and `}`, and nothing before the `{`.'],
  ['=', 'Write the content between `{` and `}`, and nothing before the `{`.'],
]);

const BEFORE_ENUM_VALUE = new Set([t.LeftBrace, t.Comma, t.Attribute, t.RightParenthesis]);

function isSeparator(token: t.DefinitionToken): boolean {
  return token.tokenType === t.Comma || token.tokenType === t.Semicolon;
}

function reasonOf(name: string): string {
  if (name.startsWith('_')) return 'it begins with "_"';
  if (name.includes('-')) return 'it contains "-"';
  return 'it contains a letter that is not ASCII';
}
