import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { parseDiagnostic } from '../../diagnostics/catalogue/parse.ts';
import type { SourceFile } from '../../diagnostics/source-file.ts';
import type { TokenType } from 'chevrotain';
import { quoteSource } from './quote-source.ts';
import * as t from './tokens.ts';

/** Deeper than any definition written by hand, and shallow enough for a recursive grammar. */
const MAX_DEPTH = 64;

const CLOSER_OF = new Map<TokenType, TokenType>([
  [t.LeftBrace, t.RightBrace],
  [t.LeftParenthesis, t.RightParenthesis],
  [t.LeftBracket, t.RightBracket],
]);
const CLOSERS = new Set<TokenType>(CLOSER_OF.values());

const CLOSER_TEXT: Readonly<Record<string, string>> = { '{': '}', '(': ')', '[': ']' };
/** Tokens looked at for the name of the block that a brace opens: the head of a function with some parameters. */
const LONGEST_HEAD = 60;
const NAMED = /^@{0,2}\w/u;

const UNTERMINATED = new Set<TokenType>([t.UnterminatedString, t.UnterminatedRawString, t.UnterminatedExpression]);

export interface Balanced {
  /** Significant tokens; every bracket has its partner (`match` on the opening one). */
  readonly tokens: t.DefinitionToken[];
  readonly diagnostics: readonly Diagnostic[];
  /** From an opening bracket that nobody closed to where it was taken to end: what else is wrong there follows from it. */
  readonly unclosedRegions: readonly Region[];
}

/**
 * Makes every bracket have a partner, so that the grammar can always skip to the end of a block: missing closing
 * brackets are added (without an image), superfluous ones dropped, and what is nested too deep becomes one token.
 */
export function balanceBrackets(file: SourceFile, all: readonly t.DefinitionToken[]): Balanced {
  return new Balancer(file).run(all);
}

class Balancer {
  readonly #file: string;
  readonly #text: string;
  readonly #tokens: t.DefinitionToken[] = [];
  readonly #diagnostics: Diagnostic[] = [];
  readonly #open: t.DefinitionToken[] = [];
  /** Where the last literal without an end began. */
  #unterminated = -1;
  /** Offset of the first token of the line. */
  #lineStart = 0;
  #indentation = 0;
  /** An opening brace whose closing one is indented otherwise: when one is missing, it is probably that of this block. */
  #suspect: t.DefinitionToken | undefined;
  /** Of every opening bracket: the indentation of its line, and its place among the tokens. */
  readonly #openings = new Map<t.DefinitionToken, { readonly indentation: number; readonly index: number }>();
  readonly #unclosedRegions: Region[] = [];
  /** How many brackets are open inside the part that is left out. */
  #tooDeep = 0;

  constructor(file: SourceFile) {
    this.#file = file.path;
    this.#text = file.text;
  }

  run(all: readonly t.DefinitionToken[]): Balanced {
    for (const token of all) {
      if (!t.isTrivia(token.tokenType)) this.#take(token);
    }
    this.#closeDownTo(0);
    return { tokens: this.#tokens, diagnostics: this.#diagnostics, unclosedRegions: this.#unclosedRegions };
  }

  #take(token: t.DefinitionToken): void {
    if (token.onNewLine) this.#beginLine(token);
    if (token.startsDeclaration === true) {
      this.#tooDeep = 0;
      this.#closeDownTo(0, token);
    }
    if (UNTERMINATED.has(token.tokenType)) this.#unterminated = token.startOffset;
    if (this.#tooDeep > 0) this.#skip(token);
    else if (CLOSER_OF.has(token.tokenType)) this.#opening(token);
    else if (CLOSERS.has(token.tokenType)) this.#closing(token);
    else this.#add(token);
    // A string without an end swallowed what closes the brackets of its line.
    if (token.tokenType === t.UnterminatedString) this.#closeLine();
  }

  #closeLine(): void {
    const isOfLine = (opener: t.DefinitionToken): boolean =>
      opener.startOffset >= this.#lineStart && opener.tokenType !== t.LeftBrace;
    const first = this.#open.findIndex(isOfLine);
    if (first >= 0) this.#closeDownTo(first);
  }

  #beginLine(token: t.DefinitionToken): void {
    this.#lineStart = token.startOffset;
    this.#indentation = token.startOffset - (this.#text.lastIndexOf('\n', token.startOffset) + 1);
  }

  #add(token: t.DefinitionToken): void {
    token.depth = this.#open.length;
    this.#tokens.push(token);
  }

  #skip(token: t.DefinitionToken): void {
    if (CLOSER_OF.has(token.tokenType)) this.#tooDeep += 1;
    else if (CLOSERS.has(token.tokenType)) this.#tooDeep -= 1;
  }

  #opening(token: t.DefinitionToken): void {
    if (this.#open.length < MAX_DEPTH) {
      this.#add(token);
      this.#open.push(token);
      this.#openings.set(token, { indentation: this.#indentation, index: this.#tokens.length - 1 });
      return;
    }
    this.#diagnostics.push(parseDiagnostic('parse/nesting-too-deep', this.#span(token), { limit: MAX_DEPTH }));
    this.#add({ ...token, tokenType: t.TooDeep, tokenTypeIdx: t.TooDeep.tokenTypeIdx ?? 0 });
    this.#tooDeep = 1;
  }

  #closing(token: t.DefinitionToken): void {
    const index = this.#open.findLastIndex((opener) => CLOSER_OF.get(opener.tokenType) === token.tokenType);
    if (index < 0) {
      const text = token.image;
      this.#diagnostics.push(parseDiagnostic('parse/unmatched-bracket', this.#span(token), { text }));
      return;
    }
    this.#closeDownTo(index + 1, token);
    this.#watchIndentation(token);
    this.#pair(token);
  }

  /**
   * Closes what nobody closed; one diagnostic for the innermost, since the others follow from the same mistake. `before`
   * is where it shows that a closing bracket is missing.
   */
  #closeDownTo(depth: number, before?: t.DefinitionToken): void {
    const innermost = this.#open.at(-1);
    if (innermost === undefined || this.#open.length <= depth) return;
    // An unclosed string or expression swallowed the closing bracket, and has a diagnostic of its own.
    const swallowed = this.#unterminated > innermost.startOffset;
    if (!swallowed) this.#reportUnclosed(innermost, before);
    const last = this.#tokens.at(-1);
    const at = last === undefined ? 0 : (last.endOffset ?? last.startOffset) + 1;
    if (innermost.image !== '{' && !swallowed) this.#unclosedRegions.push({ start: innermost.startOffset, end: at });
    while (this.#open.length > depth) this.#pair(virtualCloser(this.#open.at(-1), at));
  }

  #reportUnclosed(innermost: t.DefinitionToken, before: t.DefinitionToken | undefined): void {
    const isSuspect = innermost.image === '{' && (this.#suspect?.startOffset ?? 0) > innermost.startOffset;
    const culprit = isSuspect && this.#suspect !== undefined ? this.#suspect : innermost;
    const closer = CLOSER_TEXT[culprit.image] ?? '';
    const params = { text: culprit.image, owner: this.#ownerOf(culprit), closer };
    const message = `a "${closer}" is missing before this`;
    const related = before === undefined || isSuspect ? [] : [{ span: this.#span(before), message }];
    this.#diagnostics.push(parseDiagnostic('parse/unclosed-bracket', this.#span(culprit), params, related));
  }

  /** What the bracket belongs to, as it is written: `class "Person"`, `"options"`; the empty text when that is not clear. */
  #ownerOf(opener: t.DefinitionToken): string {
    const index = this.#openings.get(opener)?.index ?? 0;
    const before = this.#tokens[index - 1];
    if (opener.onNewLine || before === undefined || !NAMED.test(before.image)) return '';
    if (opener.image !== '{') return quoteSource(before.image);
    let first = index - 1;
    while (first > 0 && index - first < LONGEST_HEAD && this.#tokens[first]?.onNewLine === false) first -= 1;
    const [word, name] = [this.#tokens[first], this.#tokens[first + 1]];
    const isHead = word !== undefined && name !== undefined && t.KEYWORD_TYPES.has(word.image) && name !== opener;
    return isHead && NAMED.test(name.image) ? `${word.image} ${quoteSource(name.image)}` : quoteSource(before.image);
  }

  #pair(closer: t.DefinitionToken): void {
    const opener = this.#open.pop();
    if (opener !== undefined) opener.match = this.#tokens.length;
    this.#add(closer);
  }

  /** Looks for a closing brace at the beginning of a line that is not indented like the line of its opening one. */
  #watchIndentation(closer: t.DefinitionToken): void {
    const opener = this.#open.at(-1);
    if (this.#open.length === 1) this.#suspectIsOver(closer);
    if (opener === undefined || !closer.onNewLine || this.#suspect !== undefined) return;
    const expected = this.#openings.get(opener)?.indentation;
    if (expected !== undefined && expected !== this.#indentation) this.#suspect = opener;
  }

  /** A block that closed as it should clears the blocks inside of it. */
  #suspectIsOver(closer: t.DefinitionToken): void {
    if (closer.onNewLine && this.#indentation === this.#openings.get(this.#open[0] ?? closer)?.indentation)
      this.#suspect = undefined;
  }

  #span(token: t.DefinitionToken): { file: string; start: number; end: number } {
    return { file: this.#file, start: token.startOffset, end: token.startOffset + token.image.length };
  }
}

function virtualCloser(opener: t.DefinitionToken | undefined, at: number): t.DefinitionToken {
  const type = CLOSER_OF.get(opener?.tokenType ?? t.LeftBrace) ?? t.RightBrace;
  return {
    image: '',
    startOffset: at,
    endOffset: at - 1,
    tokenType: type,
    tokenTypeIdx: type.tokenTypeIdx ?? 0,
    onNewLine: true,
    depth: 0,
  };
}

/** A part of a text, `end` exclusive. */
export interface Region {
  readonly start: number;
  readonly end: number;
}

/** Answers whether an offset lies in one of many regions, by binary search. */
export class Regions {
  readonly #starts: number[] = [];
  /** The furthest end of the regions up to each one. */
  readonly #ends: number[] = [];

  constructor(regions: readonly Region[]) {
    let furthest = 0;
    for (const { start, end } of regions.toSorted((a, b) => a.start - b.start)) {
      furthest = Math.max(furthest, end);
      this.#starts.push(start);
      this.#ends.push(furthest);
    }
  }

  covers(offset: number): boolean {
    let low = 0;
    let high = this.#starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#starts[middle] ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    return offset < (this.#ends[low - 1] ?? 0);
  }
}

/** A word that stands alone on its line, indented less than the next line. */
interface LoneKey {
  readonly token: t.DefinitionToken;
  readonly indentation: number;
}

/**
 * Keys behind which an opening brace is missing: alone on their line, followed by deeper lines, and then by a closing
 * brace that is indented like the key. Only for a file in which a closing brace has no partner.
 */
export function keysWithoutBrace(text: string, all: readonly t.DefinitionToken[]): readonly t.DefinitionToken[] {
  const lines = linesOf(all);
  const found: t.DefinitionToken[] = [];
  let open: LoneKey[] = [];
  for (const [index, [first, ...others]] of lines.entries()) {
    if (first === undefined) continue;
    const indentation = indentationOf(text, first);
    const closed = first.tokenType === t.RightBrace ? open.find((key) => key.indentation === indentation) : undefined;
    if (closed !== undefined) found.push(closed.token);
    open = open.filter((key) => key.indentation < indentation);
    const next = lines[index + 1]?.[0];
    const isAlone = others.length === 0 && (first.tokenType === t.Identifier || t.KEYWORD_TYPES.has(first.image));
    if (
      isAlone &&
      next !== undefined &&
      indentation > 0 &&
      beginsEntry(next) &&
      indentationOf(text, next) > indentation
    ) {
      open.push({ token: first, indentation });
    }
  }
  return found;
}

function linesOf(all: readonly t.DefinitionToken[]): readonly (readonly t.DefinitionToken[])[] {
  const lines: t.DefinitionToken[][] = [];
  for (const token of all) {
    if (t.isTrivia(token.tokenType)) continue;
    if (token.onNewLine || lines.length === 0) lines.push([]);
    lines.at(-1)?.push(token);
  }
  return lines;
}

function beginsEntry({ tokenType, image }: t.DefinitionToken): boolean {
  return tokenType === t.Identifier || tokenType === t.QuotedString || t.KEYWORD_TYPES.has(image);
}

function indentationOf(text: string, token: t.DefinitionToken): number {
  return token.startOffset - (text.lastIndexOf('\n', token.startOffset) + 1);
}
