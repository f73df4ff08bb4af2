import type { TokenType } from 'chevrotain';
import * as t from './tokens.ts';
import { editDistance } from '../../base/suggestion.ts';
import { KNOWN_KEYS } from './syntax-nodes.ts';

/** The end of a literal (exclusive), and whether the literal has a closing delimiter. */
interface Scanned {
  readonly end: number;
  readonly closed: boolean;
}

const NAME_CHARACTER = /[\p{L}\p{N}_]/u;
/** No language construct needs more; a sixth "#" is part of the text. */
const MAX_HASHES = 5;

/**
 * The head of a definition at the start of a line, which ends an unclosed literal or bracket. Prose can begin with the
 * same words, but not with the token that follows the name of a definition.
 */
const DECLARATION_HEAD =
  /(?:(?:class|enum|function|retry_policy|generator|test|template_string|string_template)[ \t]+[A-Za-z_]\w*[ \t]*[({#=]|type[ \t]+\w+[ \t]*=|client[ \t]*<|client[ \t]+\w+[ \t]*\{|dynamic[ \t]+(?:class|enum)\b)/y;

const DECLARATION_LINE = new RegExp(String.raw`\n(?=${DECLARATION_HEAD.source})`, 'g');

/** Text that can follow the closing quote of a string: the end of its line, list or attribute, or a comment. */
const AFTER_STRING = /[ \t]*(?:[)\]},@]|\/\/|\r?\n|$)/y;

/**
 * Finds the ends of literals in one source. It remembers the results of its searches, also of those that found nothing,
 * so that a file full of unclosed literals still takes linear time.
 */
class LiteralScanner {
  readonly #text: string;
  /** For each needle: no occurrence between `from` and `at`. */
  readonly #found = new Map<string, { readonly from: number; readonly at: number }>();
  /** Kinds of literals of which one was unterminated: the next ones of that kind must close on their own line. */
  readonly #singleLine = new Set<string>();
  /** No closing inner quote before this offset. */
  readonly #innerQuoteAbsent = new Map<string, number>();

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns the offset of the first `needle` at or after `from`, or Infinity. */
  find(needle: string, from: number): number {
    const known = this.#found.get(needle);
    if (known !== undefined && known.from <= from && from <= known.at) return known.at;
    const index = this.#text.indexOf(needle, from);
    const at = index < 0 ? Infinity : index;
    this.#found.set(needle, { from, at });
    return at;
  }

  /**
   * A quoted string can span lines. But if a letter follows the closing quote of such a string, that quote opens the next
   * string, and this one is unterminated on its first line. The same holds if a definition begins before that quote,
   * unless the surroundings of the quote show that it closes a string.
   */
  quoted(start: number): Scanned {
    const lineEnd = this.lineEnd(start);
    const limit = this.#singleLine.has('"') ? lineEnd : this.#text.length;
    let holdsDeclaration = false;
    for (let at = start + 1; at < limit; at += 1) {
      const character = this.#text[at];
      if (character === '\\') at += 1;
      else if (character === '"') {
        const closes = at <= lineEnd || (holdsDeclaration ? this.#surelyCloses(at) : !this.#opensAnother(at));
        return closes ? { end: at + 1, closed: true } : { end: lineEnd, closed: false };
      } else if (at > lineEnd) holdsDeclaration ||= this.#isDeclarationLine(at);
    }
    this.#singleLine.add('"');
    return { end: lineEnd, closed: false };
  }

  /** Returns the number of "#" of a raw string that begins at `start`, or 0 if none begins there. */
  hashes(start: number): number {
    let count = 0;
    while (this.#text[start + count] === '#' && count < MAX_HASHES) count += 1;
    return this.#text[start + count] === '"' ? count : 0;
  }

  raw(start: number, hashes: number): Scanned {
    const closing = `"${'#'.repeat(hashes)}`;
    const at = this.find(closing, start + hashes + 1);
    if (at !== Infinity) return { end: at + closing.length, closed: true };
    DECLARATION_LINE.lastIndex = start;
    const next = DECLARATION_LINE.exec(this.#text);
    return { end: next === null ? this.#text.length : next.index, closed: false };
  }

  /** `{{ … }}`, ignoring braces inside the strings of the expression. */
  expression(start: number): Scanned {
    const lineEnd = this.lineEnd(start);
    const limit = this.#singleLine.has('{{') ? lineEnd : this.#text.length;
    for (let at = start + 2; at < limit; at += 1) {
      const character = this.#text[at] ?? '';
      if (character === '}' && this.#text[at + 1] === '}') return { end: at + 2, closed: true };
      if (at > lineEnd && this.#isDeclarationLine(at)) return { end: lineEnd, closed: false };
      if (character === '"' || character === "'") at = this.#lastOfInnerString(at, character);
    }
    this.#singleLine.add('{{');
    return { end: lineEnd, closed: false };
  }

  /** Returns the offset of the line break at or after `from`, or of the end of the text. */
  lineEnd(from: number): number {
    const end = Math.min(this.find('\n', from), this.#text.length);
    return this.#text[end - 1] === '\r' && end > from ? end - 1 : end;
  }

  /** Returns the closing quote on the same line, or `start` if there is none: then it is an apostrophe. */
  #lastOfInnerString(start: number, quote: string): number {
    const lineEnd = this.lineEnd(start);
    if (lineEnd <= (this.#innerQuoteAbsent.get(quote) ?? -1)) return start;
    for (let at = start + 1; at < lineEnd; at += 1) {
      const character = this.#text[at];
      if (character === '\\') at += 1;
      else if (character === quote) return at;
    }
    this.#innerQuoteAbsent.set(quote, lineEnd);
    return start;
  }

  #opensAnother(quote: number): boolean {
    return NAME_CHARACTER.test(this.#text[quote + 1] ?? '');
  }

  #surelyCloses(quote: number): boolean {
    AFTER_STRING.lastIndex = quote + 1;
    return this.#text[quote - 1] !== '#' && AFTER_STRING.test(this.#text);
  }

  /** Returns whether a line that begins a definition starts at `at`. */
  #isDeclarationLine(at: number): boolean {
    if (this.#text[at - 1] !== '\n') return false;
    DECLARATION_HEAD.lastIndex = at;
    return DECLARATION_HEAD.test(this.#text);
  }
}

/** Numbers as values and as literal types. */
export const UNQUOTED_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** Characters that a value without quotes cannot contain. Closing brackets and commas end it. */
const FORBIDDEN = /[#@{([<>';]/;
const ENDS = new Set([',', ')', ']', '}']);
const OPENERS = new Set(['{', '(', '[']);
/** The beginning of a raw string also ends a value: the next key is on the same line. */
const RAW_STRING = /^#{1,5}"/;
/** The most characters between brackets inside an invalid value; the limit keeps the scan linear. */
const LONGEST_BRACKETS = 200;
const BEGINS_LIKE_NUMBER = /^-?\d/;
/** A comment can follow a number without a space. */
const NUMBER_BEFORE_COMMENT = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?=\/\/)/y;

/** The end of a value without quotes (exclusive), and whether the value is valid. */
interface UnquotedValue {
  readonly end: number;
  readonly valid: boolean;
}

/**
 * Finds the end of the value without quotes at `start`: the end of the line, a comma, a closing bracket, or a comment
 * after a space. An invalid value includes the brackets that it opens, if they close on the same line.
 */
function unquotedValue(text: string, start: number, lineEnd: number): UnquotedValue {
  NUMBER_BEFORE_COMMENT.lastIndex = start;
  const number = NUMBER_BEFORE_COMMENT.exec(text)?.[0];
  if (number !== undefined) return { end: start + number.length, valid: true };
  let end = start;
  let valid = true;
  let depth = 0;
  let beforeOpener = lineEnd;
  for (let at = start; at < lineEnd; at += 1) {
    const character = text[at] ?? '';
    if (depth === 0 && (ENDS.has(character) || beginsComment(text, at, start))) break;
    if (depth > 0 && at - beforeOpener > LONGEST_BRACKETS) break;
    if (depth === 0 && RAW_STRING.test(text.slice(at, at + 6))) break;
    if (FORBIDDEN.test(character)) valid = false;
    if (OPENERS.has(character)) {
      if (depth === 0) beforeOpener = at;
      depth += 1;
    } else if (ENDS.has(character) && character !== ',') depth -= 1;
    if (!isSpace(character)) end = at + 1;
  }
  if (depth > 0 && beforeOpener > start) end = start + text.slice(start, beforeOpener).trimEnd().length;
  return { end, valid: valid && !isBadNumber(text.slice(start, end)) };
}

function beginsComment(text: string, at: number, start: number): boolean {
  const isComment = text.startsWith('//', at) || text.startsWith('{//', at);
  return isComment && (at === start || isSpace(text[at - 1] ?? ''));
}

function isSpace(character: string): boolean {
  return character === ' ' || character === '\t';
}

function isBadNumber(value: string): boolean {
  return BEGINS_LIKE_NUMBER.test(value) && !UNQUOTED_NUMBER.test(value);
}

/** A longer integer is beyond the range of doubles. */
const LONGEST_INTEGER = 320;

/** True if a JavaScript number holds exactly the value of an integer: up to 2^53, and of some larger ones. */
export function isExactInteger(text: string): boolean {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return true;
  return text.length <= LONGEST_INTEGER && Number.isFinite(value) && BigInt(text) === BigInt(value);
}

/**
 * The content of an open bracket. `code`: names, types, attributes. `map`: keys with values. `list`: values. Values
 * without quotes appear only in maps and lists.
 */
interface Frame {
  readonly kind: 'code' | 'map' | 'list';
  readonly closer: string;
  /** Offset of the opening bracket. */
  readonly start: number;
  /** In a map: the next expected part. */
  next: 'key' | 'value' | 'separator';
  /** True for a `type_builder`: the definitions inside do not end the block. */
  readonly holdsDefinitions: boolean;
}

const CLOSERS: Readonly<Record<string, string>> = { '{': '}', '[': ']', '(': ')' };
const CODE_WORDS = new Set(['class', 'enum', 'type', 'dynamic', 'template_string', 'string_template']);
/** Words that begin a block of keys and values. */
export const MAP_WORDS: ReadonlySet<string> = new Set(['function', 'client', 'retry_policy', 'generator', 'test']);

const WHITE_SPACE = /[\s\uFEFF]+/y;
const NAME = /[\p{L}_](?:[\p{L}\p{N}_]|-(?!>))*/uy;
const ATTRIBUTE = /@@?[\p{L}_][\p{L}\p{N}_.-]*/uy;
const NUMBER = /-?\d[\w.]*/y;
const EQUALS = /=+>?/y;

/**
 * Returns all tokens of a definition file, including white space and comments: their joined images are the source. Never
 * throws. Adds an opening brace with an empty image after each token whose offset is in `withoutBrace`.
 */
export function tokenize(text: string, withoutBrace: ReadonlySet<number> = new Set()): readonly t.DefinitionToken[] {
  return new Tokenizer(text, withoutBrace).run();
}

class Tokenizer {
  readonly #text: string;
  readonly #withoutBrace: ReadonlySet<number>;
  readonly #scanner: LiteralScanner;
  readonly #tokens: t.DefinitionToken[] = [];
  #frames: Frame[] = [];
  /** The number of frames for each closing bracket, which avoids searches that would find nothing. */
  #waiting = new Map<string, number>();
  /** The number of frames that contain definitions. */
  #builders = 0;
  #at = 0;
  /** The word that began the current definition. */
  #declaration = '';
  #previous: t.DefinitionToken | undefined;
  /** What of `function name(…)` has been read: after the parameters, a brace can open code. */
  #functionPart: 'none' | 'word' | 'parameters' = 'none';
  /** The end of the code at the cursor (exclusive). */
  #codeEnd = 0;
  #onNewLine = true;
  #afterEmptyLine = false;
  #documentation: string[] = [];

  constructor(text: string, withoutBrace: ReadonlySet<number>) {
    this.#text = text;
    this.#withoutBrace = withoutBrace;
    this.#scanner = new LiteralScanner(text);
  }

  run(): readonly t.DefinitionToken[] {
    while (this.#at < this.#text.length) {
      if (!this.#trivia()) this.#significant();
    }
    return this.#tokens;
  }

  #trivia(): boolean {
    const white = this.#match(WHITE_SPACE);
    if (white !== undefined) {
      this.#push(t.WhiteSpace, white.length);
      if (white.includes('\n')) this.#newLine(white);
      return true;
    }
    // A comment of code is a part of it.
    if (this.#at < this.#codeEnd) return false;
    if (this.#text.startsWith('//', this.#at)) return this.#lineComment();
    if (!this.#text.startsWith('{//', this.#at)) return false;
    const end = this.#scanner.find('//}', this.#at + 3);
    if (end === Infinity) return false;
    this.#push(t.BlockComment, end + 3 - this.#at);
    return true;
  }

  #newLine(white: string): void {
    this.#onNewLine = true;
    if (white.indexOf('\n') !== white.lastIndexOf('\n')) this.#emptyLine();
    const frame = this.#frames.at(-1);
    if (frame?.kind === 'map') frame.next = 'key';
  }

  #emptyLine(): void {
    this.#afterEmptyLine = true;
    // It ends a doc comment.
    this.#documentation = [];
  }

  #lineComment(): boolean {
    const end = this.#scanner.lineEnd(this.#at);
    const isDocumentation = this.#text.startsWith('///', this.#at);
    if (isDocumentation) this.#documentation.push(this.#text.slice(this.#at + 3, end).trim());
    this.#push(isDocumentation ? t.DocComment : t.LineComment, end - this.#at);
    return true;
  }

  #significant(): void {
    const startsDeclaration = this.#startsDeclaration();
    if (startsDeclaration) this.#popTo(0);
    const token = this.#next();
    token.onNewLine = this.#onNewLine;
    if (this.#afterEmptyLine) token.afterEmptyLine = true;
    if (startsDeclaration) token.startsDeclaration = true;
    if (this.#documentation.length > 0) token.documentation = this.#documentation.join('\n');
    this.#documentation = [];
    this.#onNewLine = false;
    this.#afterEmptyLine = false;
    this.#previous = token;
    if (this.#withoutBrace.has(token.startOffset)) this.#previous = this.#open('{', this.#frames.at(-1), 0);
  }

  #startsDeclaration(): boolean {
    if (!this.#onNewLine || (this.#at > 0 && this.#text[this.#at - 1] !== '\n')) return false;
    if (this.#builders > 0) return false;
    return this.#match(DECLARATION_HEAD) !== undefined;
  }

  #next(): t.DefinitionToken {
    const frame = this.#frames.at(-1);
    const character = this.#text[this.#at] ?? '';
    if (this.#at < this.#codeEnd) return this.#push(t.Code, this.#codeEnd - this.#at);
    if (this.#text.startsWith('{# ', this.#at)) return this.#templateComment();
    if (CLOSERS[character] !== undefined && !this.#beginsExpression(frame)) return this.#open(character, frame);
    if (character === '}' || character === ']' || character === ')') return this.#close(character);
    if (frame === undefined || frame.kind === 'code') return this.#codeToken();
    return frame.kind === 'list' ? this.#listToken(frame) : this.#mapToken(frame);
  }

  /** `{# … #}` is a comment only in templates. */
  #templateComment(): t.DefinitionToken {
    const end = Math.min(this.#scanner.find('#}', this.#at + 2) + 2, this.#scanner.lineEnd(this.#at));
    return this.#push(t.Stray, end - this.#at);
  }

  #beginsExpression(frame: Frame | undefined): boolean {
    return frame !== undefined && frame.kind !== 'code' && this.#text.startsWith('{{', this.#at);
  }

  #open(character: string, outer: Frame | undefined, length = 1): t.DefinitionToken {
    const holdsDefinitions =
      outer?.kind === 'map' && this.#previous?.tokenType === t.TypeBuilderKeyword && character === '{';
    if (outer !== undefined) outer.next = 'separator';
    const kind = holdsDefinitions ? 'code' : this.#kindInside(character, outer);
    const closer = CLOSERS[character] ?? '';
    this.#frames.push({ kind, closer, start: this.#at, next: 'key', holdsDefinitions });
    this.#waiting.set(closer, (this.#waiting.get(closer) ?? 0) + 1);
    if (holdsDefinitions) this.#builders += 1;
    const token = this.#push(t.PUNCTUATION.get(character) ?? t.Stray, length);
    if (character === '{' && this.#functionPart === 'parameters') this.#codeEnd = this.#endOfCode(outer !== undefined);
    if (character === '{') this.#functionPart = 'none';
    if (character === '(' && this.#functionPart === 'word') this.#functionPart = 'parameters';
    return token;
  }

  /**
   * Returns the end of the code in the block that begins at the cursor, without white space after it; 0 if the block is that
   * of a function that calls a model, or has no code. Methods are always code.
   */
  #endOfCode(isMethod: boolean): number {
    const text = this.#text;
    let depth = 1;
    let isEmpty = true;
    let isFirst = true;
    let isLineStart = true;
    for (let at = this.#at, lineStart = at; at < text.length; at += 1) {
      const character = text[at] ?? '';
      if (character === '\n') {
        lineStart = at + 1;
        isLineStart = true;
      }
      if (character.trim() === '') continue;
      const begins = isLineStart && depth === 1 && !isMethod;
      isLineStart = false;
      const isComment = text.startsWith('//', at);
      const hashes = this.#scanner.hashes(at);
      if (character === '"' || hashes > 0) {
        // A raw string after a word is a prompt, even if the key is misspelt.
        if (!isMethod && hashes > 0 && isOnlyWord(text.slice(Math.max(lineStart, at - LONGEST_KEY), at))) return 0;
        const { end, closed } = hashes > 0 ? this.#scanner.raw(at, hashes) : this.#scanner.quoted(at);
        if (!closed) return 0;
        at = end - 1;
      } else if (isComment) at = this.#scanner.lineEnd(at) - 1;
      else if (character === '{') depth += 1;
      else if (character === '}') depth -= 1;
      else if (begins) {
        NAME.lastIndex = at;
        const word = NAME.exec(text)?.[0] ?? '';
        const isUsed = USES.has(text[at + word.length] ?? '');
        if (!isUsed && t.MODEL_KEYS.some((key) => editDistance(word, key, 1) <= (isFirst ? 1 : 0))) return 0;
        isFirst = false;
      }
      if (depth === 0) return isEmpty ? 0 : this.#at + text.slice(this.#at, at).trimEnd().length;
      if (!isComment) isEmpty = false;
    }
    return 0;
  }

  #kindInside(character: string, outer: Frame | undefined): Frame['kind'] {
    if (character === '(') return this.#previous?.tokenType === t.Attribute ? 'list' : 'code';
    if (outer !== undefined && outer.kind !== 'code') return character === '{' ? 'map' : 'list';
    return character === '{' && outer === undefined && MAP_WORDS.has(this.#declaration) ? 'map' : 'code';
  }

  #close(character: string): t.DefinitionToken {
    if ((this.#waiting.get(character) ?? 0) > 0) {
      this.#popTo(this.#frames.findLastIndex((frame) => frame.closer === character));
    }
    return this.#push(t.PUNCTUATION.get(character) ?? t.Stray, 1);
  }

  #popTo(depth: number): void {
    while (this.#frames.length > depth) {
      const frame = this.#frames.pop();
      if (frame === undefined) return;
      this.#waiting.set(frame.closer, (this.#waiting.get(frame.closer) ?? 0) - 1);
      if (frame.holdsDefinitions) this.#builders -= 1;
    }
  }

  #codeToken(): t.DefinitionToken {
    const name = this.#match(NAME);
    if (name !== undefined) return this.#word(name);
    return this.#common() ?? this.#number() ?? this.#punctuation();
  }

  #word(name: string): t.DefinitionToken {
    const begins = this.#onNewLine || this.#previous === undefined || DEFINITION_ENDS.has(this.#previous.tokenType);
    const known = CODE_WORDS.has(name) || MAP_WORDS.has(name);
    if (this.#frames.length === 0 && begins && known) this.#declaration = name;
    if (begins && known) this.#functionPart = name === 'function' ? 'word' : 'none';
    return this.#push(t.KEYWORD_TYPES.get(name) ?? t.Identifier, name.length);
  }

  #listToken(frame: Frame): t.DefinitionToken {
    if (this.#text[this.#at] === ',') return this.#push(t.Comma, 1);
    frame.next = 'value';
    return this.#value();
  }

  #mapToken(frame: Frame): t.DefinitionToken {
    if (this.#text[this.#at] === ',') {
      frame.next = 'key';
      return this.#push(t.Comma, 1);
    }
    // No value begins with "=", so it is meant as an assignment.
    const equals = frame.next === 'value' ? this.#match(EQUALS) : undefined;
    if (equals !== undefined) return this.#push(t.Equals, equals.length);
    if (frame.next === 'value' && this.#text[this.#at] !== ':') {
      frame.next = 'separator';
      return this.#value();
    }
    const token = this.#codeToken();
    const isKey = token.tokenType === t.QuotedString || NAME_LIKE.test(token.image);
    if (isKey && (frame.next === 'key' || this.#followsOnLine(token))) frame.next = 'value';
    return token;
  }

  /** A key of a block can follow the value of another key on the same line. */
  #followsOnLine({ image }: t.DefinitionToken): boolean {
    if (this.#frames.length !== 1) return false;
    return t.BLOCK_KEYS.has(image) || KEYS.get(this.#declaration)?.has(image) === true;
  }

  #value(): t.DefinitionToken {
    if (this.#text.startsWith('{{', this.#at)) return this.#expression();
    return this.#common() ?? this.#unquoted();
  }

  /** Strings, raw strings and attributes, which look the same in every frame. */
  #common(): t.DefinitionToken | undefined {
    if (this.#text[this.#at] === '"') {
      const { end, closed } = this.#scanner.quoted(this.#at);
      if (!closed) this.#closeLine();
      return this.#push(closed ? t.QuotedString : t.UnterminatedString, end - this.#at);
    }
    const hashes = this.#scanner.hashes(this.#at);
    if (hashes > 0) {
      const { end, closed } = this.#scanner.raw(this.#at, hashes);
      return this.#push(closed ? t.RawString : t.UnterminatedRawString, end - this.#at);
    }
    const attribute = this.#match(ATTRIBUTE);
    return attribute === undefined ? undefined : this.#push(t.Attribute, attribute.length);
  }

  /** An unterminated string contains the closing brackets of its line. */
  #closeLine(): void {
    const lineStart = this.#text.lastIndexOf('\n', this.#at) + 1;
    const first = this.#frames.findIndex((frame) => frame.start >= lineStart && frame.closer !== '}');
    if (first >= 0) this.#popTo(first);
  }

  #expression(): t.DefinitionToken {
    const { end, closed } = this.#scanner.expression(this.#at);
    return this.#push(closed ? t.ExpressionToken : t.UnterminatedExpression, end - this.#at);
  }

  #unquoted(): t.DefinitionToken {
    const whole = unquotedValue(this.#text, this.#at, this.#scanner.lineEnd(this.#at));
    const { end, valid } = this.#upToNextKey(whole);
    const type = valid ? t.Unquoted : t.InvalidValue;
    return this.#push(type, Math.max(1, end - this.#at));
  }

  /** The next key of a block ends a value without quotes, so that a message can name the key. */
  #upToNextKey(value: UnquotedValue): UnquotedValue {
    const keys = this.#frames.length === 1 ? NEXT_KEYS.get(this.#declaration) : undefined;
    const next = keys?.exec(this.#text.slice(this.#at, value.end))?.index;
    return next === undefined ? value : unquotedValue(this.#text, this.#at, this.#at + next);
  }

  #number(): t.DefinitionToken | undefined {
    const number = this.#match(NUMBER);
    if (number === undefined) return undefined;
    return this.#push(UNQUOTED_NUMBER.test(number) ? t.Number : t.InvalidValue, number.length);
  }

  #punctuation(): t.DefinitionToken {
    if (this.#text.startsWith('->', this.#at)) return this.#push(t.Arrow, 2);
    if (this.#text.startsWith('/*', this.#at)) {
      const end = this.#scanner.find('*/', this.#at + 2);
      return this.#push(t.Stray, (end === Infinity ? this.#scanner.lineEnd(this.#at) : end + 2) - this.#at);
    }
    const character = this.#text[this.#at] ?? '';
    if (character === '#') return this.#push(t.Stray, this.#scanner.lineEnd(this.#at) - this.#at);
    const known = t.PUNCTUATION.get(character);
    if (known !== undefined) return this.#push(known, 1);
    return this.#push(t.Stray, String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0).length);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text)?.[0];
  }

  #push(type: TokenType, length: number): t.DefinitionToken {
    const token = {
      image: this.#text.slice(this.#at, this.#at + length),
      startOffset: this.#at,
      endOffset: this.#at + length - 1,
      tokenType: type,
      tokenTypeIdx: type.tokenTypeIdx ?? 0,
      onNewLine: false,
      depth: 0,
    };
    this.#at += length;
    this.#tokens.push(token);
    return token;
  }
}

/** Characters directly after a variable of code, as in `client.call()`; a key has white space there. */
const USES: ReadonlySet<string> = new Set(['.', '(', '[']);
/** The longest key in front of a raw string, with its indentation. */
const LONGEST_KEY = 200;

/** True if a line has a single word that can be a key: `return` begins a statement. */
function isOnlyWord(line: string): boolean {
  return /^\s*[\p{L}_][\p{L}\p{N}_-]*\s*$/u.test(line) && line.trim() !== 'return';
}

const NAME_LIKE = /^[\p{L}_]/u;
/** The last tokens of definitions; a raw string ends a template_string. */
const DEFINITION_ENDS: ReadonlySet<TokenType> = new Set([t.RightBrace, t.RawString]);

const KEYS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(KNOWN_KEYS).map(([word, keys]) => [word, new Set(keys)]),
);

/** Finds another key of a block in a value without quotes. */
const NEXT_KEYS: ReadonlyMap<string, RegExp> = new Map(
  Object.entries(KNOWN_KEYS).map(([word, keys]) => [word, new RegExp(`[ \t]+(?:${keys.join('|')})(?![^ \t])`, 'u')]),
);
