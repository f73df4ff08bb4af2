/**
 * Cancels work in progress whose result no one waits for any more. Much cheaper than an AbortController per call
 * (no event target, no DOMException), which is why the hot path uses it.
 */
export class Cancellation {
  #reason: string | undefined;
  /** A call in flight has one: an array of exactly this length takes a fifth of one that grew. */
  #listeners: Array<(reason: string) => void> | undefined;

  get cancelled(): boolean {
    return this.#reason !== undefined;
  }

  /** The reason given to `cancel`, for the log; undefined before. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** Runs the listeners synchronously, in the order in which they were added. Only the first call has an effect. */
  cancel(reason: string): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    const listeners = this.#listeners ?? [];
    this.#listeners = undefined;
    for (const listener of listeners) listener(reason);
  }

  /** Runs `listener` on cancellation, or now if that has happened. Returns a function that removes the listener. */
  onCancel(listener: (reason: string) => void): () => void {
    if (this.#reason !== undefined) {
      listener(this.#reason);
      return ignore;
    }
    if (this.#listeners === undefined) this.#listeners = [listener];
    else this.#listeners.push(listener);
    return () => {
      const index = this.#listeners?.indexOf(listener) ?? -1;
      if (index >= 0) this.#listeners?.splice(index, 1);
    };
  }
}

function ignore(): void {}
