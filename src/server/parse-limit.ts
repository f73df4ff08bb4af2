import type { Failure } from '../schema/errors.ts';
import { validationFailure } from '../runtime/call/parse-reply.ts';
import type { WholeReply } from '../runtime/call/runtime.ts';

/** No reply that anybody wants takes this long to parse: 1 MB takes some milliseconds, the worst of texts half a second. */
const LONGEST_MS = 10_000;

/** When the parsing of one reply ends early: its caller left, its call's time is over, or it takes too long. */
export class ParseLimit {
  readonly #abort = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #forget: () => void;
  #failure: Failure | undefined;

  constructor({ cancellation, deadlineAt, text }: WholeReply) {
    const now = performance.now();
    const leftMs = Math.max(0, deadlineAt - now);
    const isCall = leftMs < LONGEST_MS;
    this.#timer = setTimeout(
      () => this.#reach(isCall ? callTooSlow(leftMs) : replyTooSlow(text)),
      Math.min(leftMs, LONGEST_MS),
    );
    this.#forget = cancellation.onCancel((reason) => this.#reach({ code: 'cancelled', message: reason }));
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Why it was reached; undefined while it was not. */
  get failure(): Failure | undefined {
    return this.#failure;
  }

  /** Call when the parsing is over. */
  end(): void {
    clearTimeout(this.#timer);
    this.#forget();
  }

  #reach(failure: Failure): void {
    this.#failure ??= failure;
    this.#abort.abort();
  }
}

function callTooSlow(afterMs: number): Failure {
  return {
    code: 'timeout',
    message: 'The reply came, but the time of the call was over before it was parsed.',
    timer: 'total',
    afterMs: Math.round(afterMs),
  };
}

function replyTooSlow(text: string): Failure {
  return validationFailure({ message: `the reply was not parsed within ${LONGEST_MS / 1000} s`, details: [] }, text);
}
