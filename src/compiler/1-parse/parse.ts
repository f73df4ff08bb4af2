import type { IRecognitionException } from 'chevrotain';
import { parseDiagnostic } from '../../diagnostics/catalogue/parse.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { SourceFile } from '../../diagnostics/source-file.ts';
import { balanceBrackets, keysWithoutBrace, Regions, type Balanced } from './balance-brackets.ts';
import { DefinitionGrammar } from './definition-grammar.ts';
import { quoteSource } from './quote-source.ts';
import type { DeclarationNode, DocumentNode } from './syntax-nodes.ts';
import { tokenize } from './tokenize.ts';
import type { DefinitionToken } from './tokens.ts';

export interface Parsed {
  readonly document: DocumentNode;
  readonly diagnostics: readonly Diagnostic[];
}

let grammar: DefinitionGrammar | undefined;

/** Reads one definition file. Always gives a document, of what could be read, and a diagnostic for each mistake. Never throws. */
export function parse(file: SourceFile): Parsed {
  // Analysing the grammar takes tens of milliseconds: once, and only when something is compiled.
  grammar ??= new DefinitionGrammar();
  const { tokens, diagnostics: brackets, unclosedRegions } = balanced(file);
  const declarations = grammar.parseDocument(file.path, tokens, brackets);
  const syntax = grammar.errors.flatMap((error) => describe(error, file));
  const cascades = new Regions(unclosedRegions);
  const told = new Set(brackets.map(({ span }) => span.start));
  const found = [...grammar.diagnostics, ...syntax].filter(
    ({ span }) => !cascades.covers(span.start) && !told.has(span.start),
  );
  const diagnostics = [...withoutEndsOfMissingBlocks(brackets, found, declarations), ...found];
  return { document: { file, declarations }, diagnostics };
}

/** The tokens with partners for all brackets; also for a closing brace whose opening one is missing behind a key. */
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

/** Where the brace that opens a block is missing, the one that closes it is no second mistake. */
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

/** How many of the ascending numbers are at most `limit`. */
function countUpTo(numbers: readonly number[], limit: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

function describe(error: IRecognitionException, file: SourceFile): readonly Diagnostic[] {
  const { token, message: expected } = error;
  const atEnd = Number.isNaN(token.startOffset);
  // A bracket that was added has its own diagnostic already.
  if (!atEnd && token.image === '') return [];
  // A punctuation mark that is missing at the end of a line is missing there, not on the next one.
  const { previousToken } = error as IRecognitionException & { readonly previousToken?: DefinitionToken };
  if (!atEnd && expected.startsWith('"') && previousToken?.endOffset !== undefined && isOnNewLine(token)) {
    const end = previousToken.endOffset + 1;
    const span = { file: file.path, start: end, end };
    return [parseDiagnostic('parse/unexpected-token', span, { expected, found: 'the end of the line' })];
  }
  const start = atEnd ? file.text.trimEnd().length : token.startOffset;
  const span = { file: file.path, start, end: atEnd ? start : start + token.image.length };
  const found = atEnd ? 'the end of the file' : quoteSource(token.image);
  return [parseDiagnostic('parse/unexpected-token', span, { expected, found })];
}

function isOnNewLine(token: object): boolean {
  return 'onNewLine' in token && token.onNewLine === true;
}
