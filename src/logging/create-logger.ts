import { isatty } from 'node:tty';
import { pino } from 'pino';
import type { Logger as Pino } from 'pino';
import { wantsColour } from '../config/environment.ts';
import type { Config } from '../config/config.ts';
import { LogSink } from './log-sink.ts';
import type { LogFields, Logger } from './logger.ts';
import { Redactor } from './redactor.ts';

/** The part of the configuration that a logger reads. */
export type LoggerConfig = Pick<Config, 'logLevel' | 'secrets' | 'env'>;

export interface LoggerOptions {
  /** Fields of every line, such as `{ worker: 2 }`. */
  readonly fields?: LogFields;
  /** File descriptor to write to; 1 (stdout) by default. */
  readonly descriptor?: number;
  /** Writes lines for a terminal if true, JSON lines if false. By default, depends on the descriptor. */
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
 * Logs to stdout: short lines on a terminal, otherwise JSON lines. Redacts each line as a whole. Logging never throws, waits
 * or fails: `dropped` counts the lines that could not be written.
 */
export function createLogger(config: LoggerConfig, options: LoggerOptions = {}): ServiceLogger {
  const descriptor = options.descriptor ?? 1;
  const sink = new LogSink(descriptor);
  const redactor = options.redactor ?? new Redactor(config.secrets);
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

  /** If a getter or `toJSON` of a field throws, the line is lost, but the request continues. */
  #log(level: 'error' | 'warn' | 'info' | 'debug', fields: LogFields, message: string): void {
    try {
      this.#pino[level](fields, message);
    } catch {
      this.#failed += 1;
    }
  }
}

const COLOURS: Readonly<Record<string, number>> = { error: 31, warn: 33, info: 36, debug: 90 };

/** Fields that a reader at a terminal does not need in every line. */
const HIDDEN = ['level', 'time', 'msg', 'pid', 'worker'];

/** Fields that the message of a request line contains, or that only a search needs. */
const HIDDEN_OF_REQUEST = ['method', 'path', 'function', 'status', 'ms', 'modelMs', 'firstTextMs', 'details'];

/**
 * Turns a JSON log line into one for a terminal: time, level, message, then the fields. The message of a request is its
 * method, path, status and time, such as `POST /call/ExtractResume 200 12.3ms`.
 */
function terminalLine(json: string, colour: boolean): string {
  const entry = parseEntry(json);
  if (entry === undefined) return json;
  const level = textOf(entry['level']);
  const time = textOf(entry['time']).slice(11, 19);
  const paint = (code: number, text: string) => (colour ? `\u001B[${String(code)}m${text}\u001B[0m` : text);
  const isRequest = entry['msg'] === 'request' && entry['method'] !== undefined;
  const hidden = new Set(isRequest ? [...HIDDEN, ...HIDDEN_OF_REQUEST] : HIDDEN);
  const fields = Object.entries(entry)
    .filter(([name, value]) => !hidden.has(name) && !isUsual(name, value))
    .map(([name, value]) => `${paint(90, `${name}=`)}${fieldText(value)}`);
  const message = isRequest ? requestText(entry) : textOf(entry['msg']);
  return `${[paint(90, time), paint(COLOURS[level] ?? 0, level.padEnd(5)), message, ...fields].join(' ')}\n`;
}

function requestText(entry: LogFields): string {
  const [method, path, status, ms] = ['method', 'path', 'status', 'ms'].map((name) => printable(String(entry[name])));
  return `${String(method)} ${String(path)} ${String(status)} ${String(ms)}ms`;
}

/** The values that nearly every line has. */
function isUsual(name: string, value: unknown): boolean {
  return (name === 'attempts' && value === 1) || (name === 'finishReason' && value === 'stop');
}

function parseEntry(json: string): LogFields | undefined {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function fieldText(value: unknown): string {
  if (typeof value !== 'string') return printable(JSON.stringify(value) ?? '');
  return /^[\w.:/@+-]+$/u.test(value) ? value : printable(value);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? printable(value) : '';
}

/** Escapes control characters: a model's reply must not move the cursor or set the title of the operator's terminal. */
function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- this escapes control characters
  return text.replaceAll(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/gu, (character) => {
    return character === '\r' ? '' : `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}
