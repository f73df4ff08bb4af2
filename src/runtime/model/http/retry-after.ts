/** Waits longer than this are as good as "never": no call lives that long. */
const LONGEST_WAIT_MS = 24 * 60 * 60 * 1000;

export interface RetryHeaders {
  /** Seconds or an HTTP date (RFC 9110, 10.2.3). */
  readonly retryAfter: string | undefined;
  /** Milliseconds: what OpenAI and Azure send beside it, since it is exact. */
  readonly retryAfterMs: string | undefined;
}

/** Milliseconds that a provider asks to be left alone. Undefined when it does not, or makes no sense; never negative. */
export function waitAskedFor(headers: RetryHeaders, now: number = Date.now()): number | undefined {
  return number(headers.retryAfterMs, 1) ?? number(headers.retryAfter, 1000) ?? untilDate(headers.retryAfter, now);
}

function number(text: string | undefined, unitMs: number): number | undefined {
  if (text === undefined || !/^\d+(\.\d+)?$/u.test(text.trim())) return undefined;
  return Math.min(Number(text) * unitMs, LONGEST_WAIT_MS);
}

function untilDate(text: string | undefined, now: number): number | undefined {
  if (text === undefined || !/[a-z]/iu.test(text)) return undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.min(Math.max(0, date - now), LONGEST_WAIT_MS);
}
