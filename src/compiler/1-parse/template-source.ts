/**
 * The text of a template as the engine sees it (a raw string without its delimiters, dedented and trimmed), with the
 * way back to the file.
 */
export interface TemplateSource {
  /** Path of the definition file. */
  readonly file: string;
  readonly text: string;
  /** Offset in the file of an offset in `text`; also for `text.length`. */
  toFileOffset(offset: number): number;
}
