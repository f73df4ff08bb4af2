import * as t from './tokens.ts';
import type {
  AttributeNode,
  DeclarationNode,
  Declared,
  EntryNode,
  EnumValueNode,
  FieldNode,
  NameNode,
  TypeNode,
  ParameterNode,
  RawStringNode,
} from './syntax-nodes.ts';
import { TypeGrammar, type AttributedType } from './type-grammar.ts';
import { editDistance } from '../../base/suggestion.ts';
import { inTodaysForm, isOlderFunction, writtenEntries } from './other-languages.ts';

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
abstract class BlockGrammar extends TypeGrammar {
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

interface Returns {
  readonly returns?: TypeNode;
  readonly returnAttributes: readonly AttributeNode[];
}

/** The grammar of functions and template strings. */
export abstract class FunctionGrammar extends BlockGrammar {
  protected readonly functionBlock = this.RULE('functionBlock', (): DeclarationNode | undefined => {
    const word = this.take(t.Function);
    const name = this.SUBRULE(this.name, { ARGS: ['function'] });
    const older = this.ACTION(() => this.#olderFunction(word, name));
    if (older !== undefined) return older;
    const parameters = this.OR1<readonly ParameterNode[]>([
      { ALT: () => this.SUBRULE(this.parameters) },
      { ALT: () => this.#missingParameters(name) },
    ]);
    const returns = this.SUBRULE(this.returnType, { ARGS: [parameters === NO_PARAMETERS ? undefined : name] });
    return this.OR2<DeclarationNode | undefined>([
      {
        GATE: () => this.#isModelFunction(),
        ALT: () => {
          this.CONSUME(t.LeftBrace);
          const entries = this.SUBRULE(this.entries);
          this.CONSUME(t.RightBrace);
          return name && { kind: 'function', name, parameters, ...returns, entries, ...this.declared(word) };
        },
      },
      { ALT: () => this.#otherFunction(word, name) },
    ]);
  });

  protected readonly parameters = this.RULE('parameters', (): readonly ParameterNode[] => {
    const parameters: ParameterNode[] = [];
    this.CONSUME(t.LeftParenthesis);
    this.MANY(() => {
      const parameter = this.SUBRULE(this.parameter);
      parameters.push(parameter);
      this.OPTION(() => this.CONSUME(t.Comma));
      this.ACTION(() => this.#missingComma());
    });
    this.CONSUME(t.RightParenthesis);
    return parameters;
  });

  protected readonly parameter = this.RULE('parameter', (): ParameterNode => {
    const token = this.take(t.Identifier);
    const name = this.ACTION(() => this.checkedName(token)) ?? this.nameOf(token);
    let colon = false;
    this.OPTION1(() => {
      this.CONSUME(t.Colon);
      colon = true;
    });
    const parsed = this.OR([
      { GATE: () => colon || this.#typeFollows(), ALT: () => this.SUBRULE(this.type) },
      { ALT: () => undefined },
    ]);
    const swapped = this.ACTION(() => (colon ? undefined : this.#swapped(name, parsed?.type)));
    this.ACTION(() =>
      this.#checkParameter(name, { colon, typed: parsed !== undefined, swapped: swapped !== undefined }),
    );
    this.OPTION2(() => {
      const equals = this.take(t.Equals);
      this.ACTION(() => this.#defaultValue(name, equals));
    });
    if (swapped !== undefined) return swapped;
    return parsed === undefined ? { name, attributes: [] } : { name, ...parsed };
  });

  protected readonly returnType = this.RULE('returnType', (name: NameNode | undefined): Returns => {
    const arrowless = this.ACTION(() => this.#skipWrongArrow(name));
    return this.OR<Returns>({
      IGNORE_AMBIGUITIES: true,
      DEF: [
        {
          GATE: () => this.nextIs(t.LeftBrace, 2) && this.#isModelFunction(2),
          ALT: () => {
            this.CONSUME2(t.Arrow);
            return this.#missingReturnType(name);
          },
        },
        {
          ALT: () => {
            this.CONSUME1(t.Arrow);
            return returnsOf(this.SUBRULE1(this.type));
          },
        },
        { GATE: () => arrowless === true, ALT: () => returnsOf(this.SUBRULE2(this.type)) },
        { ALT: () => this.#missingReturnType(name) },
      ],
    });
  });

  protected readonly templateString = this.RULE('templateString', (): DeclarationNode | undefined => {
    const word = this.OR1([{ ALT: () => this.take(t.TemplateString) }, { ALT: () => this.take(t.StringTemplate) }]);
    const name = this.SUBRULE(this.name, { ARGS: ['template_string'] });
    let parameters: readonly ParameterNode[] = [];
    this.OPTION1(() => {
      parameters = this.SUBRULE(this.parameters);
    });
    this.OPTION2(() => this.CONSUME(t.Equals));
    const body = this.OR2<RawStringNode | undefined>([
      { ALT: () => this.rawString(this.take(t.RawString)) },
      { ALT: () => this.#missingBody(name) },
    ]);
    return this.ACTION(
      () => name && body && { kind: 'template_string', name, parameters, body, ...this.declared(word) },
    );
  });

  /**
   * Returns whether the next block contains a client or a prompt. If not, it is the code of a workflow function, which is
   * another language, and the parser skips it.
   */
  #isModelFunction(brace = 1): boolean {
    if (!this.nextIs(t.LeftBrace, brace)) return false;
    const first = this.peek(brace + 1);
    if (first.tokenType === t.RightBrace) return true;
    if (MODEL_KEYS.some((key) => editDistance(first.image, key) <= 1)) return true;
    for (let ahead = brace + 1, depth = 1; depth > 0; ahead += 1) {
      const token = this.peek(ahead);
      if (Number.isNaN(token.startOffset)) return true;
      if (token.tokenType === t.RawString || token.tokenType === t.UnterminatedRawString) return true;
      if (depth === 1 && token.onNewLine && MODEL_KEYS.includes(token.image)) return true;
      if (token.tokenType === t.LeftBrace) depth += 1;
      else if (token.tokenType === t.RightBrace) depth -= 1;
    }
    return false;
  }

  #otherFunction(word: t.DefinitionToken, name: NameNode | undefined): DeclarationNode | undefined {
    return this.ACTION(() => {
      if (!this.nextIs(t.LeftBrace)) {
        this.missingBlock('function', name);
        return undefined;
      }
      this.skipToken();
      if (name === undefined) return undefined;
      this.report('parse/workflow', name.span, { name: name.text });
      return { kind: 'workflow', name, ...this.declared(word) };
    });
  }

  /** Reports a function in the older syntax and skips its block. The name stays known, so that tests can refer to it. */
  #olderFunction(word: t.DefinitionToken, name: NameNode | undefined): DeclarationNode | undefined {
    if (name === undefined || !this.nextIs(t.LeftBrace)) return undefined;
    const entries = writtenEntries(this.tokensInside());
    if (!isOlderFunction(entries)) return undefined;
    this.skipToken();
    this.report('parse/older-function', name.span, { name: name.text, form: inTodaysForm(name.text, entries) });
    return { kind: 'workflow', name, ...this.declared(word) };
  }

  #missingParameters(name: NameNode | undefined): readonly ParameterNode[] {
    if (name !== undefined) this.report('parse/missing-parameters', name.span, { name: name.text });
    return NO_PARAMETERS;
  }

  /** Without a name it reports nothing, because the diagnostic for the missing part before it shows the whole form. */
  #missingReturnType(name: NameNode | undefined): Returns {
    if (name !== undefined) this.report('parse/missing-return-type', name.span, { name: name.text });
    this.ACTION(() => this.skipTo(t.LeftBrace));
    return { returnAttributes: [] };
  }

  /** Reports a missing arrow, or another language's substitute for it, and moves to the type that follows. */
  #skipWrongArrow(name: NameNode | undefined): boolean {
    const first = this.peek();
    if (name === undefined || !this.nextOnSameLine() || this.nextIs(t.Arrow) || this.nextIs(t.LeftBrace)) return false;
    let count = 0;
    while (this.peek(count + 1).onNewLine === false && WRONG_ARROW.test(this.peek(count + 1).image)) count += 1;
    if (!this.nextIs(t.Identifier, count + 1)) return false;
    const last = this.peek(Math.max(1, count));
    const span = { file: this.file, start: first.startOffset, end: last.startOffset + last.image.length };
    this.report('parse/missing-arrow', span, { name: name.text });
    for (let skipped = 0; skipped < count; skipped += 1) this.skipToken();
    return true;
  }

  #missingBody(name: NameNode | undefined): undefined {
    this.ACTION(() => {
      if (this.nextIs(t.UnterminatedRawString)) this.reportBroken(this.peek());
      else if (name !== undefined) this.report('parse/template-body', name.span, { name: name.text });
      this.skipDeclaration(this.peek(0).depth);
    });
    return undefined;
  }

  #typeFollows(): boolean {
    return this.nextOnSameLine() && !this.nextIs(t.Comma) && !this.nextIs(t.Equals) && !this.nextIs(t.RightParenthesis);
  }

  /** Reports `string text`, the order of other languages, and returns the intended parameter. */
  #swapped(name: NameNode, type: TypeNode | undefined): ParameterNode | undefined {
    if (type?.kind !== 'name' || !PRIMITIVE.test(name.text) || PRIMITIVE.test(type.name)) return undefined;
    const span = { ...name.span, end: type.span.end };
    this.report('parse/parameter-order', span, { name: type.name, type: name.text });
    const intended: TypeNode = { kind: 'name', name: name.text, attributes: [], span: name.span };
    return { name: { text: type.name, span: type.span }, type: intended, attributes: [] };
  }

  #checkParameter(
    name: NameNode,
    { colon, typed, swapped }: { readonly colon: boolean; readonly typed: boolean; readonly swapped: boolean },
  ): void {
    if (!typed) this.report('parse/missing-type', name.span, { name: name.text, what: 'parameter' });
    else if (!colon && !swapped) this.report('parse/missing-colon', name.span, { name: name.text });
  }

  #defaultValue(name: NameNode, equals: t.DefinitionToken): void {
    while (!this.nextIs(t.Comma) && !this.nextIs(t.RightParenthesis) && !this.atEnd) this.skipToken();
    this.report('parse/default-value', this.spanFrom(equals), { name: name.text });
  }

  #missingComma(): void {
    if (this.peek(0).tokenType === t.Comma || !this.nextIs(t.Identifier)) return;
    this.report('parse/missing-comma', this.spanOf(this.peek()), {});
  }
}

function returnsOf({ type, attributes }: AttributedType): Returns {
  return { returns: type, returnAttributes: attributes };
}

/** Substitutes for the arrow in other languages. */
const WRONG_ARROW = /^(?::|=|-|>|returns?)$/u;
/** The parameters of a function without a parameter list. */
const NO_PARAMETERS: readonly ParameterNode[] = [];
const PRIMITIVE = /^(?:string|int|float|bool|image|audio|pdf|video)$/u;
const MODEL_KEYS = ['client', 'prompt'];
