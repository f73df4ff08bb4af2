import type { Diagnostic } from '../diagnostic.ts';
import type { Position, SourceFile } from '../source-file.ts';
import type { Span } from '../span.ts';

/** The input of every report format. */
export interface ReportInput {
  readonly diagnostics: readonly Diagnostic[];
  /** Includes every file to which a span of the diagnostics refers. */
  readonly files: readonly SourceFile[];
}

/** Finds the file of a span, and the positions of its ends. */
export class SpanLocator {
  readonly #files: ReadonlyMap<string, SourceFile>;

  constructor(files: readonly SourceFile[]) {
    this.#files = new Map(files.map((file) => [file.path, file]));
  }

  file(span: Span): SourceFile | undefined {
    return this.#files.get(span.file);
  }

  /** Returns the beginning of the file if it is not among the files. */
  range(span: Span): { readonly start: Position; readonly end: Position } {
    const file = this.file(span);
    const first = { line: 1, column: 1 };
    return { start: file?.positionAt(span.start) ?? first, end: file?.positionAt(span.end) ?? first };
  }
}
