import type { LogLevel } from '../config/config.ts';

/** Structured logger. Fields go first, then the message; no secret ever leaves it (see redaction). */
export interface Logger {
  readonly level: LogLevel;
  /** True when a line of that level would be written: ask before building costly fields. */
  enabled(level: Exclude<LogLevel, 'off'>): boolean;
  error(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  debug(fields: LogFields, message: string): void;
}

export type LogFields = Readonly<Record<string, unknown>>;

/** Writes nothing: for the library, unless its user passes a logger, and for tests. */
export const silentLogger: Logger = {
  level: 'off',
  enabled: () => false,
  error: ignore,
  warn: ignore,
  info: ignore,
  debug: ignore,
};

function ignore(): void {}
