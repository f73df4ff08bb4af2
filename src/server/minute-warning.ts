import type { Logger } from '../logging/logger.ts';

const MINUTE_MS = 60_000;

/** Returns a function that logs an error with this sentence, at most once a minute: what fails for every call would fill the log. */
export function minuteWarning(logger: Pick<Logger, 'warn'>, sentence: string): (error: unknown) => void {
  let warnedAt = Number.NEGATIVE_INFINITY;
  return (error) => {
    const now = performance.now();
    if (now - warnedAt < MINUTE_MS) return;
    warnedAt = now;
    logger.warn({ err: error }, sentence);
  };
}
