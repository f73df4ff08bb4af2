/** Waits longer than this are as good as "never": no call lives that long. */
const LONGEST_WAIT_MS = 24 * 60 * 60 * 1000;

/**
 * Milliseconds that a `retry-after` header asks for: seconds or an HTTP date (RFC 9110, 10.2.3).
 * Undefined when it is missing or makes no sense; never negative.
 */
export function retryAfterMs(header: string | undefined, now: number = Date.now()): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d+(\.\d+)?$/u.test(text)) return Math.min(Number(text) * 1000, LONGEST_WAIT_MS);
  if (!/[a-z]/iu.test(text)) return undefined;
  const date = Date.parse(text);
  if (Number.isNaN(date)) return undefined;
  return Math.min(Math.max(0, date - now), LONGEST_WAIT_MS);
}
