import type { JsonObject } from '../../../base/json.ts';
import type { MediaPart } from '../../../schema/message.ts';

/** A boundary in a prompt. Segments are objects beside the text: no text can turn into one. */
export type Segment = RoleSegment | MediaSegment;

export interface RoleSegment {
  readonly kind: 'role';
  readonly role: string;
  readonly metadata: JsonObject;
}

export interface MediaSegment {
  readonly kind: 'media';
  readonly part: MediaPart;
}

export type Piece = string | Segment;

/** Where values print themselves. */
export interface TextSink {
  write(text: string): void;
  mark(segment: Segment): void;
  writePieces(pieces: readonly Piece[]): void;
}
