import type { Diagnostic } from '../diagnostic.ts';
import type { Position, SourceFile } from '../source-file.ts';
import type { Span } from '../span.ts';

/** What every format is made from. */
export interface ReportInput {
  readonly diagnostics: readonly Diagnostic[];
  /** All files that a span of the diagnostics is in. */
  readonly files: readonly SourceFile[];
}

export interface Place {
  readonly start: Position;
  readonly end: Position;
}

/** Finds files by path, and places by span. */
export class Places {
  readonly #files: ReadonlyMap<string, SourceFile>;

  constructor(files: readonly SourceFile[]) {
    this.#files = new Map(files.map((file) => [file.path, file]));
  }

  file(span: Span): SourceFile | undefined {
    return this.#files.get(span.file);
  }

  /** The beginning of the file when it is not among the files. */
  place(span: Span): Place {
    const file = this.file(span);
    const first = { line: 1, column: 1 };
    return { start: file?.positionAt(span.start) ?? first, end: file?.positionAt(span.end) ?? first };
  }
}
