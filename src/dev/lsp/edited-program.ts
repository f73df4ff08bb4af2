import type { DocumentNode } from '../../compiler/1-parse/syntax-nodes.ts';
import { parse, type Parsed } from '../../compiler/1-parse/parse.ts';
import type { Analysis } from '../../compiler/2-check/check.ts';
import type { CompileOptions } from '../../compiler/compile-options.ts';
import { analyze, emitProgram } from '../../compiler/compile.ts';
import { type DefinitionSymbol, findSymbols } from '../../compiler/symbols.ts';
import { SourceFile } from '../../diagnostics/source-file.ts';
import type { Span } from '../../diagnostics/span.ts';
import { type DefinitionIndex, indexDefinitions, type Program } from '../../schema/program.ts';
import { touches } from './places.ts';

/** A place that means a symbol: its declaration or an occurrence. */
export interface SymbolPlace {
  readonly symbol: DefinitionSymbol;
  readonly span: Span;
}

/**
 * The definitions of one directory while someone edits them. It parses a file only when its text changes, and checks the whole program
 * when someone asks for a result after a change.
 */
export class EditedProgram {
  /** The definition directory; or the path of the only file. */
  readonly root: string;
  readonly options: CompileOptions;
  readonly #files: Map<string, Parsed>;
  /** By path: why a file cannot be read. */
  readonly #unreadable = new Map<string, string>();
  #analysis: Analysis | undefined;
  #definitions: DefinitionIndex | undefined;
  #symbols: readonly DefinitionSymbol[] | undefined;
  #places: Map<string, SymbolPlace[]> | undefined;

  constructor(root: string, options: CompileOptions, files: Iterable<readonly [string, Parsed]> = []) {
    this.root = root;
    this.options = options;
    this.#files = new Map(files);
  }

  get paths(): readonly string[] {
    return [...this.#files.keys(), ...this.#unreadable.keys()];
  }

  get unreadable(): ReadonlyMap<string, string> {
    return this.#unreadable;
  }

  /** Sets the text of a file. */
  update(path: string, text: string): void {
    if (this.#files.get(path)?.document.file.text === text) return;
    this.#unreadable.delete(path);
    this.#files.set(path, parse(new SourceFile(path, text)));
    this.#forget();
  }

  /** Takes a file out of the program, and keeps the reason why it cannot be read, if there is one. */
  remove(path: string, reason?: string): void {
    const known = this.#files.delete(path) || this.#unreadable.delete(path);
    if (reason !== undefined) this.#unreadable.set(path, reason);
    if (known || reason !== undefined) this.#forget();
  }

  #forget(): void {
    this.#analysis = undefined;
    this.#definitions = undefined;
    this.#symbols = undefined;
    this.#places = undefined;
  }

  /** The same program with other texts for some files. */
  withTexts(texts: ReadonlyMap<string, string>): EditedProgram {
    const changed = new EditedProgram(this.root, this.options, this.#files);
    for (const [path, text] of texts) changed.update(path, text);
    return changed;
  }

  parsed(path: string): Parsed | undefined {
    return this.#files.get(path);
  }

  document(path: string): DocumentNode | undefined {
    return this.#files.get(path)?.document;
  }

  file(path: string): SourceFile | undefined {
    return this.document(path)?.file;
  }

  analysis(): Analysis {
    this.#analysis ??= analyze(this.#sorted(), this.options);
    return this.#analysis;
  }

  /** The definitions by name, with placeholders for parts that have errors; empty if a type is too large to build. */
  definitions(): DefinitionIndex {
    this.#definitions ??= indexDefinitions(this.analysis().definitions ?? NOTHING);
    return this.#definitions;
  }

  /** The program as a server would run it; undefined if a diagnostic is an error. */
  program(): Program | undefined {
    const { definitions, diagnostics } = this.analysis();
    if (definitions === undefined || diagnostics.some(({ severity }) => severity === 'error')) return undefined;
    return emitProgram(
      definitions,
      this.#sorted().map(({ document }) => document.file),
      this.options,
    );
  }

  symbols(): readonly DefinitionSymbol[] {
    this.#symbols ??= findSymbols(this.analysis(), this.definitions());
    return this.#symbols;
  }

  /** Every place in a file that means a symbol. */
  placesIn(path: string): readonly SymbolPlace[] {
    this.#places ??= placesByFile(this.symbols());
    return this.#places.get(path) ?? [];
  }

  /** The symbols at an offset: several where a member belongs to several classes of a union. */
  symbolsAt(path: string, offset: number): readonly SymbolPlace[] {
    return this.placesIn(path).filter(({ span }) => touches(span, offset));
  }

  /** The order of the files decides which of two declarations applies, so it is that of `readSources`. */
  #sorted(): readonly Parsed[] {
    const paths = [...this.#files.keys()].toSorted();
    return paths.flatMap((path) => this.#files.get(path) ?? []);
  }
}

const NOTHING = {
  classes: [],
  enums: [],
  aliases: [],
  functions: [],
  templateStrings: [],
  clients: [],
  retryPolicies: [],
};

function placesByFile(symbols: readonly DefinitionSymbol[]): Map<string, SymbolPlace[]> {
  const places = new Map<string, SymbolPlace[]>();
  for (const symbol of symbols) {
    for (const span of [symbol.declaration, ...symbol.occurrences]) {
      const known = places.get(span.file);
      if (known === undefined) places.set(span.file, [{ symbol, span }]);
      else known.push({ symbol, span });
    }
  }
  return places;
}
