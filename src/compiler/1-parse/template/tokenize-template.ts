import { templateDiagnostic } from '../../../diagnostics/catalogue/template.ts';
import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import type { Span } from '../../../diagnostics/span.ts';
import { isExactInteger } from '../tokenize.ts';
import type { TemplateSource } from '../dedent.ts';

interface TokenizedTag {
  readonly tokens: readonly Token[];
  /** The offset after the closer. */
  readonly end: number;
  /** The whitespace control before the closer: `-`, `+` or an empty string. */
  readonly control: string;
  /** False after a lexical error: the parser must not read the tokens. */
  readonly sound: boolean;
}

/** `and` and `or` of other languages. */
const OTHER_OPERATORS = new Set(['&&', '||']);
const OPERATORS = new Set('** // == != <= >= + - * / % ~ < > = . , : | ( ) [ ] { }'.split(' '));
const SPACE = /\s*/uy;
const NAME = /[\p{L}_][\p{L}\p{N}_]*/uy;
const NUMBER = /0[xX][\da-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?/y;
const AFTER_NUMBER = /[\p{L}\p{N}_]+/uy;

/**
 * Reads the tokens of a tag from `start` to its closer (`}}` or `%}`), or to the end of the text if `closer` is
 * undefined.
 */
export function tokenizeExpression(context: ParseContext, start: number, closer?: '}}' | '%}'): TokenizedTag {
  return new Tokenizer(context, start, closer).run();
}

class Tokenizer {
  readonly #context: ParseContext;
  readonly #text: string;
  readonly #closer: '}}' | '%}' | undefined;
  readonly #tokens: Token[] = [];
  readonly #begin: number;
  #at: number;
  #openBraces = 0;
  #sound = true;

  constructor(context: ParseContext, start: number, closer: '}}' | '%}' | undefined) {
    this.#context = context;
    this.#text = context.text;
    this.#closer = closer;
    this.#begin = start;
    this.#at = start;
  }

  run(): TokenizedTag {
    for (;;) {
      this.#at += this.#match(SPACE).length;
      const control = this.#closerHere();
      if (control !== undefined) return this.#finish(this.#at, this.#at + control.length + 2, control);
      if (this.#at >= this.#text.length) return this.#endOfText();
      if (this.#tagBeginsHere()) return this.#unclosed(this.#at);
      if (this.#strayBrace()) return this.#unclosed(this.#at + 1);
      this.#token();
    }
  }

  #token(): void {
    const character = this.#text.charAt(this.#at);
    if (character === '"' || character === "'") this.#string(character);
    else if (character >= '0' && character <= '9') this.#number();
    else this.#nameOrOperator();
  }

  #nameOrOperator(): void {
    const name = this.#match(NAME);
    if (name !== '') return this.#push('name', name, name.length);
    const two = this.#text.slice(this.#at, this.#at + 2);
    const operator = OPERATORS.has(two) ? two : two.charAt(0);
    if (OTHER_OPERATORS.has(two)) return this.#meaningless(two);
    if (!OPERATORS.has(operator)) return this.#meaningless(String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0));
    if (operator === '{') this.#openBraces += 1;
    if (operator === '}') this.#openBraces -= 1;
    this.#push('operator', operator, operator.length);
  }

  #meaningless(text: string): void {
    if (this.#sound) this.#report('template/unexpected-character', text.length, { text });
    this.#at += text.length;
  }

  #number(): void {
    const digits = this.#match(NUMBER);
    const rest = this.#match(AFTER_NUMBER, this.#at + digits.length);
    const text = digits + rest;
    const integer = !/^\d[\d_]*[.eE]/u.test(digits);
    const value = Number(digits.replaceAll('_', ''));
    if (rest !== '' || !Number.isFinite(value)) this.#report('template/bad-number', text.length, { text });
    else if (integer && !isExactInteger(digits.replaceAll('_', ''))) {
      this.#report('template/inexact-integer', text.length, { text });
    }
    this.#push(integer ? 'integer' : 'float', digits.replaceAll('_', ''), text.length);
  }

  #string(quote: string): void {
    let value = '';
    let from = this.#at + 1;
    for (let at = from; at < this.#text.length; at += 1) {
      const character = this.#text.charAt(at);
      if (character === quote) return this.#push('string', value + this.#text.slice(from, at), at + 1 - this.#at);
      if (character !== '\\') continue;
      const escape = readEscape(this.#text, at + 1);
      if (!escape.known)
        this.#reportAt(
          'template/bad-escape',
          { start: at, end: at + 1 + escape.length },
          { text: `\\${escape.value}` },
        );
      value += this.#text.slice(from, at) + escape.value;
      at += escape.length;
      from = at + 1;
    }
    this.#report('template/unclosed-string', 1, {});
    this.#at = this.#text.length;
  }

  #closerHere(): string | undefined {
    if (this.#closer === undefined || this.#openBraces > 0) return undefined;
    if (this.#text.startsWith(this.#closer, this.#at)) return '';
    const control = this.#text.charAt(this.#at);
    return (control === '-' || control === '+') && this.#text.startsWith(this.#closer, this.#at + 1)
      ? control
      : undefined;
  }

  #tagBeginsHere(): boolean {
    if (this.#closer === undefined) return false;
    const two = this.#text.slice(this.#at, this.#at + 2);
    return two === '{%' || two === '{#';
  }

  /** A `}` without a partner: most likely half of the closer. */
  #strayBrace(): boolean {
    return this.#closer !== undefined && this.#openBraces === 0 && this.#text.charAt(this.#at) === '}';
  }

  #unclosed(end: number): TokenizedTag {
    this.#reportUnclosed();
    return this.#finish(this.#at, end, '');
  }

  #endOfText(): TokenizedTag {
    if (this.#closer !== undefined && this.#sound) this.#reportUnclosed();
    return this.#finish(this.#at, this.#at, '');
  }

  #reportUnclosed(): void {
    const closer = this.#closer ?? '}}';
    const opener = closer === '}}' ? '{{' : '{%';
    this.#reportAt('template/unclosed-tag', { start: this.#begin - 2, end: this.#begin }, { opener, closer });
  }

  #finish(at: number, end: number, control: string): TokenizedTag {
    this.#tokens.push({ type: 'end', text: '', start: at, end: Math.max(end, at) });
    return { tokens: this.#tokens, end, control, sound: this.#sound };
  }

  #push(type: Token['type'], text: string, length: number): void {
    this.#tokens.push({ type, text, start: this.#at, end: this.#at + length });
    this.#at += length;
  }

  #report(code: ReportParameters[0], length: number, params: ReportParameters[2]): void {
    this.#reportAt(code, { start: this.#at, end: this.#at + length }, params);
  }

  #reportAt(...report: ReportParameters): void {
    this.#sound = false;
    this.#context.report(...report);
  }

  #match(pattern: RegExp, at = this.#at): string {
    pattern.lastIndex = at;
    return pattern.exec(this.#text)?.[0] ?? '';
  }
}

const SIMPLE_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['t', '\t'],
  ['r', '\r'],
  ['b', '\b'],
  ['f', '\f'],
  ['0', '\0'],
  ['\\', '\\'],
  ['"', '"'],
  ["'", "'"],
  ['/', '/'],
]);

interface Escape {
  readonly value: string;
  readonly length: number;
  readonly known: boolean;
}

/** Reads an escape sequence after its backslash. An unknown one is the character itself. */
function readEscape(text: string, at: number): Escape {
  const character = text.charAt(at);
  if (character === 'u' || character === 'x') {
    const digits = text.slice(at + 1, at + (character === 'u' ? 5 : 3));
    if (/^(?:[\da-fA-F]{4}|[\da-fA-F]{2})$/u.test(digits)) {
      return { value: String.fromCharCode(Number.parseInt(digits, 16)), length: digits.length + 1, known: true };
    }
  }
  const value = SIMPLE_ESCAPES.get(character);
  return { value: value ?? character, length: character.length, known: value !== undefined };
}

/** One token of an expression. Offsets are those in the template's text. */
export interface Token {
  readonly type: 'name' | 'string' | 'integer' | 'float' | 'operator' | 'end';
  /** The text as written; the value of a string; empty for `end`. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** A part of a template after whitespace control: text, or a tag with the tokens between its delimiters. */
export type Chunk = TextChunk | TagChunk;

interface TextChunk {
  readonly kind: 'text';
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export interface TagChunk {
  readonly kind: 'print' | 'block';
  /** Always ends with a token of type `end`. */
  readonly tokens: readonly Token[];
  /** Something after the first word is not a token, and is reported. The tag still begins or ends its block. */
  readonly unreadable?: true;
  readonly start: number;
  readonly end: number;
}

/** The most nested brackets. People write fewer than ten; the limit keeps the stack of the parser small. */
const MAX_NESTING = 100;

/** Advice for tokens of other languages, by what the template language has in their place. */
const TOKEN_HABITS: ReadonlyMap<string, string> = new Map([
  ['the end of the tag if', 'Write "{% elif … %}".'],
  ['"in" of', 'Write "{% for item in items %}".'],
  ['a value /', 'End a block with "{% endif %}" or "{% endfor %}".'],
]);

const END: Token = { type: 'end', text: '', start: 0, end: 0 };

/**
 * A cursor over the tokens of one tag. The first problem moves the cursor to the end, where every rule stops: a tag has
 * at most one error, and no rule has to unwind.
 */
export class TokenReader {
  readonly context: ParseContext;
  readonly #tokens: readonly Token[];
  #at = 0;
  #nesting = 0;
  #failed = false;

  constructor(context: ParseContext, tokens: readonly Token[]) {
    this.context = context;
    this.#tokens = tokens;
  }

  get current(): Token {
    return this.#tokens[this.#at] ?? END;
  }

  get following(): Token {
    return this.#tokens[this.#at + 1] ?? END;
  }

  /** The end of the token before the cursor. */
  get previousEnd(): number {
    return this.#tokens[this.#at - 1]?.end ?? this.current.start;
  }

  get failed(): boolean {
    return this.#failed;
  }

  next(): Token {
    const token = this.current;
    if (token.type !== 'end') this.#at += 1;
    return token;
  }

  isOperator(text: string): boolean {
    return this.current.type === 'operator' && this.current.text === text;
  }

  isWord(text: string): boolean {
    return this.current.type === 'name' && this.current.text === text;
  }

  /** Skips the current token if it is this operator, and returns whether it was. */
  skipOperator(text: string): boolean {
    const found = this.isOperator(text);
    if (found) this.next();
    return found;
  }

  skipWord(text: string): boolean {
    const found = this.isWord(text);
    if (found) this.next();
    return found;
  }

  expectOperator(text: string): void {
    if (!this.skipOperator(text)) this.failExpected(`"${text}"`);
  }

  expectWord(text: string): void {
    if (!this.skipWord(text)) this.failExpected(`"${text}"`);
  }

  expectName(what: string): Token {
    if (this.current.type !== 'name') this.failExpected(what);
    return this.next();
  }

  expectEnd(): void {
    if (this.current.type === 'end') return;
    this.failExpected('the end of the tag', this.isOperator('=') ? 'Compare with "==".' : '');
  }

  failExpected(expected: string, help = ''): void {
    const token = this.current;
    const found = token.type === 'end' ? 'the end' : `"${token.text}"`;
    const advice = help === '' ? (TOKEN_HABITS.get(`${expected} ${token.text}`) ?? '') : help;
    this.fail('template/unexpected-token', token, { expected, found, help: advice });
  }

  fail(...report: ReportParameters): void {
    if (!this.#failed) this.context.report(...report);
    this.abandon();
  }

  /** Moves to the end, for a tag with a problem that is reported. */
  abandon(): void {
    this.#failed = true;
    this.#at = Math.max(0, this.#tokens.length - 1);
  }

  failTooDeep(): void {
    this.fail('template/too-deep', this.current, {});
  }

  /** Runs a rule one level deeper. Beyond the limit, the rule starts at the end of the tag. */
  nested<T>(rule: () => T): T {
    this.#nesting += 1;
    if (this.#nesting > MAX_NESTING) this.failTooDeep();
    const result = rule();
    this.#nesting -= 1;
    return result;
  }
}

type Problem = Parameters<typeof templateDiagnostic>;
type ReportParameters = [code: Problem[0], at: Pick<Token, 'start' | 'end'>, params: Problem[2]];

/** The shared state of one parse: the text, its position in the file, and the diagnostics so far. */
export class ParseContext {
  readonly text: string;
  readonly diagnostics: Diagnostic[] = [];
  readonly #source: TemplateSource;

  constructor(source: TemplateSource) {
    this.text = source.text;
    this.#source = source;
  }

  /** The offsets are those in the text. */
  report(...[code, { start, end }, params]: ReportParameters): void {
    const span: Span = { file: this.#source.file, ...this.located(start, end) };
    this.diagnostics.push(templateDiagnostic(code, span, params));
  }

  /** Converts offsets in the text to offsets in the file. */
  located(start: number, end: number): { readonly start: number; readonly end: number } {
    return { start: this.#source.toFileOffset(start), end: this.#source.toFileOffset(end) };
  }
}

/**
 * The effect of a tag on adjacent text: `-` trims all white space, `+` trims nothing, `block` follows trim_blocks and
 * lstrip_blocks.
 */
type Trim = '-' | '+' | 'block' | 'none';

interface TextEdges {
  readonly left: Trim;
  readonly right: Trim;
}

const END_RAW = /\{%([-+]?)\s*endraw\s*([-+]?)%\}/gu;

/**
 * Splits a template into text and tags in one pass. Resolves comments, `raw` blocks and whitespace control: a line with
 * only a block tag adds nothing to the output.
 */
export function splitTemplate(context: ParseContext): readonly Chunk[] {
  return new Splitter(context).run();
}

class Splitter {
  readonly #context: ParseContext;
  readonly #text: string;
  readonly #chunks: Chunk[] = [];
  #at = 0;
  #left: Trim = 'none';

  constructor(context: ParseContext) {
    this.#context = context;
    this.#text = context.text;
  }

  run(): readonly Chunk[] {
    for (;;) {
      const open = nextTag(this.#text, this.#at);
      if (open < 0) break;
      const sign = this.#text.charAt(open + 1);
      const written = this.#text.charAt(open + 2);
      const control = written === '-' || written === '+' ? written : '';
      this.#addText(open, trimOf(control, sign !== '{'));
      this.#tag(open, sign, control.length);
    }
    this.#addText(this.#text.length, 'none');
    return this.#chunks;
  }

  #tag(open: number, sign: string, controlLength: number): void {
    if (sign === '#') this.#comment(open);
    else if (sign === '{') this.#expressionTag('print', open, controlLength);
    else this.#expressionTag('block', open, controlLength);
  }

  #comment(open: number): void {
    const close = this.#text.indexOf('#}', open + 2);
    if (close < 0) {
      this.#context.report('template/unclosed-tag', { start: open, end: open + 2 }, { opener: '{#', closer: '#}' });
      this.#at = this.#text.length;
      return;
    }
    const before = close > open + 2 ? this.#text.charAt(close - 1) : '';
    this.#at = close + 2;
    this.#left = trimOf(before === '-' || before === '+' ? before : '', true);
  }

  #expressionTag(kind: 'print' | 'block', open: number, controlLength: number): void {
    const tag = tokenizeExpression(this.#context, open + 2 + controlLength, kind === 'print' ? '}}' : '%}');
    this.#at = tag.end;
    this.#left = trimOf(tag.control, kind === 'block');
    if (!tag.sound && !(kind === 'block' && this.#text.startsWith('%}', tag.end - 2) && tag.tokens[0]?.type === 'name'))
      return;
    if (kind === 'block' && isWord(tag.tokens, 'raw')) this.#raw(open);
    else {
      const unreadable = tag.sound ? {} : ({ unreadable: true } as const);
      this.#chunks.push({ kind, tokens: tag.tokens, start: open, end: tag.end, ...unreadable });
    }
  }

  #raw(open: number): void {
    END_RAW.lastIndex = this.#at;
    const end = END_RAW.exec(this.#text);
    if (end === null) {
      this.#context.report('template/unclosed-block', { start: open, end: this.#at }, { name: 'raw' });
      this.#at = this.#text.length;
      return;
    }
    this.#addText(end.index, trimOf(end[1] ?? '', true));
    this.#at = end.index + end[0].length;
    this.#left = trimOf(end[2] ?? '', true);
  }

  #addText(end: number, right: Trim): void {
    const start = this.#at;
    const text = trimText(this.#text.slice(start, end), { left: this.#left, right }, start === 0);
    if (text !== '') this.#chunks.push({ kind: 'text', text, start, end });
    this.#at = end;
    this.#left = 'none';
  }
}

function nextTag(text: string, from: number): number {
  for (let at = text.indexOf('{', from); at >= 0; at = text.indexOf('{', at + 1)) {
    const next = text.charAt(at + 1);
    if (next === '{' || next === '%' || next === '#') return at;
  }
  return -1;
}

function trimOf(control: string, block: boolean): Trim {
  if (control === '-' || control === '+') return control;
  return block ? 'block' : 'none';
}

function trimText(raw: string, edges: TextEdges, atStart: boolean): string {
  let from = 0;
  let to = raw.length;
  if (edges.right === '-') to = raw.trimEnd().length;
  else if (edges.right === 'block') to = endBeforeIndentation(raw, atStart);
  if (edges.left === '-') from = raw.length - raw.trimStart().length;
  else if (edges.left === 'block') from = lengthOfLineBreak(raw);
  return raw.slice(from, Math.max(from, to));
}

/** lstrip_blocks: returns the start of the white space between the last line break and the tag. */
function endBeforeIndentation(raw: string, atStart: boolean): number {
  let at = raw.length;
  while (at > 0 && (raw.charAt(at - 1) === ' ' || raw.charAt(at - 1) === '\t')) at -= 1;
  const lineBegins = at === 0 ? atStart : raw.charAt(at - 1) === '\n';
  return lineBegins ? at : raw.length;
}

/** trim_blocks: returns the length of the line break directly after a tag. */
function lengthOfLineBreak(raw: string): number {
  if (raw.startsWith('\r\n')) return 2;
  return raw.startsWith('\n') ? 1 : 0;
}

function isWord(tokens: readonly { readonly text: string }[], word: string): boolean {
  return tokens.length === 2 && tokens[0]?.text === word;
}
