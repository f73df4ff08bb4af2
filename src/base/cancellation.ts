/**
 * Tells work in progress that nobody waits for it any more. Much cheaper than an AbortController per call
 * (no event target, no DOMException), which is why the hot path uses it.
 */
export class Cancellation {
  #reason: string | undefined;
  #listeners: Array<(reason: string) => void> = [];

  get cancelled(): boolean {
    return this.#reason !== undefined;
  }

  /** Why it was cancelled, for the log; undefined while it was not. */
  get reason(): string | undefined {
    return this.#reason;
  }

  /** Cancels once; later calls change nothing. Listeners run synchronously, in the order they were added. */
  cancel(reason: string): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener(reason);
  }

  /** Runs `listener` at cancellation, at once when that already happened. Returns the function that takes it back. */
  onCancel(listener: (reason: string) => void): () => void {
    if (this.#reason !== undefined) {
      listener(this.#reason);
      return ignore;
    }
    this.#listeners.push(listener);
    return () => {
      const index = this.#listeners.indexOf(listener);
      if (index >= 0) this.#listeners.splice(index, 1);
    };
  }
}

function ignore(): void {}
