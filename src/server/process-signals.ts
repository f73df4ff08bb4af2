/**
 * What the system tells the primary. Made before anything slow: until then a signal ends the process, and as process 1 of a
 * container it would be lost.
 */
export class ProcessSignals {
  /** Resolves with the first signal that asks to stop; the second one ends the process at once. */
  readonly stop: Promise<NodeJS.Signals>;
  #reload: (() => void) | undefined;
  #reloadAsked = false;

  constructor() {
    this.stop = new Promise((resolve) => {
      let asked = false;
      const stop = (signal: NodeJS.Signals, number: number) => {
        // The primary kills the workers on its way out.
        if (asked) process.exit(128 + number);
        asked = true;
        resolve(signal);
      };
      process.on('SIGTERM', stop);
      process.on('SIGINT', stop);
    });
    process.on('SIGHUP', () => {
      if (this.#reload === undefined) this.#reloadAsked = true;
      else this.#reload();
    });
  }

  /** `reload` is called at each SIGHUP from now on, and at once for those that came before. */
  onReload(reload: () => void): void {
    this.#reload = reload;
    if (this.#reloadAsked) reload();
  }
}
