import type { LogLevel } from '../config/settings.ts';

/** A structured logger: fields first, then the message. Its lines never contain a secret. */
export interface Logger {
  readonly level: LogLevel;
  /** Whether lines of this level are written. Ask before you build costly fields. */
  enabled(level: Exclude<LogLevel, 'off'>): boolean;
  error(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  debug(fields: LogFields, message: string): void;
}

export type LogFields = Readonly<Record<string, unknown>>;

/** Writes nothing. For the library, unless its user passes a logger, and for tests. */
export const silentLogger: Logger = {
  level: 'off',
  enabled: () => false,
  error: ignore,
  warn: ignore,
  info: ignore,
  debug: ignore,
};

function ignore(): void {}
