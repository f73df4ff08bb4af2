import { countUpTo } from '../../diagnostics/source-file.ts';
import {
  EmbeddedActionsParser,
  isRecognitionException,
  tokenLabel,
  tokenMatcher,
  type IParserErrorMessageProvider,
  type TokenType,
} from 'chevrotain';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { parseDiagnostic } from '../../diagnostics/catalogue/parse.ts';
import type { Span } from '../../diagnostics/span.ts';
import type {
  AttributeNode,
  EntryNode,
  ExpressionNode,
  NameNode,
  RawStringNode,
  ValueNode,
  ValueShape,
} from './syntax-nodes.ts';
import { UNQUOTED_NUMBER } from './tokenize.ts';
import * as t from './tokens.ts';

/** The message of an exception is only the expected token; `parse` completes the sentence. */
const EXPECTATIONS: IParserErrorMessageProvider = {
  buildMismatchTokenMessage: ({ expected }) => tokenLabel(expected),
  buildNotAllInputParsedMessage: () => 'a definition',
  buildNoViableAltMessage: ({ customUserDescription }) => customUserDescription ?? 'something else',
  buildEarlyExitMessage: ({ customUserDescription }) => customUserDescription ?? 'something else',
};

/**
 * Spans, reports and recovery for all grammar rules. Brackets are balanced before the grammar runs, so recovery skips one
 * entry (to the end of its line) or one definition, and continues after it.
 */
abstract class RecoveringParser extends EmbeddedActionsParser {
  readonly diagnostics: Diagnostic[] = [];
  /** The `generator` and `test` blocks that have an end, readable or not. */
  readonly blocksNotServed: Span[] = [];
  protected file = '';
  /** True inside such a block. */
  protected notServed = false;
  #tokens: readonly t.DefinitionToken[] = [];
  /** Offsets of brackets without a partner, in ascending order. */
  #unmatchedBrackets: number[] = [];

  /**
   * `validate` checks the grammar for ambiguities. Only tests do so, because it takes longer than parsing most files.
   */
  constructor(validate: boolean) {
    super(t.VOCABULARY, { maxLookahead: 1, errorMessageProvider: EXPECTATIONS, skipValidations: !validate });
  }

  /** Resets the parser for another file. */
  protected begin(file: string, tokens: t.DefinitionToken[], brackets: readonly Diagnostic[]): void {
    this.input = tokens;
    this.diagnostics.length = 0;
    this.blocksNotServed.length = 0;
    this.file = file;
    this.#tokens = tokens;
    this.#unmatchedBrackets = brackets.map(({ span }) => span.start).toSorted((a, b) => a - b);
  }

  protected get report(): (...args: Parameters<typeof parseDiagnostic>) => void {
    return (...args) => this.ACTION(() => void this.diagnostics.push(parseDiagnostic(...args)));
  }

  /** Returns the token at a distance: 1 is the next one, 0 the current one. */
  protected peek(ahead = 1): t.DefinitionToken {
    return this.LA(ahead) as t.DefinitionToken;
  }

  protected nextIs(type: TokenType, ahead = 1): boolean {
    return tokenMatcher(this.LA(ahead), type);
  }

  /** Returns whether a next token exists on the current line. */
  protected nextOnSameLine(): boolean {
    const next = this.peek();
    return next.onNewLine === false && next.image !== '';
  }

  protected get atEnd(): boolean {
    return Number.isNaN(this.LA(1).startOffset);
  }

  /** Runs a rule. If the rule fails, which it reports itself, calls `recover` and returns undefined. */
  protected attempt<T>(rule: () => T, recover: (depth: number) => void): T | undefined {
    const { depth } = this.peek();
    try {
      return rule();
    } catch (failure) {
      if (!(failure instanceof Error) || !isRecognitionException(failure)) throw failure;
      recover(depth);
      return undefined;
    }
  }

  /** Skips to the next line that can begin a member of a block at that depth, or to the end of the block. */
  protected skipEntry(depth: number): void {
    this.skipUntil(depth, () => this.peek().onNewLine && this.#startsEntry());
  }

  /** Skips to the next definition at that depth, or to the end of the block. */
  protected skipDeclaration(depth: number): void {
    this.skipUntil(depth, () => this.atDeclaration());
  }

  /** Skips up to the next token of a type, but not beyond the definition. */
  protected skipTo(type: TokenType): void {
    this.skipUntil(this.peek(0).depth, () => this.nextIs(type) || this.atDeclaration());
  }

  /** Skips until `stop` returns true outside inner brackets, or until the brackets at that depth close. */
  protected skipUntil(depth: number, stop: () => boolean): void {
    for (let next = this.peek(); !this.atEnd && next.depth >= depth; next = this.peek()) {
      if (next.depth === depth && stop()) return;
      this.SKIP_TOKEN();
    }
  }

  /** Skips one token, or a whole bracketed part if the token is an opening bracket. */
  protected skipToken(): void {
    const closer = this.#closer();
    if (closer !== undefined) while (this.LA(1) !== closer && !this.atEnd) this.SKIP_TOKEN();
    this.SKIP_TOKEN();
  }

  /** Returns the tokens between the brackets that the next token opens. */
  protected tokensInside(): readonly t.DefinitionToken[] {
    const closer = this.#closer();
    const inside: t.DefinitionToken[] = [];
    for (let ahead = 2; closer !== undefined && this.LA(ahead) !== closer; ahead += 1) inside.push(this.peek(ahead));
    return inside;
  }

  protected atDeclaration(): boolean {
    const next = this.peek();
    if (next.startsDeclaration === true) return true;
    if (!next.onNewLine || !this.nextIs(t.DeclarationWord)) return false;
    return this.nextIs(t.Identifier, 2) || (next.tokenType === t.Client && this.nextIs(t.Less, 2));
  }

  protected spanOf(token: t.DefinitionToken): Span {
    return { file: this.file, start: token.startOffset, end: token.startOffset + token.image.length };
  }

  /** From the beginning of `token` to the end of the current token. */
  protected spanFrom(token: t.DefinitionToken): Span {
    const last = this.peek(0);
    return { file: this.file, start: token.startOffset, end: last.startOffset + last.image.length };
  }

  /** Reports a token in the place of another one. `advice`: how to correct it. */
  protected reportUnexpected(token: t.DefinitionToken, expected: string, advice = ''): void {
    this.report('parse/unexpected-token', this.spanOf(token), { expected, found: t.quoteToken(token), advice });
  }

  /** Returns whether that part of the file, which the parser has just read, contains an error. */
  protected brokenBetween(span: Span): true | undefined {
    const unmatched = this.#unmatchedBrackets;
    if (countUpTo(unmatched, span.end - 1) > countUpTo(unmatched, span.start - 1)) return true;
    for (let index = this.diagnostics.length - 1; index >= 0; index -= 1) {
      const found = this.diagnostics[index];
      const at = found?.span.start ?? -1;
      if (at < span.start) break;
      if (at < span.end && found?.severity === 'error') return true;
    }
    const thrown = this.errors.at(-1)?.token.startOffset ?? -1;
    return thrown >= span.start && thrown < span.end ? true : undefined;
  }

  protected nameOf(token: t.DefinitionToken): NameNode {
    return { text: token.image, span: this.spanOf(token) };
  }

  /** Returns the partner of the next token, if that is an opening bracket. */
  #closer(): t.DefinitionToken | undefined {
    return this.#tokens[this.peek().match ?? -1];
  }

  #startsEntry(): boolean {
    return this.nextIs(t.Identifier) || this.nextIs(t.Attribute) || this.nextIs(t.QuotedString);
  }
}

/** Diagnostics for tokens that are wrong in themselves, and for tokens that cannot begin a member of a block. */
abstract class ReportingParser extends RecoveringParser {
  /** The kind of attribute whose arguments the parser is reading, if any. */
  protected argumentsOf: 'constraint' | 'attribute' | undefined;

  /** Reports a token that the tokenizer recognized as a mistake. */
  protected reportBroken(token: t.DefinitionToken): void {
    const span = this.spanOf(token);
    if (token.tokenType === t.UnterminatedString) this.report('parse/unterminated-string', span, {});
    else if (token.tokenType === t.UnterminatedExpression) this.report('parse/unterminated-expression', span, {});
    else if (token.tokenType === t.UnterminatedRawString) this.#reportRaw(token);
    else if (token.tokenType === t.InvalidValue) this.#reportInvalid(token);
  }

  protected reportStray(token: t.DefinitionToken, expected: string): void {
    const span = this.spanOf(token);
    const { image } = token;
    if (this.reportComment(token)) return;
    if (token.tokenType === t.Comma || token.tokenType === t.Semicolon) {
      return this.report('parse/separator-in-block', span, { text: image });
    }
    if (image === "'") this.report('parse/single-quotes', span, {});
    else if (BROKEN.has(token.tokenType)) this.reportBroken(token);
    else if (token.tokenType === t.Stray) this.report('parse/invalid-character', span, { text: image });
    else if (token.tokenType !== t.TooDeep) {
      const place = token.onNewLine || this.peek(-1).tokenType === t.LeftBrace ? expected : 'the end of the line';
      this.reportUnexpected(token, place, strayHint(token, expected));
    }
    this.skipEntry(token.depth);
  }

  /** Reports a comment in the syntax of another language, and returns whether the token is one. */
  protected reportComment(token: t.DefinitionToken): boolean {
    const text = isHashComment(token) ? '#' : ['/*', '{#'].find((opener) => token.image.startsWith(opener));
    if (text !== undefined) this.report('parse/unsupported-comment', this.spanOf(token), { text });
    return text !== undefined;
  }

  #reportRaw(token: t.DefinitionToken): void {
    const hashes = token.image.indexOf('"');
    const span = { file: this.file, start: token.startOffset, end: token.startOffset + hashes + 1 };
    this.report('parse/unterminated-raw-string', span, { text: `\`"${'#'.repeat(hashes)}\`` });
  }

  /** Reports `client<llm> Name` in a function. A block after the name defines a client, which belongs outside. */
  #reportClient(span: Span, name = 'Name'): void {
    const isDefinition = this.nextOnSameLine() && this.nextIs(t.LeftBrace);
    if (isDefinition) this.skipToken();
    this.report('parse/client-in-function', span, { name, isDefinition });
  }

  #reportInvalid(token: t.DefinitionToken): void {
    const { image } = token;
    const span = this.spanOf(token);
    const text = /[#@{([<>';]/.exec(image)?.[0];
    const second = SECOND_KEY.exec(image)?.[1];
    const client = this.peek(-1).image === 'client' ? CLIENT_HEAD.exec(image) : null;
    if (client !== null && (image.startsWith('<') || this.nextIs(t.LeftBrace))) this.#reportClient(span, client[1]);
    else if (text === "'" && image.startsWith("'")) this.report('parse/single-quotes', span, {});
    else if (CURLY_QUOTE.test(image)) this.report('parse/curly-quotes', span, {});
    else if (text === '#') this.report('parse/unsupported-comment', span, { text });
    else if (second !== undefined) this.report('parse/same-line', span, { text: `"${second}"` });
    else if (text !== undefined) {
      this.report('parse/unquoted-value', span, {
        text,
        expression: this.argumentsOf === 'constraint' && /[{<>]/u.test(text),
        variable: FOREIGN_VARIABLE.exec(image)?.[1],
      });
    } else this.report('parse/invalid-number', span, { text: image });
  }
}

/** Returns a hint for a token in place of a member of a block. */
function strayHint(token: t.DefinitionToken, expected: string): string {
  if (token.image === '=' && expected === 'a field')
    return 'Fields have no default values: a type that ends in "?" is optional.';
  if (expected !== 'an enum value') return '';
  if (token.tokenType === t.QuotedString)
    return 'Write the name without quotes. `@alias("…")` changes what the model sees.';
  if (token.tokenType === t.Pipe) return 'Write one value per line.';
  return 'An enum value is only a name. `@alias("…")` changes what the model sees.';
}

function isHashComment(token: t.DefinitionToken): boolean {
  return token.tokenType === t.Stray && token.image.startsWith('#');
}

const BROKEN = new Set([t.UnterminatedString, t.UnterminatedRawString, t.UnterminatedExpression, t.InvalidValue]);
/** A string or raw string whose quotes a word processor replaced. */
const CURLY_QUOTE = /^#*[\u2018-\u201F]/u;
/** `${NAME}`, `$env.NAME`, `os.environ["NAME"]`, `process.env["NAME"]`, `env("NAME")`, `os.getenv("NAME")`. */
const FOREIGN_VARIABLE = /^(?:\$\{(?:env\.)?|[\w.]*env(?:iron)?(?:\.get)?[[(]["'])(\w+)["']?[\])}]*$/u;
/** The part of `client<llm> Name` or `client Name` after its first word. */
const CLIENT_HEAD = /^(?:<\s*\w+\s*>\s*)?(\w+)?$/;
/** A second key with its block or list, after a value without quotes. */
const SECOND_KEY = /\s(\w+\s+[{[])/;

/** The grammar of values, maps and attributes. */
export abstract class ValueGrammar extends ReportingParser {
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
export function unescapeString(text: string): string {
  return text.replace(/\\(.)/gs, (whole, character: string) => ESCAPES.get(character) ?? whole);
}
