import { isatty } from 'node:tty';
import { pino, type Logger as Pino } from 'pino';
import { constants, fstatSync, openSync, write as writeBytes, writeSync } from 'node:fs';
import { wantsColour } from '../config/environment.ts';
import type { Config } from '../config/config.ts';
import type { LogFields, Logger } from './logger.ts';
import { prettyLine, terminalLine } from './readable-line.ts';
import { Redactor } from './redactor.ts';
import { codeOf } from '../base/invariant.ts';

type LoggerConfig = Pick<Config, 'logLevel' | 'secrets' | 'env'> & Partial<Pick<Config, 'logFormat'>>;

export interface LoggerOptions {
  /** Fields of every line, such as `{ worker: 2 }`. */
  readonly fields?: LogFields;
  /** File descriptor to write to; 1 (stdout) by default. */
  readonly descriptor?: number;
  /** Whether the destination is a terminal. By default, depends on the descriptor. */
  readonly terminal?: boolean;
  /** Masks credentials; by default, a redactor of the secrets of the configuration. */
  readonly redactor?: Redactor;
  /** Receives the lines instead of the descriptor. */
  readonly write?: (line: string) => void;
}

export interface ServiceLogger extends Logger {
  /** Number of lines lost since the start, because the destination was closed or full. */
  readonly dropped: number;
  /** Writes the waiting lines before the process ends. A regular exit does so itself. */
  flushSync(): void;
}

/** No caller nests deeper on purpose. Pino's default of 5 hides parts of prompts. */
const DEPTH_LIMIT = 16;

/**
 * Logs to stdout: by default, short lines on a terminal and otherwise JSON lines. Redacts each line as a whole. Logging never throws, waits
 * or fails: `dropped` counts the lines that could not be written.
 */
export function createLogger(config: LoggerConfig, options: LoggerOptions): ServiceLogger {
  const descriptor = options.descriptor ?? 1;
  const sink = new LogSink(descriptor);
  const redactor = options.redactor ?? new Redactor(config.secrets);
  const write = options.write ?? ((line: string) => sink.write(line));
  const terminal = options.terminal ?? isatty(descriptor);
  const format = lineFormat(config.logFormat ?? 'auto', terminal, wantsColour(terminal, config.env));
  const inner = createPino(config, options.fields ?? {}, (line) => write(format(redactor.redact(line))));
  if (options.write === undefined) process.once('exit', () => sink.flushSync());
  let failed = 0;
  // If a getter or `toJSON` of a field throws, the line is lost, but the request continues.
  const log = (level: 'error' | 'warn' | 'info' | 'debug') => (fields: LogFields, message: string) => {
    try {
      inner[level](fields, message);
    } catch {
      failed += 1;
    }
  };
  return {
    level: config.logLevel,
    get dropped() {
      return sink.dropped + failed;
    },
    enabled: (level) => inner.isLevelEnabled(level),
    error: log('error'),
    warn: log('warn'),
    info: log('info'),
    debug: log('debug'),
    flushSync: () => sink.flushSync(),
  };
}

function lineFormat(format: Config['logFormat'], terminal: boolean, colour: boolean): (line: string) => string {
  if (format === 'pretty') return (line) => prettyLine(line, colour);
  return format === 'auto' && terminal ? (line) => terminalLine(line, colour) : (line) => line;
}

function createPino(config: LoggerConfig, fields: LogFields, write: (line: string) => void): Pino {
  return pino(
    {
      level: config.logLevel === 'off' ? 'silent' : config.logLevel,
      base: { pid: process.pid, ...fields },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: pino.stdSerializers.err, error: pino.stdSerializers.err },
      depthLimit: DEPTH_LIMIT,
      edgeLimit: 1000,
    },
    { write },
  );
}

/** Further lines for a slow reader are dropped, since a log must not fill the server's memory. */
const MAX_WAITING_CHARACTERS = 8 * 2 ** 20;

/** One write takes at most this much, in whole lines, because a pipe holds 64 KiB. */
const MAX_WRITE_CHARACTERS = 64 * 1024;

/** A full pipe holds 64 KiB, so with this pause, a fast reader receives 6 MB per second. */
const BUSY_RETRY_MS = 10;

/** A full disk stays full for a while. */
const FAULT_RETRY_MS = 250;

/** How often a busy descriptor is tried again when the process ends. */
const LAST_TRIES = 20;

/**
 * Writes log lines to a file descriptor, one asynchronous write at a time. Joins the lines of one turn of the event loop. A
 * closed pipe, a full disk or a stalled reader costs lines, which are counted, and nothing else.
 */
export class LogSink {
  readonly #descriptor: number;
  #waiting: string[] = [];
  #waitingCharacters = 0;
  #writing = false;
  #submitted = false;
  #closed = false;
  /** Number of lines that could not be written since the start. */
  dropped = 0;
  #inFlight: Buffer = EMPTY;

  constructor(descriptor: number) {
    this.#descriptor = nonBlocking(descriptor);
  }

  /** Queues one line, which ends with a line break. Never throws, never waits. */
  write(line: string): void {
    if (this.#closed || this.#waitingCharacters + line.length > MAX_WAITING_CHARACTERS) {
      this.dropped += 1;
      return;
    }
    this.#waiting.push(line);
    this.#waitingCharacters += line.length;
    if (this.#writing) return;
    this.#writing = true;
    setImmediate(this.#writeNext);
  }

  /**
   * Writes the waiting lines before the process ends. Gives up if the descriptor stays busy. A write in progress needs no
   * care, since Node waits for its threads.
   */
  flushSync(): void {
    if (this.#closed) return;
    const waiting = Buffer.from(this.#waiting.join(''));
    let rest = this.#submitted ? waiting : Buffer.concat([this.#inFlight, waiting]);
    this.#waiting = [];
    this.#waitingCharacters = 0;
    if (!this.#submitted) this.#inFlight = EMPTY;
    for (let tries = 0; rest.length > 0 && tries < LAST_TRIES;) {
      try {
        rest = rest.subarray(writeSync(this.#descriptor, rest));
      } catch (error) {
        if (!isBusy(error)) return;
        tries += 1;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
      }
    }
  }

  readonly #writeNext = (): void => {
    if (this.#inFlight.length === 0) this.#inFlight = this.#takeLines();
    if (this.#inFlight.length === 0) {
      this.#writing = false;
      return;
    }
    this.#submitted = true;
    writeBytes(this.#descriptor, this.#inFlight, this.#written);
  };

  readonly #written = (error: NodeJS.ErrnoException | null, bytes: number): void => {
    this.#submitted = false;
    if (error === null) {
      this.#inFlight = this.#inFlight.subarray(bytes);
      this.#writeNext();
    } else if (isBusy(error)) {
      setTimeout(this.#writeNext, BUSY_RETRY_MS).unref();
    } else {
      this.#loseLines(error);
    }
  };

  /** A closed pipe stays closed, but a disk can get room again. */
  #loseLines(error: NodeJS.ErrnoException): void {
    this.dropped += countLines(this.#inFlight);
    this.#inFlight = EMPTY;
    if (error.code === 'EPIPE' || error.code === 'EBADF') {
      this.#closed = true;
      this.dropped += this.#waiting.length;
      this.#waiting = [];
      return;
    }
    setTimeout(this.#writeNext, FAULT_RETRY_MS).unref();
  }

  #takeLines(): Buffer {
    let count = 0;
    let characters = 0;
    for (const line of this.#waiting) {
      if (count > 0 && characters + line.length > MAX_WRITE_CHARACTERS) break;
      count += 1;
      characters += line.length;
    }
    this.#waitingCharacters -= characters;
    return Buffer.from(this.#waiting.splice(0, count).join(''));
  }
}

const EMPTY = Buffer.alloc(0);

/**
 * Reopens a pipe in non-blocking mode if the system allows it (Linux, same user); otherwise returns the descriptor itself. A
 * blocking write to a full pipe would hold one of Node's threads, and the end of the process, until someone reads.
 */
function nonBlocking(descriptor: number): number {
  try {
    if (!fstatSync(descriptor).isFIFO()) return descriptor;
    return openSync(`/proc/self/fd/${String(descriptor)}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return descriptor;
  }
}

function isBusy(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'EAGAIN' || code === 'EBUSY';
}

function countLines(bytes: Buffer): number {
  let lines = 0;
  for (const byte of bytes) if (byte === 10) lines += 1;
  return lines;
}
