import { packedCalls, packedRow, type CallRow } from '../calls/call-rows.ts';
import type { WorkerMessage } from './protocol.ts';

/** A worker that is killed loses the calls of this time. */
const FLUSH_MS = 200;

/** As many at once, however little time has passed. */
const FLUSH_LENGTH = 2 ** 20;

/** Calls that wait for the primary, in UTF-16 units. Those beyond are not kept. */
const MOST_LENGTH = 16 * 2 ** 20;

/** Kept calls on their way from a worker to the primary: one message for many. */
export class CallOutbox {
  readonly #send: (message: WorkerMessage, sent: () => void) => void;
  #rows: string[] = [];
  #length = 0;
  #onTheWay = 0;
  #dropped = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `send` calls `sent` once the message has left the process. */
  constructor(send: (message: WorkerMessage, sent: () => void) => void) {
    this.#send = send;
  }

  add(row: CallRow): void {
    const text = packedRow(row);
    if (this.#length + this.#onTheWay + text.length > MOST_LENGTH) {
      this.#dropped += 1;
      return;
    }
    this.#rows.push(text);
    this.#length += text.length;
    if (this.#length >= FLUSH_LENGTH) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), FLUSH_MS).unref();
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#rows.length === 0 && this.#dropped === 0) return;
    const length = this.#length;
    this.#onTheWay += length;
    const calls = packedCalls(this.#rows);
    this.#send({ type: 'keep-calls', calls, dropped: this.#dropped }, () => (this.#onTheWay -= length));
    this.#rows = [];
    this.#length = 0;
    this.#dropped = 0;
  }
}
