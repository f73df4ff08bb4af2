import { isatty } from 'node:tty';
import { pino, type Logger as Pino } from 'pino';
import { wantsColour } from '../config/environment.ts';
import type { Config } from '../config/config.ts';
import { LogSink } from './log-sink.ts';
import type { LogFields, Logger } from './logger.ts';
import { prettyLine, terminalLine } from './readable-line.ts';
import { Redactor } from './redactor.ts';

/** The part of the configuration that a logger reads. */
export type LoggerConfig = Pick<Config, 'logLevel' | 'secrets' | 'env'> & Partial<Pick<Config, 'logFormat'>>;

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

/** A logger that owns its destination. */
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
  return new PinoLogger(inner, config.logLevel, sink);
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

class PinoLogger implements ServiceLogger {
  readonly level: Config['logLevel'];
  readonly #pino: Pino;
  readonly #sink: LogSink;
  #failed = 0;

  constructor(inner: Pino, level: Config['logLevel'], sink: LogSink) {
    this.#pino = inner;
    this.level = level;
    this.#sink = sink;
  }

  get dropped(): number {
    return this.#sink.dropped + this.#failed;
  }

  enabled(level: 'error' | 'warn' | 'info' | 'debug' | 'trace'): boolean {
    return this.#pino.isLevelEnabled(level);
  }

  error(fields: LogFields, message: string): void {
    this.#log('error', fields, message);
  }

  warn(fields: LogFields, message: string): void {
    this.#log('warn', fields, message);
  }

  info(fields: LogFields, message: string): void {
    this.#log('info', fields, message);
  }

  debug(fields: LogFields, message: string): void {
    this.#log('debug', fields, message);
  }

  flushSync(): void {
    this.#sink.flushSync();
  }

  /** If a getter or `toJSON` of a field throws, the line is lost, but the request continues. */
  #log(level: 'error' | 'warn' | 'info' | 'debug', fields: LogFields, message: string): void {
    try {
      this.#pino[level](fields, message);
    } catch {
      this.#failed += 1;
    }
  }
}
