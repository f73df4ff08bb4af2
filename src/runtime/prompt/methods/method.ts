import type { Value } from '../values/value.ts';

/** One method: its arguments come in the order of the vocabulary, `undefined` for those left out. */
export type Method = (value: Value, args: readonly Value[]) => Value;
