import type { Value } from '../values/value.ts';

/** One method: the value it is called on, and its arguments, all by position. */
export type Method = (value: Value, args: readonly Value[]) => Value;
