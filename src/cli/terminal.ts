import { codeOf } from '../base/invariant.ts';
import { didYouMean } from '../base/suggestion.ts';
import { writeFault } from '../base/write-file.ts';
import { processVariables, secretsOf, wantsColour } from '../config/environment.ts';
import { Redactor } from '../logging/redactor.ts';

export interface TerminalStream {
  write(text: string): void;
  /** Whether `text` can contain escape sequences for colours. */
  readonly colour: boolean;
  /** The width in characters; absent if the stream is not a terminal. */
  readonly columns?: number;
}

/** Commands write results to `out` and problems to `error`. */
export interface Terminal {
  readonly out: TerminalStream;
  readonly error: TerminalStream;
}

/** 0: done; 1: a problem in files or on the machine; 2: bad usage, or nothing could run; 130: interrupted, as shells report it. */
export type ExitCode = 0 | 1 | 2 | 130;

/** Writes one line about a problem and returns the exit code for it. */
export function reportProblem(terminal: Terminal, sentence: string): 1 {
  terminal.error.write(`svc: ${sentence}\n`);
  return 1;
}

/**
 * Writes one line about a problem because of which nothing ran (bad usage, definitions with errors, files that svc cannot use), and
 * returns the exit code for it.
 */
export function refuse(terminal: Terminal, sentence: string): 2 {
  reportProblem(terminal, sentence);
  return 2;
}

/** `there is no function "Raed". Did you mean "Read"?` */
export function thereIsNo(kind: string, name: string, names: readonly string[]): string {
  return `there is no ${kind} ${JSON.stringify(name)}. ${didYouMean(name, names)}`.replace(/\. $/u, '');
}

/** Writes an error that no one expected, without the credentials of the environment, and returns the exit code for it. */
export function reportBug(terminal: Terminal, error: unknown): 1 {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return reportProblem(terminal, `a bug: ${withoutSecrets(text)}`);
}

/** Masks the credentials of the environment in an error that ends svc before it has a configuration. */
export function withoutSecrets(text: string): string {
  return new Redactor(secretsOf(processVariables())).redact(text);
}

/**
 * The streams of this process. If a reader goes away (`svc check | head -1`), its output is lost, and a server that it
 * started keeps running. If results cannot be written for another reason, such as a full disk, the process reports it and exits
 * with code 1, unless it already has another failure code.
 */
export function processTerminal(): Terminal {
  const error = outputOf(process.stderr, () => {});
  const out = outputOf(process.stdout, (fault) => {
    error.write(`svc: the output cannot be written: ${writeFault(fault)}\n`);
    process.once('exit', () => {
      process.exitCode ||= 1;
    });
  });
  return { out, error };
}

/** Calls `failed` with the first error, unless that error is EPIPE: the reader went away. */
function outputOf(stream: NodeJS.WriteStream, failed: (fault: Error) => void): TerminalStream {
  stream.once('error', (fault) => {
    if (codeOf(fault) !== 'EPIPE') failed(fault);
  });
  stream.on('error', () => {});
  return {
    write: (text) => {
      if (stream.writable) stream.write(text);
    },
    colour: wantsColour(stream.isTTY, processVariables()),
    ...(stream.isTTY && { columns: stream.columns }),
  };
}

/** The exit code of a program that an interrupt ended, as shells report it: 128 and the number of SIGINT. */
export const INTERRUPTED = 130;

/** Runs a command that can end early. */
export async function withInterrupts(run: (interrupts: Interrupts) => Promise<ExitCode>): Promise<ExitCode> {
  const interrupts = new Interrupts();
  try {
    return await run(interrupts);
  } finally {
    interrupts.close();
  }
}

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
