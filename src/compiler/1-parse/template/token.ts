/** One word of an expression. Offsets are into the template's text. */
export interface Token {
  readonly type: 'name' | 'string' | 'integer' | 'float' | 'operator' | 'end';
  /** The text as written; for a string its value, for `end` nothing. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** A piece of a template after whitespace control: text, or a tag with the tokens between its delimiters. */
export type Chunk = TextChunk | TagChunk;

export interface TextChunk {
  readonly kind: 'text';
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export interface TagChunk {
  readonly kind: 'print' | 'block';
  /** Always ends with a token of type `end`. */
  readonly tokens: readonly Token[];
  readonly start: number;
  readonly end: number;
}
