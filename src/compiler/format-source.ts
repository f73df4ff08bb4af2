import * as t from './1-parse/tokens.ts';
import { MAP_WORDS, tokenize } from './1-parse/tokenize.ts';

const INDENT = '  ';
const OPENERS = new Set([t.LeftBrace, t.LeftBracket, t.LeftParenthesis]);
const CLOSERS = new Set([t.RightBrace, t.RightBracket, t.RightParenthesis]);
const LINE_COMMENTS = new Set([t.LineComment, t.DocComment]);

/**
 * Formats the text of a definition file: indents by two spaces per bracket, keeps at most one empty line, removes white
 * space at the ends of lines, puts one space or none between tokens, and puts the content of a multi-line block on lines
 * of its own. Changes only white space: keeps other line breaks, the content of strings and prompts, and code. The text must have
 * no syntax errors, so that its brackets are balanced.
 */
export function formatSource(text: string): string {
  return new Formatter(text).run();
}

class Formatter {
  readonly #tokens: readonly t.DefinitionToken[];
  readonly #lineBreak: string;
  /** Braces of multi-line blocks, whose content is on lines of its own. */
  readonly #multiLineBraces: ReadonlySet<t.DefinitionToken>;
  #result = '';
  #depth = 0;
  /** The outermost open bracket: the parenthesis of a parameter list, or the brace of a block. */
  #outermost: t.DefinitionToken | undefined;
  /** The word that began the current definition. */
  #declaration = '';
  /** The number of open brackets at the start of the surrounding `type_builder`, which contains definitions. */
  #builderDepth = Infinity;
  #angles = 0;
  /** White space after the last written token. */
  #space = '';
  #previous: t.DefinitionToken | undefined;

  constructor(text: string) {
    this.#tokens = tokenize(text);
    this.#multiLineBraces = multiLineBraces(this.#tokens);
    this.#lineBreak = text.includes('\r\n') ? '\r\n' : '\n';
  }

  run(): string {
    for (const token of this.#tokens) {
      if (token.tokenType === t.WhiteSpace) this.#space = token.image;
      else this.#write(token);
    }
    return this.#result === '' ? '' : `${this.#result}${this.#lineBreak}`;
  }

  #write(token: t.DefinitionToken): void {
    if (this.#depth === 0 && t.isDeclarationWord(token)) this.#begin(token);
    if (this.#previous !== undefined) this.#result += this.#gap(this.#previous, token);
    this.#follow(token);
    this.#result += LINE_COMMENTS.has(token.tokenType) ? token.image.trimEnd() : token.image;
    this.#previous = token;
    this.#space = '';
  }

  /** A word begins a definition at the start of a line, or after a block that closes on the same line. */
  #begin(token: t.DefinitionToken): void {
    const before = this.#previous;
    if (token.onNewLine || before === undefined || before.tokenType === t.RightBrace) this.#declaration = token.image;
  }

  #follow(token: t.DefinitionToken): void {
    const { tokenType } = token;
    if (tokenType === t.LeftBrace && this.#previous?.tokenType === t.TypeBuilderKeyword)
      this.#builderDepth = this.#depth;
    if (OPENERS.has(tokenType) && this.#depth === 0) this.#outermost = token;
    if (OPENERS.has(tokenType)) this.#depth += 1;
    if (CLOSERS.has(tokenType)) this.#depth = Math.max(0, this.#depth - 1);
    if (this.#depth <= this.#builderDepth && tokenType === t.RightBrace) this.#builderDepth = Infinity;
    const opensAngle = tokenType === t.Less && ['map', 'client'].includes(this.#previous?.image ?? '');
    if (opensAngle) this.#angles += 1;
    else if (tokenType === t.Greater) this.#angles = Math.max(0, this.#angles - 1);
  }

  #gap(previous: t.DefinitionToken, next: t.DefinitionToken): string {
    if (next.tokenType === t.Code) return this.#space;
    const opens = previous.tokenType === t.LeftBrace && this.#multiLineBraces.has(previous);
    const isEdge = opens || (next.tokenType === t.RightBrace && this.#multiLineBraces.has(next));
    const breaks = this.#space.split('\n').length - 1 || Number(isEdge && !LINE_COMMENTS.has(next.tokenType));
    if (breaks === 0) return this.#spaceInLine(previous, next);
    const keepsEmptyLine = breaks > 1 && !OPENERS.has(previous.tokenType) && !CLOSERS.has(next.tokenType);
    const indentation = INDENT.repeat(Math.max(0, this.#depth + shiftOf(next)));
    return `${this.#lineBreak.repeat(keepsEmptyLine ? 2 : 1)}${indentation}`;
  }

  #spaceInLine(previous: t.DefinitionToken, next: t.DefinitionToken): string {
    const inBlock = this.#depth > 0 && this.#outermost?.tokenType === t.LeftBrace;
    const inMap = inBlock && MAP_WORDS.has(this.#declaration) && this.#depth <= this.#builderDepth;
    const opensAngle = next.tokenType === t.Less && ['map', 'client'].includes(previous.image);
    const inAngles = this.#angles > 0 || opensAngle;
    return spaceBetween({ previous, next, spaced: this.#space !== '', inMap, depth: this.#depth, inAngles });
  }
}

function multiLineBraces(tokens: readonly t.DefinitionToken[]): ReadonlySet<t.DefinitionToken> {
  const braces = new Set<t.DefinitionToken>();
  const open: t.DefinitionToken[] = [];
  let lastBreak = -1;
  for (const token of tokens) {
    if (token.tokenType === t.WhiteSpace && token.image.includes('\n')) lastBreak = token.startOffset;
    if (token.tokenType === t.LeftBrace) open.push(token);
    const opener = token.tokenType === t.RightBrace ? open.pop() : undefined;
    if (opener !== undefined && opener.startOffset < lastBreak) braces.add(opener).add(token);
  }
  return braces;
}

/**
 * A closing bracket aligns with the line of its opening one; attributes and members of a union continue the line above.
 */
function shiftOf(token: t.DefinitionToken): number {
  if (CLOSERS.has(token.tokenType)) return -1;
  const continues = token.tokenType === t.Pipe || (token.tokenType === t.Attribute && !token.image.startsWith('@@'));
  return continues ? 1 : 0;
}

/** Two adjacent tokens on one line, with their surroundings. */
interface Neighbours {
  readonly previous: t.DefinitionToken;
  readonly next: t.DefinitionToken;
  /** The source has white space between them. */
  readonly spaced: boolean;
  /** The surrounding block contains keys and values, not names and types. */
  readonly inMap: boolean;
  /** The number of open brackets. */
  readonly depth: number;
  /** The tokens are inside `map<…>` or `client<…>`, or are its brackets. */
  readonly inAngles: boolean;
}

const COMMENTS = new Set<t.DefinitionToken['tokenType']>([t.LineComment, t.DocComment, t.BlockComment]);
const BRACES = new Set<t.DefinitionToken['tokenType']>([t.LeftBrace, t.RightBrace]);
const NONE_BEFORE = new Set<t.DefinitionToken['tokenType']>([
  t.Comma,
  t.Colon,
  t.Semicolon,
  t.RightParenthesis,
  t.RightBracket,
]);
const NONE_AFTER = new Set<t.DefinitionToken['tokenType']>([t.LeftParenthesis, t.LeftBracket]);
const ONE_AROUND = new Set<t.DefinitionToken['tokenType']>([t.Pipe, t.Arrow, t.Equals]);
const ONE_AFTER = new Set<t.DefinitionToken['tokenType']>([t.Comma, t.Colon]);

/** Returns one space or none. */
function spaceBetween(neighbours: Neighbours): '' | ' ' {
  const { previous, next, spaced } = neighbours;
  if (COMMENTS.has(next.tokenType) || COMMENTS.has(previous.tokenType)) return ' ';
  if (previous.tokenType === t.LeftBrace && next.tokenType === t.RightBrace) return '';
  if (NONE_BEFORE.has(next.tokenType) || NONE_AFTER.has(previous.tokenType)) return '';
  if (BRACES.has(next.tokenType) || BRACES.has(previous.tokenType)) return ' ';
  if (ONE_AROUND.has(next.tokenType) || ONE_AROUND.has(previous.tokenType)) return ' ';
  if (ONE_AFTER.has(previous.tokenType)) return ' ';
  if (next.tokenType === t.LeftParenthesis) return beforeParenthesis(neighbours);
  if (next.tokenType === t.LeftBracket) return neighbours.inMap ? ' ' : '';
  if (!neighbours.inMap && isTight(neighbours)) return '';
  return spaced || next.tokenType === t.RawString || next.tokenType === t.Attribute ? ' ' : '';
}

/** `F(`, `@alias(`, but `field (A | B)`. */
function beforeParenthesis({ previous, spaced, depth }: Neighbours): '' | ' ' {
  if (previous.tokenType === t.Attribute || depth === 0) return '';
  return spaced ? ' ' : '';
}

/** `T?`, and the brackets of `map<K, V>`. */
function isTight({ previous, next, inAngles }: Neighbours): boolean {
  if (next.tokenType === t.Question) return true;
  return inAngles && (previous.tokenType === t.Less || next.tokenType === t.Less || next.tokenType === t.Greater);
}
