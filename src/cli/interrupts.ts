/** The exit code of a program that an interrupt ended, as shells report it: 128 and the number of SIGINT. */
export const INTERRUPTED = 130;

/** The interrupts of the person at the terminal. The second one ends the process. */
export class Interrupts {
  count = 0;
  #waiting: (() => void)[] = [];

  constructor() {
    process.on('SIGINT', this.#interrupt);
    process.on('SIGTERM', this.#interrupt);
  }

  /** Resolves with the next interrupt. */
  next(): Promise<'interrupted'> {
    return new Promise((resolve) => void this.#waiting.push(() => resolve('interrupted')));
  }

  close(): void {
    process.off('SIGINT', this.#interrupt);
    process.off('SIGTERM', this.#interrupt);
  }

  readonly #interrupt = (): void => {
    this.count += 1;
    if (this.count > 1) process.exit(INTERRUPTED);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  };
}
