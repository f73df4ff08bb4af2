import type { CompileOptions } from '../../../src/compiler/compile-options.ts';
import { EditedProgram } from '../../../src/dev/lsp/edited-program.ts';
import { offsetAt } from '../../../src/dev/lsp/places.ts';
import { Workspace } from '../../../src/dev/lsp/workspace.ts';

export const OPTIONS: CompileOptions = { version: '0.1.0', versionCheck: true, beta: false, apiKey: false };

/** Marks the cursor in the texts of these tests. */
const CURSOR = '‸';

const FOLDER = '/project/svc_src';

/** The path of a file of the sample program. */
export function at(name: string): string {
  return `${FOLDER}/${name}`;
}

/** A program of these files, by name; one of them can contain the cursor mark `‸`. */
export function edited(files: Readonly<Record<string, string>>): {
  readonly program: EditedProgram;
  readonly path: string;
  readonly offset: number;
} {
  const program = new EditedProgram(FOLDER, OPTIONS);
  let cursor = { path: '', offset: -1 };
  for (const [name, text] of Object.entries(files)) {
    const offset = text.indexOf(CURSOR);
    if (offset >= 0) cursor = { path: at(name), offset };
    program.update(at(name), text.replace(CURSOR, ''));
  }
  return { program, ...cursor };
}

/** An editor without folders: the URIs of its files are their paths. */
export const workspace = new Workspace(OPTIONS);

interface Edit {
  readonly range: {
    readonly start: { readonly line: number; readonly character: number };
    readonly end: { readonly line: number; readonly character: number };
  };
  readonly newText: string;
}

/** The text of a file after edits. */
export function applied(program: EditedProgram, path: string, edits: readonly Edit[]): string {
  const file = program.file(path);
  if (file === undefined) throw new Error(`there is no file ${path}`);
  let { text } = file;
  const offsets = edits.map(
    ({ range, newText }) => [offsetAt(file, range.start), offsetAt(file, range.end), newText] as const,
  );
  for (const [start, end, newText] of offsets.toSorted((a, b) => b[0] - a[0]))
    text = text.slice(0, start) + newText + text.slice(end);
  return text;
}
