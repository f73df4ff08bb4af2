import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import type { CompileOptions } from '../../compiler/compile-options.ts';
import {
  DEFINITION_DIRECTORIES,
  definitionFilesUnder,
  isDefinitionFile,
  isIgnoredDirectory,
  readSource,
} from '../../compiler/read-sources.ts';
import { EditedProgram } from './edited-program.ts';
import { pathOf, uriOf } from './places.ts';

/** A document that the editor has open. Its text replaces that of its file. */
interface OpenDocument {
  /** As the client writes it. */
  readonly uri: string;
  readonly version: number;
  readonly text: string;
}

/** A file and the program that it belongs to. */
export interface FileOfProgram {
  readonly program: EditedProgram;
  readonly path: string;
}

/** A request about a place in a document. */
export interface FilePlace extends FileOfProgram {
  readonly offset: number;
}

/**
 * The programs in the folders of an editor: one for each `svc_src` and `baml_src`, and one for the other files of each folder. A file
 * outside of the folders belongs to the program of its definition directory, or else to one with the files next to it.
 */
export class Workspace {
  readonly #options: CompileOptions;
  readonly #folders = new Set<string>();
  readonly #open = new Map<string, OpenDocument>();
  readonly #programs = new Map<string, EditedProgram>();

  constructor(options: CompileOptions) {
    this.#options = options;
  }

  get programs(): Iterable<EditedProgram> {
    return this.#programs.values();
  }

  /** Returns the program of a document; undefined for one that the client has not opened and that is in no folder. */
  at(uri: string): FileOfProgram | undefined {
    const path = pathOf(uri);
    const program = this.#programs.get(this.#rootOf(path));
    return program?.parsed(path) === undefined ? undefined : { program, path };
  }

  /** The URI of a file as the client writes it. */
  uriOf(path: string): string {
    return this.#open.get(path)?.uri ?? uriOf(path);
  }

  versionOf(path: string): number | undefined {
    return this.#open.get(path)?.version;
  }

  /** The names of environment variables in the `.env.example` of a program, of its parent directory, or of its folder. */
  variablesOf({ root }: EditedProgram): readonly string[] {
    const folder = this.#folderOf(root);
    const directories = [root, dirname(root), ...(folder === undefined ? [] : [folder])];
    return [...new Set(directories)].flatMap(exampleVariables);
  }

  addFolder(uri: string): void {
    this.#folders.add(pathOf(uri));
    this.#reassign();
  }

  removeFolder(uri: string): void {
    this.#folders.delete(pathOf(uri));
    this.#reassign();
  }

  /** Opens a document, or changes its text. */
  edit(document: OpenDocument): void {
    const path = pathOf(document.uri);
    this.#open.set(path, document);
    const root = this.#rootOf(path);
    if (this.#programs.has(root)) this.#programOf(root).update(path, document.text);
    else this.#load(root);
  }

  close(uri: string): void {
    const path = pathOf(uri);
    this.#open.delete(path);
    const root = this.#rootOf(path);
    this.#read(this.#programOf(root), path);
    if (!this.#isInFolder(root) && !this.#surroundsFolder(root) && !this.#hasOpen(root)) this.#programs.delete(root);
  }

  #hasOpen(root: string): boolean {
    return [...this.#open.keys()].some((path) => this.#rootOf(path) === root);
  }

  #surroundsFolder(root: string): boolean {
    return [...this.#folders].some((folder) => folder.startsWith(`${root}${sep}`));
  }

  /** Reads the changed files again. If another path changed, it can be a directory: then finds the files that appeared or disappeared. */
  refresh(uris: readonly string[]): void {
    const paths = uris.map(pathOf);
    for (const path of paths.filter((each) => isDefinitionFile(each) && !this.#isIgnored(each))) {
      const root = this.#rootOf(path);
      if (this.#programs.has(root) || this.#isInFolder(root)) this.#read(this.#programOf(root), path);
    }
    if (!paths.every(isDefinitionFile)) this.#reconcile();
    this.#dropEmpty();
  }

  /** After a change of the folders, a file can belong to another program. */
  #reassign(): void {
    this.#programs.clear();
    this.#reconcile();
    for (const path of this.#open.keys()) this.#load(this.#rootOf(path));
  }

  #reconcile(): void {
    const roots = new Set([...this.#filesInFolders().map((path) => this.#rootOf(path)), ...this.#programs.keys()]);
    for (const root of roots) this.#load(root);
    this.#dropEmpty();
  }

  #dropEmpty(): void {
    for (const [root, program] of this.#programs) if (program.paths.length === 0) this.#programs.delete(root);
  }

  /** Adds the files of a program that it lacks, and removes those that are gone. */
  #load(root: string): void {
    const program = this.#programOf(root);
    const paths = new Set(this.#filesOf(root));
    for (const path of program.paths) if (!paths.has(path)) program.remove(path);
    for (const path of paths) {
      if (program.parsed(path) === undefined && !program.unreadable.has(path)) this.#read(program, path);
    }
  }

  #programOf(root: string): EditedProgram {
    const program = this.#programs.get(root) ?? new EditedProgram(root, this.#options);
    this.#programs.set(root, program);
    return program;
  }

  #read(program: EditedProgram, path: string): void {
    const open = this.#open.get(path);
    if (open !== undefined) return program.update(path, open.text);
    const read = isAbsolute(path) && isDefinitionFile(path) ? readSource(path) : undefined;
    const [file] = read?.ok === true ? read.value : [];
    if (file !== undefined) return program.update(path, file.text);
    // A file that does not exist is not a problem: it was deleted, or never saved.
    program.remove(path, read?.ok === false && existsSync(path) ? read.failure : undefined);
  }

  #filesInFolders(): readonly string[] {
    return [...this.#folders].flatMap(definitionFilesUnder);
  }

  /** The files of a program, on disk and in the editor. */
  #filesOf(root: string): readonly string[] {
    const open = [...this.#open.keys()].filter((path) => this.#rootOf(path) === root);
    const listed = this.#isInFolder(root) || isDefinitionDirectory(root) ? definitionFilesUnder(root) : siblings(root);
    return [...new Set([...listed.filter((path) => this.#rootOf(path) === root), ...open])];
  }

  /** True for a file in a directory such as `node_modules`, which programs do not contain. */
  #isIgnored(path: string): boolean {
    const folder = this.#folderOf(path) ?? this.#rootOf(path);
    const inside = relative(folder, dirname(path)).split(sep);
    return inside.some((name, index) => isIgnoredDirectory(name, join(folder, ...inside.slice(0, index))));
  }

  #isInFolder(path: string): boolean {
    return this.#folderOf(path) !== undefined;
  }

  #folderOf(path: string): string | undefined {
    return [...this.#folders].find((folder) => path === folder || path.startsWith(folder.replace(/[\\/]?$/u, sep)));
  }

  /** Returns the directory of the program of a file: its outermost definition directory in the folder, or else its innermost one. */
  #rootOf(path: string): string {
    if (!isAbsolute(path) || !isDefinitionFile(path)) return path;
    const folder = this.#folderOf(path);
    const inside = folder === undefined ? [] : relative(folder, dirname(path)).split(sep);
    const outermost = inside.findIndex((name) => DEFINITION_DIRECTORIES.includes(name));
    if (folder !== undefined && outermost >= 0) return join(folder, ...inside.slice(0, outermost + 1));
    return definitionDirectoryAbove(folder ?? dirname(path)) ?? folder ?? dirname(path);
  }
}

/** A name in a comment is that of an optional variable. */
const EXAMPLE_VARIABLE = /^[ \t]*#?[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)=/gmu;

function exampleVariables(directory: string): readonly string[] {
  try {
    const text = readFileSync(join(directory, '.env.example'), 'utf8');
    return [...text.matchAll(EXAMPLE_VARIABLE)].map(([, name = '']) => name);
  } catch {
    return [];
  }
}

function isDefinitionDirectory(path: string): boolean {
  return DEFINITION_DIRECTORIES.includes(basename(path));
}

function definitionDirectoryAbove(path: string): string | undefined {
  if (isDefinitionDirectory(path)) return path;
  return dirname(path) === path ? undefined : definitionDirectoryAbove(dirname(path));
}

/** The definition files in a directory that no folder of the editor contains, without those in directories inside it. */
function siblings(directory: string): readonly string[] {
  try {
    const names = isAbsolute(directory) ? readdirSync(directory) : [];
    return names.filter((name) => isDefinitionFile(name)).map((name) => join(directory, name));
  } catch {
    return [];
  }
}
