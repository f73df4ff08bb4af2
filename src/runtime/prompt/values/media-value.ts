import type { MediaPart } from '../../../schema/message.ts';
import type { TextSink } from './segment.ts';
import { Special } from './value.ts';

/** An image, audio, pdf or video: printing it puts the part itself into the prompt. */
export class MediaValue extends Special {
  readonly kindName = 'media';
  readonly part: MediaPart;

  constructor(part: MediaPart) {
    super();
    this.part = part;
  }

  override print(out: TextSink): void {
    out.mark({ kind: 'media', part: this.part });
  }
}
