/**
 * The result of something that can fail: `Ok` carries the value, `Err` the failure. Expected failures are returned, never
 * thrown; a thrown error is a bug.
 */
export type Result<T, F> = Ok<T> | Err<F>;

export interface Ok<T> {
  readonly ok: true;
  readonly value: T;
}

export interface Err<F> {
  readonly ok: false;
  readonly failure: F;
}

export function ok<T>(value: T): Ok<T> {
  return { ok: true, value };
}

export function err<F>(failure: F): Err<F> {
  return { ok: false, failure };
}
