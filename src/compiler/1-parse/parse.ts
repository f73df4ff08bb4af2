import type { IRecognitionException } from 'chevrotain';
import { parseDiagnostic } from '../../diagnostics/catalogue/parse.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { SourceFile } from '../../diagnostics/source-file.ts';
import { balanceBrackets } from './balance-brackets.ts';
import { DefinitionGrammar } from './definition-grammar.ts';
import { quoteText } from './quote-text.ts';
import { Regions } from './regions.ts';
import type { DocumentNode } from './syntax-nodes.ts';
import { tokenize } from './tokenize.ts';

export interface Parsed {
  readonly document: DocumentNode;
  readonly diagnostics: readonly Diagnostic[];
}

let grammar: DefinitionGrammar | undefined;

/** Reads one definition file. Always gives a document, of what could be read, and a diagnostic for each mistake. Never throws. */
export function parse(file: SourceFile): Parsed {
  // Analysing the grammar takes tens of milliseconds: once, and only when something is compiled.
  grammar ??= new DefinitionGrammar();
  const { tokens, diagnostics, unclosedRegions } = balanceBrackets(file, tokenize(file.text));
  const declarations = grammar.parseDocument(file.path, tokens);
  const syntax = grammar.errors.flatMap((error) => describe(error, file));
  const cascades = new Regions(unclosedRegions);
  const found = [...grammar.diagnostics, ...syntax].filter(({ span }) => !cascades.covers(span.start));
  return { document: { file, declarations }, diagnostics: [...diagnostics, ...found] };
}

function describe(error: IRecognitionException, file: SourceFile): readonly Diagnostic[] {
  const { token, message: expected } = error;
  const atEnd = Number.isNaN(token.startOffset);
  // A bracket that was added has its own diagnostic already.
  if (!atEnd && token.image === '') return [];
  const start = atEnd ? file.text.trimEnd().length : token.startOffset;
  const span = { file: file.path, start, end: atEnd ? start : start + token.image.length };
  const found = atEnd ? 'the end of the file' : quoteText(token.image);
  return [parseDiagnostic('parse/unexpected-token', span, { expected, found })];
}
