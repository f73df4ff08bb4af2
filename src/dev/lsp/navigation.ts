import { type Location, type Range, type WorkspaceEdit, type TextEdit } from 'vscode-languageserver/node';
import type { DefinitionSymbol } from '../../compiler/symbols.ts';
import { withFixes, type Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Span } from '../../diagnostics/span.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { EditedProgram, SymbolPlace } from './edited-program.ts';
import { rangeOf } from './places.ts';
import type { FilePlace, Workspace } from './workspace.ts';

export function locationOf(workspace: Workspace, program: EditedProgram, span: Span): Location | undefined {
  const file = program.file(span.file);
  return file && { uri: workspace.uriOf(span.file), range: rangeOf(file, span) };
}

export function definitionsAt(workspace: Workspace, { program, path, offset }: FilePlace): readonly Location[] {
  const symbols = program.symbolsAt(path, offset);
  return symbols.flatMap(({ symbol }) => locationOf(workspace, program, symbol.declaration) ?? []);
}

export function referencesAt(
  workspace: Workspace,
  { program, path, offset }: FilePlace,
  withDeclaration: boolean,
): readonly Location[] {
  return program
    .symbolsAt(path, offset)
    .flatMap(({ symbol }) => [...(withDeclaration ? [symbol.declaration] : []), ...symbol.occurrences])
    .flatMap((span) => locationOf(workspace, program, span) ?? []);
}

// --- rename ----------------------------------------------------------------------------------------------------------

/** Returns the name to rename, or why it cannot be renamed. */
export function renamedAt({
  program,
  path,
  offset,
}: FilePlace): Result<SymbolPlace & { readonly range: Range }, string> {
  const [place, ...others] = program.symbolsAt(path, offset);
  const file = program.file(path);
  if (place === undefined || file === undefined) return err('There is no name to rename here.');
  if (others.length > 0) {
    const owners = [place, ...others].map(({ symbol }) => `"${symbol.owner ?? symbol.name}"`).join(' and ');
    return err(`The name belongs to ${owners}: rename it in their declarations.`);
  }
  return ok({ ...place, range: rangeOf(file, place.span) });
}

const IDENTIFIER = /^[A-Za-z_]\w*$/u;

/**
 * Returns the edits that rename the symbol at a place. Refuses a name with which the definitions would have another error, or another
 * meaning: it checks the renamed program and compares.
 */
export function renameAt(workspace: Workspace, cursor: FilePlace, newName: string): Result<WorkspaceEdit, string> {
  const found = renamedAt(cursor);
  if (!found.ok) return found;
  const { symbol } = found.value;
  if (!IDENTIFIER.test(newName)) {
    return err(
      `"${newName}" is not a name: use letters, digits and underscores, and begin with a letter or an underscore.`,
    );
  }
  if (newName === symbol.name) return ok({ changes: {} });
  const spans = [symbol.declaration, ...symbol.occurrences];
  const problem = problemOfRename(cursor.program, symbol, newName);
  if (problem !== undefined) return err(problem);
  const changes: Record<string, TextEdit[]> = {};
  for (const [path, ofFile] of byFile(spans)) {
    const file = cursor.program.file(path);
    if (file !== undefined)
      changes[workspace.uriOf(path)] = ofFile.map((span) => ({ range: rangeOf(file, span), newText: newName }));
  }
  return ok({ changes });
}

/** Returns the first error that the renamed program has and this one has not, or the conflict of the name with another one. */
function problemOfRename(program: EditedProgram, symbol: DefinitionSymbol, newName: string): string | undefined {
  const { declaration } = symbol;
  const spans = [declaration, ...symbol.occurrences];
  const texts = new Map<string, string>();
  for (const [path, ofFile] of byFile(spans))
    texts.set(
      path,
      withFixes(
        program.file(path)?.text ?? '',
        ofFile.map((span) => ({ span, text: newName })),
      ),
    );
  const renamed = program.withTexts(texts);
  const before = new Set(program.analysis().diagnostics.map((each) => problemKey(each, symbol.name, newName)));
  // In a test, a duplicate is only a warning.
  const added = renamed
    .analysis()
    .diagnostics.filter(({ severity, code }) => severity === 'error' || code.includes('duplicate'))
    .filter((each) => !before.has(problemKey(each, symbol.name, newName)));
  const problem = added.find(({ message }) => message.includes(newName)) ?? added[0];
  if (problem !== undefined) return problem.message;
  const shift = shiftAt(spans, declaration, newName);
  const moved = renamed.symbolsAt(declaration.file, declaration.start + shift)[0]?.symbol;
  if (moved?.occurrences.length === symbol.occurrences.length) return undefined;
  return `"${newName}" already means something else in a place where "${symbol.name}" is used.`;
}

/** The same for a problem before and after a rename. A message can have the name as a word of its own too: "a", "missing". */
function problemKey({ code, message }: Diagnostic, oldName: string, newName: string): string {
  const words = message.replaceAll(/[\p{L}\p{N}_]+/gu, (word) => (word === oldName ? newName : word));
  return `${code} ${words}`;
}

/** How far the edits before a span move it. */
function shiftAt(spans: readonly Span[], { file, start }: Span, newName: string): number {
  const before = spans.filter((span) => span.file === file && span.start < start);
  return before.reduce((sum, span) => sum + newName.length - (span.end - span.start), 0);
}

function byFile(spans: readonly Span[]): ReadonlyMap<string, readonly Span[]> {
  const files = new Map<string, Span[]>();
  for (const span of spans) files.set(span.file, [...(files.get(span.file) ?? []), span]);
  return files;
}
