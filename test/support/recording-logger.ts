import type { Logger, LogFields } from '../../src/logging/logger.ts';

/** A logger at level debug that records every line as JSON, without redaction. */
export function recordingLogger(): { readonly logger: Logger; readonly lines: readonly string[] } {
  const lines: string[] = [];
  const record = (fields: LogFields, message: string): void => {
    lines.push(`${message} ${JSON.stringify(fields)}`);
  };
  const logger = {
    level: 'debug',
    enabled: () => true,
    error: record,
    warn: record,
    info: record,
    debug: record,
  } as const;
  return { logger, lines };
}
