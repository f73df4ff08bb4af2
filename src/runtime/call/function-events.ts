import type { Cancellation } from '../../base/cancellation.ts';
import type { CallOutcome, FunctionStream, StreamObserver } from './runtime.ts';
import { CallError } from './call-error.ts';

/** Faster than anybody sees a value change. */
const GATHER_MS = 20;

/** What a stream of a function says, in order; `final` comes once, last. */
export type FunctionEvent<Value> =
  /** The value as far as it is known. */
  | { readonly type: 'partial'; readonly value: unknown }
  /** An attempt failed midway and another one begins: partials start again. */
  | { readonly type: 'reset'; readonly reason: string }
  | { readonly type: 'final'; readonly value: Value };

/** A stream as an iterator. Who reads slowly gets the newest partial, not all of them. */
export class FunctionEvents<Value> implements StreamObserver, AsyncIterableIterator<FunctionEvent<Value>> {
  readonly #cancellation: Cancellation;
  readonly #released: () => void;
  #stream: FunctionStream | undefined;
  #hasText = false;
  #resets: string[] = [];
  #outcome: CallOutcome | undefined;
  #over = false;
  #wake: (() => void) | undefined;

  /** `released` is called when the stream is over, whichever way. */
  constructor(cancellation: Cancellation, released: () => void) {
    this.#cancellation = cancellation;
    this.#released = released;
  }

  follow(stream: FunctionStream): void {
    this.#stream = stream;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  text(): void {
    this.#hasText = true;
    this.#wake?.();
  }

  reset(reason: string): void {
    this.#resets.push(reason);
    this.#wake?.();
  }

  ended(outcome: CallOutcome): void {
    this.#outcome = outcome;
    this.#released();
    this.#wake?.();
  }

  async next(): Promise<IteratorResult<FunctionEvent<Value>, undefined>> {
    for (;;) {
      if (this.#over) return DONE;
      const reason = this.#resets.shift();
      if (reason !== undefined) return { done: false, value: { type: 'reset', reason } };
      const partial = this.#takePartial();
      if (partial !== undefined) return { done: false, value: { type: 'partial', value: JSON.parse(partial) } };
      if (this.#outcome !== undefined) return this.#end(this.#outcome);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** The reader leaves: nobody waits for the model any more. */
  return(): Promise<IteratorResult<FunctionEvent<Value>, undefined>> {
    this.#over = true;
    this.#cancellation.cancel('the reader left');
    return Promise.resolve(DONE);
  }

  #takePartial(): string | undefined {
    if (!this.#hasText || this.#outcome !== undefined) return undefined;
    this.#hasText = false;
    const partial = this.#stream?.takePartial();
    if (partial !== undefined) this.#stream?.gather(GATHER_MS);
    return partial;
  }

  #end({ result }: CallOutcome): IteratorResult<FunctionEvent<Value>, undefined> {
    this.#over = true;
    if (!result.ok) throw new CallError(result.failure);
    return { done: false, value: { type: 'final', value: result.value.value as Value } };
  }
}

const DONE = { done: true, value: undefined } as const;
