import type { Piece, Segment, TextSink } from './segment.ts';
import { Special } from './value.ts';

/** Where a template writes. Text until the first segment is one string; after that the pieces are kept apart. */
export class Output implements TextSink {
  text = '';
  #pieces: Piece[] = [];
  #before = 0;

  get length(): number {
    return this.#before + this.text.length;
  }

  write(text: string): void {
    this.text += text;
  }

  mark(segment: Segment): void {
    if (this.text !== '') this.#pieces.push(this.text);
    this.#before += this.text.length + 1;
    this.text = '';
    this.#pieces.push(segment);
  }

  writePieces(pieces: readonly Piece[]): void {
    for (const piece of pieces) {
      if (typeof piece === 'string') this.text += piece;
      else this.mark(piece);
    }
  }

  /** Everything written so far, as a value: a plain string when there is no segment in it. */
  take(): string | RichText {
    if (this.#pieces.length === 0) return this.text;
    return new RichText(this.pieces());
  }

  pieces(): readonly Piece[] {
    return this.text === '' ? this.#pieces : [...this.#pieces, this.text];
  }
}

/** A text with segments in it, as what a macro returns that calls `_.role`. */
export class RichText extends Special {
  readonly kindName = 'string';
  readonly pieces: readonly Piece[];

  constructor(pieces: readonly Piece[]) {
    super();
    this.pieces = pieces;
  }

  override print(out: TextSink): void {
    out.writePieces(this.pieces);
  }

  /** The text alone. */
  plain(): string {
    return this.pieces.filter((piece) => typeof piece === 'string').join('');
  }

  /** Applies a change of text to each piece of text; segments stay where they are. */
  mapText(change: (text: string) => string): RichText {
    return new RichText(this.pieces.map((piece) => (typeof piece === 'string' ? change(piece) : piece)));
  }

  /** Changes the text before the first and after the last segment, each on its own. */
  mapEdges(first: (text: string) => string, last: (text: string) => string): RichText {
    const pieces = [...this.pieces];
    const head = pieces[0];
    if (typeof head === 'string') pieces[0] = first(head);
    const tail = pieces.at(-1);
    if (typeof tail === 'string') pieces[pieces.length - 1] = last(tail);
    return new RichText(pieces);
  }
}
