import { rowBytes, type CallRow } from '../calls/call-rows.ts';
import type { WorkerMessage } from './protocol.ts';

/** A worker that is killed loses the calls of this time. */
const FLUSH_MS = 200;

/** As many at once, however little time has passed. */
const FLUSH_BYTES = 256 * 2 ** 10;

/** Calls that wait for the primary, in bytes. Those beyond are not kept. */
const MOST_BYTES = 16 * 2 ** 20;

/** Kept calls on their way from a worker to the primary: one message for many. */
export class CallOutbox {
  readonly #send: (message: WorkerMessage, sent: () => void) => void;
  #rows: CallRow[] = [];
  #bytes = 0;
  #onTheWay = 0;
  #dropped = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `send` calls `sent` once the message has left the process. */
  constructor(send: (message: WorkerMessage, sent: () => void) => void) {
    this.#send = send;
  }

  add(row: CallRow): void {
    const bytes = rowBytes(row);
    if (this.#bytes + this.#onTheWay + bytes > MOST_BYTES) {
      this.#dropped += 1;
      return;
    }
    this.#rows.push(row);
    this.#bytes += bytes;
    if (this.#bytes >= FLUSH_BYTES) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), FLUSH_MS).unref();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#rows.length === 0 && this.#dropped === 0) return;
    const bytes = this.#bytes;
    this.#onTheWay += bytes;
    this.#send({ type: 'keep-calls', rows: this.#rows, dropped: this.#dropped }, () => (this.#onTheWay -= bytes));
    this.#rows = [];
    this.#bytes = 0;
    this.#dropped = 0;
  }
}
