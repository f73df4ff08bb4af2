/** A part of a definition file: UTF-16 offsets into its text, `end` exclusive. */
export interface Span {
  /** The file's path as the user named it (relative to the working directory). */
  readonly file: string;
  readonly start: number;
  readonly end: number;
}
