import type { IRecognitionException } from 'chevrotain';
import { parseDiagnostic } from '../../diagnostics/catalogue/parse.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { SourceFile } from '../../diagnostics/source-file.ts';
import { countUpTo } from '../../base/count-up-to.ts';
import { balanceBrackets, isUnterminated, keysWithoutBrace, type Balanced } from './balance-brackets.ts';
import { DefinitionGrammar } from './definition-grammar.ts';
import { laterLanguage, withLanguageNote } from './other-languages.ts';
import { coverageOf, lenient } from './lenient.ts';
import type { DeclarationNode, DocumentNode } from './syntax-nodes.ts';
import { tokenize } from './tokenize.ts';
import { quoteToken, type DefinitionToken } from './tokens.ts';

export interface Parsed {
  readonly document: DocumentNode;
  readonly diagnostics: readonly Diagnostic[];
  /** False if a part is unreadable, even if that is only a warning because svc does not run the block. */
  readonly readable: boolean;
}

let grammar: DefinitionGrammar | undefined;

/** Parses one definition file. Returns a document of all readable parts, and a diagnostic for each mistake. Never throws. */
export function parse(file: SourceFile): Parsed {
  return parseWith(file, (parser, tokens, brackets) => parser.parseDocument(file.path, tokens, brackets));
}

/** Parses the content of a `type_builder`, as `parse` parses a file. */
export function parseTypes(file: SourceFile): Parsed {
  return parseWith(file, (parser, tokens, brackets) => parser.parseTypes(file.path, tokens, brackets));
}

function parseWith(
  file: SourceFile,
  read: (
    parser: DefinitionGrammar,
    tokens: DefinitionToken[],
    brackets: readonly Diagnostic[],
  ) => readonly DeclarationNode[],
): Parsed {
  // The analysis of the grammar takes tens of milliseconds, so it runs once, on first use.
  grammar ??= new DefinitionGrammar();
  const { tokens, diagnostics: brackets, unclosedRegions } = balanced(file);
  const later = laterLanguage(file, tokens);
  if (later !== undefined) {
    return { document: { file, declarations: [], blocksNotServed: [] }, diagnostics: [later], readable: false };
  }
  const declarations = read(grammar, tokens, brackets);
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
  return [parseDiagnostic('parse/unexpected-token', span, { expected, found })];
}

function isOnNewLine(token: object): boolean {
  return 'onNewLine' in token && token.onNewLine === true;
}
