import { tokenMatcher } from 'chevrotain';
import * as t from './tokens.ts';
import { CURLY_QUOTE, isHashComment, ReportingParser } from './recovering-parser.ts';
import { UNQUOTED_NUMBER, isExactInteger } from './tokenize.ts';
import type {
  AttributeNode,
  EntryNode,
  ExpressionNode,
  NameNode,
  RawStringNode,
  ValueNode,
  ValueShape,
  TypeNode,
  TypeNodeShape,
} from './syntax-nodes.ts';
import { equivalentOfGeneric } from './other-languages.ts';

/** The grammar of values, maps and attributes. */
abstract class ValueGrammar extends ReportingParser {
  protected readonly value = this.RULE('value', (): ValueNode =>
    this.OR<ValueNode>({
      ERR_MSG: 'a value',
      DEF: [
        { ALT: () => this.#quoted(this.take(t.QuotedString)) },
        { ALT: () => this.rawString(this.take(t.RawString)) },
        { ALT: () => this.#unquoted(this.take(t.Unquoted)) },
        { ALT: () => this.expression(this.take(t.ExpressionToken)) },
        { ALT: () => this.SUBRULE(this.list) },
        { ALT: () => this.SUBRULE(this.map) },
        { ALT: () => this.SUBRULE(this.brokenValue) },
      ],
    }),
  );

  protected readonly list = this.RULE('list', (): ValueNode => {
    const items: ValueNode[] = [];
    const open = this.take(t.LeftBracket);
    this.MANY(() =>
      this.OR([{ ALT: () => void items.push(this.SUBRULE(this.value)) }, { ALT: () => void this.CONSUME(t.Comma) }]),
    );
    this.CONSUME(t.RightBracket);
    return { kind: 'list', items, span: this.spanFrom(open) };
  });

  protected readonly map = this.RULE('map', (): ValueNode => {
    const open = this.peek();
    const entries = this.SUBRULE(this.braced);
    const span = this.spanFrom(open);
    const broken = this.ACTION(() => this.brokenBetween(span));
    return { kind: 'map', entries, span, ...(broken && { broken }) };
  });

  /** The entries of a map, or of a block of keys and values, with its braces. */
  protected readonly braced = this.RULE('braced', (): readonly EntryNode[] => {
    this.CONSUME(t.LeftBrace);
    const entries = this.SUBRULE(this.entries);
    this.CONSUME(t.RightBrace);
    return entries;
  });

  /** The content of a map, or of a block of keys and values. */
  protected readonly entries = this.RULE('entries', (): readonly EntryNode[] => {
    const entries: EntryNode[] = [];
    this.MANY(() =>
      this.OR({
        IGNORE_AMBIGUITIES: true,
        DEF: [
          { ALT: () => this.collect(entries, () => this.SUBRULE(this.entry)) },
          { ALT: () => void this.CONSUME(t.Comma) },
          { ALT: () => this.SUBRULE(this.stray, { ARGS: ['a key'] }) },
        ],
      }),
    );
    return entries;
  });

  protected readonly entry = this.RULE('entry', (): EntryNode => {
    const key = this.OR([{ ALT: () => this.take(t.Identifier) }, { ALT: () => this.take(t.QuotedString) }]);
    const name = this.ACTION(() => this.#keyOf(key));
    this.OPTION1(() => this.CONSUME(t.Colon));
    this.OPTION2(() => {
      const equals = this.take(t.Equals);
      this.ACTION(() => this.report('parse/equals-in-entry', this.spanOf(equals), { name: name.text }));
    });
    const value = this.OR1([
      { GATE: () => this.#valueFollows(), ALT: () => this.SUBRULE(this.value) },
      { ALT: () => this.#missingValue(name) },
    ]);
    const ended = this.ACTION(() => this.#endOfEntry());
    // More text follows the value on its line, so the intended value is unknown.
    if (value !== undefined && ended === false) return { key: name, value: { kind: 'broken', span: name.span } };
    return value === undefined ? { key: name } : { key: name, value };
  });

  /** A token that cannot begin a member of a block. */
  protected readonly stray = this.RULE('stray', (expected: string): void => {
    const token = this.take(t.Anything);
    this.ACTION(() => this.reportStray(token, expected));
  });

  protected readonly attribute = this.RULE('attribute', (): AttributeNode => {
    const at = this.take(t.Attribute);
    const args: ValueNode[] = [];
    this.argumentsOf = /^@+(?:check|assert)$/u.test(at.image) ? 'constraint' : 'attribute';
    this.OPTION({
      GATE: () => !this.peek().onNewLine,
      DEF: () => {
        this.CONSUME(t.LeftParenthesis);
        this.MANY(() =>
          this.OR([{ ALT: () => void args.push(this.SUBRULE(this.value)) }, { ALT: () => void this.CONSUME(t.Comma) }]),
        );
        const close = this.take(t.RightParenthesis);
        // The arguments of an unclosed attribute are unknown.
        if (close.image === '') args.splice(0, args.length, { kind: 'broken', span: this.spanOf(at) });
      },
    });
    this.argumentsOf = undefined;
    this.ACTION(() => this.#bareArgument(at, args));
    const name = at.image.replace(/^@+/, '');
    return { name, block: at.image.startsWith('@@'), arguments: args, span: this.spanFrom(at) };
  });

  /**
   * The attributes of a member. Those with two at signs belong to the block. After an empty line, an attribute would look
   * like one of the next member.
   */
  protected readonly attributes = this.RULE('attributes', (): readonly AttributeNode[] => {
    const attributes: AttributeNode[] = [];
    this.MANY({
      GATE: () => !this.peek().image.startsWith('@@'),
      DEF: () => {
        const { afterEmptyLine } = this.peek();
        const attribute = this.SUBRULE(this.attribute);
        attributes.push(attribute);
        const { name, span } = attribute;
        if (afterEmptyLine === true) this.report('parse/attribute-place', span, { name, isFirst: false });
      },
    });
    return attributes;
  });

  protected readonly brokenValue = this.RULE('brokenValue', (): ValueNode => {
    const token = this.OR([
      { ALT: () => this.take(t.InvalidValue) },
      { ALT: () => this.take(t.UnterminatedString) },
      { ALT: () => this.take(t.UnterminatedRawString) },
      { ALT: () => this.take(t.UnterminatedExpression) },
      { ALT: () => this.take(t.TooDeep) },
    ]);
    return this.ACTION((): ValueNode => {
      if (this.notServed && this.#skipCall(token)) return { kind: 'broken', span: this.spanFrom(token) };
      this.reportBroken(token);
      const text = token.tokenType === t.InvalidValue ? { text: token.image } : {};
      return { kind: 'broken', ...text, span: this.spanOf(token) };
    });
  });

  protected take(type: Parameters<ReportingParser['CONSUME']>[0]): t.DefinitionToken {
    return this.CONSUME(type) as t.DefinitionToken;
  }

  /** Adds the item that a rule reads. If the rule fails, skips the rest of the entry. */
  protected collect<T>(items: T[], rule: () => T): void {
    const item = this.attempt(rule, (depth) => this.skipEntry(depth));
    if (item !== undefined) items.push(item);
  }

  protected rawString(token: t.DefinitionToken): RawStringNode {
    const hashes = token.image.indexOf('"');
    const raw = token.image.slice(hashes + 1, token.image.length - hashes - 1);
    const head = FUNCTION_HEAD.exec(raw);
    // If the function's prompt begins another raw string, this one lacks its closing quote. Otherwise this is text about functions.
    const name = head !== null && raw.includes(`${'#'.repeat(hashes)}"`, head.index) ? head[1] : undefined;
    if (name !== undefined) this.report('parse/raw-string-swallows', this.spanOf(token), { name });
    return { kind: 'raw-string', raw, contentStart: token.startOffset + hashes + 1, span: this.spanOf(token) };
  }

  protected expression(token: t.DefinitionToken): ExpressionNode {
    const source = token.image.slice(2, -2);
    return { kind: 'expression', source, contentStart: token.startOffset + 2, span: this.spanOf(token) };
  }

  /** Skips `Name(…)`, a call of a template_string, whose arguments can span lines. */
  #skipCall(token: t.DefinitionToken): boolean {
    const name = CALL.exec(token.image)?.groups;
    const isOpen = this.nextOnSameLine() && this.nextIs(t.LeftParenthesis);
    if (token.tokenType !== t.InvalidValue || name === undefined || (name['rest'] === '' && !isOpen)) return false;
    if (isOpen) this.skipToken();
    this.report('parse/call-as-value', this.spanFrom(token), { name: name['name'] ?? '' });
    return true;
  }

  /** Takes a string directly after the name of an attribute as its argument, and reports the missing parentheses. */
  #bareArgument(at: t.DefinitionToken, args: ValueNode[]): void {
    const next = this.peek();
    if (this.peek(0) !== at || next.onNewLine || next.tokenType !== t.QuotedString) return;
    this.skipToken();
    args.push(this.#quoted(next));
    const text = next.image.includes('\n') ? '"…"' : next.image;
    this.report('parse/attribute-parentheses', this.spanOf(next), { name: at.image, text });
  }

  #quoted(token: t.DefinitionToken): ValueNode {
    const value = unescapeString(token.image.slice(1, -1));
    return { kind: 'string', value, quoted: true, span: this.spanOf(token) };
  }

  /**
   * Curly quotes are an error in the value of a key, where they change a model, file or address; in an attribute, a
   * warning.
   */
  #unquoted(token: t.DefinitionToken): ValueNode {
    const span = this.spanOf(token);
    if (this.argumentsOf !== undefined || !CURLY_QUOTE.test(token.image)) return { ...parseScalar(token.image), span };
    this.report('parse/curly-quotes', span, {});
    return { kind: 'broken', span };
  }

  #keyOf(token: t.DefinitionToken): NameNode {
    const quoted = token.tokenType === t.QuotedString;
    return { text: quoted ? unescapeString(token.image.slice(1, -1)) : token.image, span: this.spanOf(token) };
  }

  /**
   * A value begins on the line of its key. Only a block, list or raw string, which cannot be a key, can begin on the
   * next line.
   */
  #valueFollows(): boolean {
    if (this.nextOnSameLine()) return !this.nextIs(t.Comma) && !this.nextIs(t.RightBrace);
    return this.nextIs(t.LeftBrace) || this.nextIs(t.LeftBracket) || this.nextIs(t.RawString);
  }

  #missingValue(name: NameNode): undefined {
    this.ACTION(() => {
      const next = this.peek();
      if (!this.#valueFollows()) this.report('parse/missing-value', name.span, { name: name.text });
      else this.reportUnexpected(next, 'a value');
      if (this.#valueFollows()) this.skipEntry(next.depth);
    });
    return undefined;
  }

  /** Text after a multi-line string shows that a quote is missing on the first line. */
  #reportSameLine(next: t.DefinitionToken, value: t.DefinitionToken): void {
    const { image, startOffset } = value;
    const isQuoted = value.tokenType === t.QuotedString;
    if (isQuoted && next.image.startsWith('"') && next.startOffset === startOffset + image.length) {
      this.report('parse/triple-quotes', this.spanFrom(value), {});
    } else if (isQuoted && image.includes('\n')) {
      const end = startOffset + image.search(/\r?\n/u);
      this.report('parse/unterminated-string', { file: this.file, start: startOffset, end }, {});
    } else this.report('parse/same-line', this.spanOf(next), { text: t.quoteToken(next) });
  }

  /**
   * `client "openai/gpt-4o" prompt #"…"#`: blocks, unlike maps, need no comma after a value that has a closing delimiter.
   * In a block that svc does not run, any name begins another entry.
   */
  #anotherEntryFollows(): boolean {
    const { tokenType, image } = this.peek(0);
    if (!CLOSED_VALUES.has(tokenType) || image.includes('\n')) return false;
    const begins = this.nextIs(t.Identifier) || this.nextIs(t.Attribute);
    return (this.notServed && begins) || t.BLOCK_KEYS.has(this.peek().image);
  }

  #endOfEntry(): boolean {
    if (!this.nextOnSameLine() || this.nextIs(t.Comma) || this.nextIs(t.RightBrace)) return true;
    const next = this.peek();
    if (isHashComment(next) || this.#anotherEntryFollows()) return true;
    this.#reportSameLine(next, this.peek(0));
    // The next key ended a value without quotes, so both entries are known.
    if (this.peek(0).tokenType === t.Unquoted && this.nextIs(t.Identifier)) return true;
    this.skipEntry(next.depth);
    return false;
  }
}

/** The last tokens of values that have a closing delimiter. */
const CLOSED_VALUES = new Set([t.QuotedString, t.RawString, t.RightBrace, t.RightBracket]);

/** The head of a function on a line of a raw string. */
const FUNCTION_HEAD = /^function[ \t]+([A-Z]\w*)[ \t]*\([^\n]*->/m;

const CALL = /^(?<name>[A-Za-z_]\w*)[ \t]*(?<rest>(?:\(.*\))?)$/;
const ENVIRONMENT = /^env\.([A-Za-z_]\w*)$/;
const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['"', '"'],
  ['\\', '\\'],
  ["'", "'"],
  ['0', '\0'],
]);

/** Interprets a value without quotes: true, false, null, a number, env.NAME, or a string. */
function parseScalar(text: string): ValueShape {
  if (text === 'true' || text === 'false') return { kind: 'boolean', value: text === 'true' };
  if (text === 'null') return { kind: 'null' };
  if (UNQUOTED_NUMBER.test(text)) return { kind: 'number', value: Number(text), text };
  const variable = ENVIRONMENT.exec(text)?.[1];
  if (variable !== undefined) return { kind: 'env', variable };
  return { kind: 'string', value: text, quoted: false };
}

/** Replaces the escapes of a quoted string: \n, \t, \0, \', \" and \\. Keeps any other backslash. */
function unescapeString(text: string): string {
  return text.replace(/\\(.)/gs, (whole, character: string) => ESCAPES.get(character) ?? whole);
}

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
export abstract class TypeGrammar extends ValueGrammar {
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

  /** `[T]`, a list in other languages. */
  protected readonly bracketedType = this.RULE('bracketedType', (): TypeNode => {
    const open = this.take(t.LeftBracket);
    const element = this.SUBRULE(this.innerType);
    this.CONSUME(t.RightBracket);
    this.ACTION(() => this.report('parse/list-type', this.spanFrom(open), {}));
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

/** A quote that does not delimit strings here. */
const FOREIGN_QUOTE = /^['\u2018-\u201F]$/u;

function withAttributes(type: TypeNode, attributes: readonly AttributeNode[]): TypeNode {
  return attributes.length === 0 ? type : { ...type, attributes: [...type.attributes, ...attributes] };
}
