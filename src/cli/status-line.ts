import type { Terminal } from './terminal.ts';

/** A terminal shows a line that changes; a file gets a line from time to time. */
const TERMINAL_EVERY_MS = 500;
const FILE_EVERY_MS = 10_000;

/** The line on standard error that shows the progress. */
export class StatusLine {
  readonly #terminal: Terminal;
  #timer: NodeJS.Timeout | undefined;
  #shown = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  start(line: () => string): void {
    const { error } = this.#terminal;
    const { columns } = error;
    const show = (): void => {
      this.#shown = columns !== undefined;
      error.write(columns === undefined ? `${line()}\n` : `\r\u001B[K${line().slice(0, columns - 1)}`);
    };
    this.#timer = setInterval(show, columns === undefined ? FILE_EVERY_MS : TERMINAL_EVERY_MS);
  }

  /** Writes a sentence above the line. */
  note(sentence: string): void {
    this.#terminal.error.write(`${this.#erased()}${sentence}\n`);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#terminal.error.write(this.#erased());
  }

  #erased(): string {
    const erase = this.#shown ? '\r\u001B[K' : '';
    this.#shown = false;
    return erase;
  }
}
