import type { TokenType, IRecognitionException } from 'chevrotain';
import * as t from './tokens.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { type SourceFile, countUpTo } from '../../diagnostics/source-file.ts';
import { NO_REQUIRED_MARK, parseDiagnostic } from '../../diagnostics/catalogue/parse.ts';
import type { DocumentNode, DeclarationNode } from './syntax-nodes.ts';
import { DefinitionGrammar } from './definition-grammar.ts';
import { laterLanguage, withLanguageNote } from './other-languages.ts';
import { tokenize } from './tokenize.ts';
import { quoteToken, type DefinitionToken } from './tokens.ts';

/** Deeper than definitions that people write, and shallow enough for a recursive grammar. */
const MAX_DEPTH = 64;

const CLOSER_OF = new Map<TokenType, TokenType>([
  [t.LeftBrace, t.RightBrace],
  [t.LeftParenthesis, t.RightParenthesis],
  [t.LeftBracket, t.RightBracket],
]);
const CLOSERS = new Set<TokenType>(CLOSER_OF.values());

const CLOSER_TEXT: Readonly<Record<string, string>> = { '{': '}', '(': ')', '[': ']' };
/** The most tokens between the name of a block and its brace: enough for a function with several parameters. */
const LONGEST_HEAD = 60;
const NAMED = /^@{0,2}\w/u;

const UNTERMINATED = new Set<TokenType>([t.UnterminatedString, t.UnterminatedRawString, t.UnterminatedExpression]);

/** True for a literal without an end: the text after it can be a part of it. */
function isUnterminated({ tokenType }: t.DefinitionToken): boolean {
  return UNTERMINATED.has(tokenType);
}

interface Balanced {
  /** The tokens without trivia. Every bracket has a partner: `match` of the opening one. */
  readonly tokens: t.DefinitionToken[];
  readonly diagnostics: readonly Diagnostic[];
  /** From each unclosed bracket to its assumed end. Other problems in such a region are consequences. */
  readonly unclosedRegions: readonly Region[];
}

/**
 * Gives every bracket a partner, so that the grammar can always skip to the end of a block: adds missing closing brackets
 * (with an empty image), drops superfluous ones, and replaces brackets that are nested too deep by one token.
 */
function balanceBrackets(file: SourceFile, all: readonly t.DefinitionToken[]): Balanced {
  return new Balancer(file).run(all);
}

class Balancer {
  readonly #file: string;
  readonly #text: string;
  readonly #tokens: t.DefinitionToken[] = [];
  readonly #diagnostics: Diagnostic[] = [];
  readonly #open: t.DefinitionToken[] = [];
  /** Offset of the last unterminated literal. */
  #unterminated = -1;
  /** Offset of the first token of the line. */
  #lineStart = 0;
  #indentation = 0;
  /** An opening brace whose partner has another indentation: if a closing brace is missing, then probably its own. */
  #suspect: t.DefinitionToken | undefined;
  /** For each opening bracket, the indentation of its line and its index in `#tokens`. */
  readonly #openings = new Map<t.DefinitionToken, { readonly indentation: number; readonly index: number }>();
  readonly #unclosedRegions: Region[] = [];
  /** The number of open brackets inside the part that is too deep. */
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
    if (isUnterminated(token)) this.#unterminated = token.startOffset;
    if (this.#tooDeep > 0) this.#skip(token);
    else if (CLOSER_OF.has(token.tokenType)) this.#opening(token);
    else if (CLOSERS.has(token.tokenType)) this.#closing(token);
    else this.#add(token);
    // An unterminated string contains the closing brackets of its line.
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
    this.#compareIndentation(token);
    this.#pair(token);
  }

  /**
   * Closes open brackets down to a depth. Reports only the innermost one, because the others follow from the same mistake.
   * `before` is the token that reveals the missing bracket.
   */
  #closeDownTo(depth: number, before?: t.DefinitionToken): void {
    const innermost = this.#open.at(-1);
    if (innermost === undefined || this.#open.length <= depth) return;
    // An unterminated string or expression contains the closing bracket, and has its own diagnostic.
    const isInLiteral = this.#unterminated > innermost.startOffset;
    if (!isInLiteral) this.#reportUnclosed(innermost, before);
    const last = this.#tokens.at(-1);
    const at = last === undefined ? 0 : (last.endOffset ?? last.startOffset) + 1;
    if (innermost.image !== '{' && !isInLiteral) this.#unclosedRegions.push({ start: innermost.startOffset, end: at });
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

  /**
   * Returns the owner of a bracket for a message, such as `class "Person"` or `"options"`; an empty string if it is
   * unclear.
   */
  #ownerOf(opener: t.DefinitionToken): string {
    const index = this.#openings.get(opener)?.index ?? 0;
    const before = this.#tokens[index - 1];
    if (opener.onNewLine || before === undefined || !NAMED.test(before.image)) return '';
    if (opener.image !== '{') return t.quoteToken(before);
    let first = index - 1;
    while (first > 0 && index - first < LONGEST_HEAD && this.#tokens[first]?.onNewLine === false) first -= 1;
    const [word, name] = [this.#tokens[first], this.#tokens[first + 1]];
    const isHead = word !== undefined && name !== undefined && t.KEYWORD_TYPES.has(word.image) && name !== opener;
    return isHead && NAMED.test(name.image) ? `${word.image} ${t.quoteToken(name)}` : t.quoteToken(before);
  }

  #pair(closer: t.DefinitionToken): void {
    const opener = this.#open.pop();
    if (opener !== undefined) opener.match = this.#tokens.length;
    this.#add(closer);
  }

  /** Remembers the first block whose closing brace begins a line with another indentation than its opening line. */
  #compareIndentation(closer: t.DefinitionToken): void {
    const opener = this.#open.at(-1);
    if (this.#open.length === 1) this.#clearSuspect(closer);
    if (opener === undefined || !closer.onNewLine || this.#suspect !== undefined) return;
    const expected = this.#openings.get(opener)?.indentation;
    if (expected !== undefined && expected !== this.#indentation) this.#suspect = opener;
  }

  /** The correct indentation of an outermost block shows that no brace is missing inside it. */
  #clearSuspect(closer: t.DefinitionToken): void {
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

/** A word alone on its line, indented less than the next line. */
interface LoneKey {
  readonly token: t.DefinitionToken;
  readonly indentation: number;
}

/**
 * Finds keys without an opening brace: alone on their line, followed by deeper lines and a closing brace with the
 * indentation of the key. Only for files in which a closing brace has no partner.
 */
function keysWithoutBrace(text: string, all: readonly t.DefinitionToken[]): readonly t.DefinitionToken[] {
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

/**
 * Problems that are errors even in a block that the server does not run: either the end of the block is uncertain, so that a
 * definition after it could be lost, or the block requires another version.
 */
const ERRORS = new Set([
  'parse/unclosed-bracket',
  'parse/unmatched-bracket',
  'parse/missing-block',
  'parse/missing-brace',
  'parse/unterminated-raw-string',
  'check/version-mismatch',
]);

/** A range of offsets, `end` exclusive. */
interface Region {
  readonly start: number;
  readonly end: number;
}

/** Turns errors in `generator` and `test` blocks into warnings: the server runs neither. */
export function lenient(diagnostics: readonly Diagnostic[], documents: readonly DocumentNode[]): readonly Diagnostic[] {
  const inBlock = new Map(
    documents.map(({ file, blocksNotServed }) => [file.path, coverageOf(blocksNotServed)] as const),
  );
  return diagnostics.map((diagnostic) => {
    const { code, severity, span } = diagnostic;
    if (severity !== 'error' || ERRORS.has(code) || inBlock.get(span.file)?.(span.start) !== true) return diagnostic;
    return { ...diagnostic, severity: 'warning' };
  });
}

/** Returns a function that reports whether an offset is in one of the regions. */
function coverageOf(regions: readonly Region[]): (offset: number) => boolean {
  const sorted = regions.toSorted((a, b) => a.start - b.start);
  const starts = sorted.map(({ start }) => start);
  const furthestEnds: number[] = [];
  for (const { end } of sorted) furthestEnds.push(Math.max(end, furthestEnds.at(-1) ?? 0));
  return (offset) => offset < (furthestEnds[countUpTo(starts, offset) - 1] ?? 0);
}

/** One file after the first phase. */
export interface Parsed {
  readonly document: DocumentNode;
  readonly diagnostics: readonly Diagnostic[];
  /** False if a part is unreadable, even if that is only a warning because svc does not run the block. */
  readonly readable: boolean;
}

let grammar: DefinitionGrammar | undefined;

/** Parses one definition file. Returns a document of all readable parts, and a diagnostic for each mistake. Never throws. */
export function parse(file: SourceFile): Parsed {
  return parseAs('document', file);
}

/** Parses the content of a `type_builder`, as `parse` parses a file. */
export function parseTypes(file: SourceFile): Parsed {
  return parseAs('types', file);
}

function parseAs(what: 'document' | 'types', file: SourceFile): Parsed {
  // The analysis of the grammar takes tens of milliseconds, so it runs once, on first use.
  grammar ??= new DefinitionGrammar();
  const { tokens, diagnostics: brackets, unclosedRegions } = balanced(file);
  const later = laterLanguage(file, tokens);
  if (later !== undefined) {
    return { document: { file, declarations: [], blocksNotServed: [] }, diagnostics: [later], readable: false };
  }
  const declarations = grammar.read(what, file.path, tokens, brackets);
  const blocksNotServed = [...grammar.blocksNotServed];
  const syntax = grammar.errors.flatMap((error) => describe(error, file));
  const isConsequence = coverageOf(unclosedRegions);
  const reported = new Set(brackets.map(({ span }) => span.start));
  const found = [...grammar.diagnostics, ...syntax].filter(
    ({ span }) => !isConsequence(span.start) && !reported.has(span.start),
  );
  const diagnostics = [...withoutEndsOfMissingBlocks(brackets, found, declarations), ...found];
  const document = { file, declarations, blocksNotServed };
  // In a block that svc skips as a whole, a literal without an end has no diagnostic.
  const readable = diagnostics.every(({ severity }) => severity !== 'error') && !tokens.some(isUnterminated);
  return { document, diagnostics: lenient(withLanguageNote(diagnostics), [document]), readable };
}

/** Balances the brackets of a file, and adds a missing opening brace after a key. */
function balanced(file: SourceFile): Balanced {
  const all = tokenize(file.text);
  const first = balanceBrackets(file, all);
  if (!first.diagnostics.some(({ code }) => code === 'parse/unmatched-bracket')) return first;
  const keys = keysWithoutBrace(file.text, all);
  if (keys.length === 0) return first;
  const second = balanceBrackets(file, tokenize(file.text, new Set(keys.map((key) => key.startOffset))));
  const missing = keys.map(({ image, startOffset }) => {
    const span = { file: file.path, start: startOffset, end: startOffset + image.length };
    return parseDiagnostic('parse/missing-brace', span, { name: image });
  });
  const diagnostics = [...second.diagnostics, ...missing];
  return diagnostics.length > first.diagnostics.length ? first : { ...second, diagnostics };
}

/** Drops the diagnostic for the closing brace of a block whose opening brace is missing: it is the same mistake. */
function withoutEndsOfMissingBlocks(
  brackets: readonly Diagnostic[],
  found: readonly Diagnostic[],
  declarations: readonly DeclarationNode[],
): readonly Diagnostic[] {
  const headless = found.filter(({ code }) => code === 'parse/missing-block').map(({ span }) => span.start);
  if (headless.length === 0) return brackets;
  const heads = new Set(headless);
  const starts = [...headless, ...declarations.map(({ span }) => span.start)].toSorted((a, b) => a - b);
  return brackets.filter(({ code, span }) => {
    if (code !== 'parse/unmatched-bracket') return true;
    const before = starts[countUpTo(starts, span.start) - 1];
    return before === undefined || !heads.delete(before);
  });
}

function describe(error: IRecognitionException, file: SourceFile): readonly Diagnostic[] {
  const { token, message: expected } = error;
  const atEnd = Number.isNaN(token.startOffset);
  // An added bracket already has its own diagnostic.
  if (!atEnd && token.image === '') return [];
  // Points at the end of the line, where the punctuation mark is missing, and not at the next line.
  const { previousToken } = error as IRecognitionException & { readonly previousToken?: DefinitionToken };
  if (!atEnd && expected.startsWith('"') && previousToken?.endOffset !== undefined && isOnNewLine(token)) {
    const end = previousToken.endOffset + 1;
    const span = { file: file.path, start: end, end };
    return [parseDiagnostic('parse/unexpected-token', span, { expected, found: 'the end of the line' })];
  }
  const start = atEnd ? file.text.trimEnd().length : token.startOffset;
  const span = { file: file.path, start, end: atEnd ? start : start + token.image.length };
  const found = atEnd ? 'the end of the file' : quoteToken(token);
  const advice = token.image === '!' ? NO_REQUIRED_MARK : '';
  return [parseDiagnostic('parse/unexpected-token', span, { expected, found, advice })];
}

function isOnNewLine(token: object): boolean {
  return 'onNewLine' in token && token.onNewLine === true;
}
