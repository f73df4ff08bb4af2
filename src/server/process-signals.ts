/**
 * The signals of the primary. Create it before anything slow: until then a signal ends the process, or is lost when the process
 * is number 1 of a container.
 */
export class ProcessSignals {
  /** Resolves with the first signal that requests a stop; a second one ends the process at once. */
  readonly stop: Promise<NodeJS.Signals>;
  #reload: (() => void) | undefined;
  #reloadRequested = false;

  constructor() {
    this.stop = new Promise((resolve) => {
      let requested = false;
      const stop = (signal: NodeJS.Signals, number: number) => {
        // On exit the primary kills the workers.
        if (requested) process.exit(128 + number);
        requested = true;
        resolve(signal);
      };
      process.on('SIGTERM', stop);
      process.on('SIGINT', stop);
    });
    process.on('SIGHUP', () => {
      if (this.#reload === undefined) this.#reloadRequested = true;
      else this.#reload();
    });
  }

  /** Calls `reload` at each SIGHUP from now on, and once now if any came before. */
  onReload(reload: () => void): void {
    this.#reload = reload;
    if (this.#reloadRequested) reload();
  }
}
