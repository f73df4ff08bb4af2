import { isatty } from 'node:tty';
import { pino } from 'pino';
import type { Logger as Pino } from 'pino';
import { wantsColour } from '../config/environment.ts';
import type { Config } from '../config/config.ts';
import { LogSink } from './log-sink.ts';
import type { LogFields, Logger } from './logger.ts';
import { createRedactor } from './redactor.ts';
import { terminalLine } from './terminal-line.ts';

/** What a logger needs of the configuration. */
export type LoggerConfig = Pick<Config, 'logLevel' | 'secrets' | 'env'>;

export interface LoggerOptions {
  /** In every line, as `{ worker: 2 }`. */
  readonly fields?: LogFields;
  /** Where lines go; 1 (stdout) when absent. */
  readonly descriptor?: number;
  /** Overrides what the descriptor says: JSON lines, or lines for a terminal. */
  readonly terminal?: boolean;
  /** Takes the lines in place of the descriptor. */
  readonly write?: (line: string) => void;
}

/** A logger that owns its destination. */
export interface ServiceLogger extends Logger {
  /** Lines lost to a closed or full destination, since the start. */
  readonly dropped: number;
  /** Writes what still waits, for the last moment of a process. It happens by itself at a regular exit. */
  flushSync(): void;
}

/** Nothing a caller logs is nested deeper on purpose; pino cuts at 5 by default, which hides parts of prompts. */
const DEPTH_LIMIT = 16;

/**
 * Logs to stdout: JSON lines, or short lines when it is a terminal. Every line passes the redactor whole. Logging never
 * throws, waits or fails: what cannot be written is counted in `dropped`.
 */
export function createLogger(config: LoggerConfig, options: LoggerOptions = {}): ServiceLogger {
  const descriptor = options.descriptor ?? 1;
  const sink = new LogSink(descriptor);
  const redactor = createRedactor(config.secrets);
  const write = options.write ?? ((line: string) => sink.write(line));
  const terminal = options.terminal ?? isatty(descriptor);
  const colour = wantsColour(terminal, config.env);
  const format = terminal ? (line: string) => terminalLine(line, colour) : (line: string) => line;
  const inner = createPino(config, options.fields ?? {}, (line) => write(format(redactor.redact(line))));
  if (options.write === undefined) process.once('exit', () => sink.flushSync());
  return new PinoLogger(inner, config.logLevel, sink);
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

  /** A field whose getter or `toJSON` throws costs its line, not the request. */
  #log(level: 'error' | 'warn' | 'info' | 'debug', fields: LogFields, message: string): void {
    try {
      this.#pino[level](fields, message);
    } catch {
      this.#failed += 1;
    }
  }
}
