import type { ByteBudget } from '../../../base/byte-budget.ts';

/** Providers take 20 to 50 MB in one request. Here it takes several times its size: as base64, in the JSON, and as what is sent. */
const MAX_CALL_BYTES = 64 * 1024 * 1024;

/** What the calls of one process may hold together: four of the largest. Anyone who calls chooses how many URLs there are. */
export const INLINED_MEDIA_BYTES = 4 * MAX_CALL_BYTES;

/** Room for the media that one call sends inline, from their download to the end of the call. */
export class MediaRoom {
  readonly #ofAll: ByteBudget;
  #held = 0;
  #released = false;

  constructor(ofAll: ByteBudget) {
    this.#ofAll = ofAll;
  }

  /** Takes room for so many bytes more; says why there is none. */
  take(bytes: number): string | undefined {
    if (this.#released) return 'is not asked any more';
    if (this.#held + bytes > MAX_CALL_BYTES) {
      return `was given more than ${MAX_CALL_BYTES / 1024 / 1024} MiB of media to send inline`;
    }
    if (!this.#ofAll.take(bytes)) return 'was given media to send inline while there was no room for more of them';
    this.#held += bytes;
    return undefined;
  }

  /** The call is over. */
  release(): void {
    this.#released = true;
    this.#ofAll.give(this.#held);
    this.#held = 0;
  }
}
