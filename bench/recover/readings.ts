import { isDeepStrictEqual } from 'node:util';
import type { JsonValue } from '../../src/base/json.ts';
import { bareValue } from '../bare-value.ts';
import type { Truth, ValueTruth } from './kind.ts';

/** The result of a parser for one reply. */
export type Reading =
  | { readonly kind: 'value'; readonly value: JsonValue; readonly losses: number }
  | { readonly kind: 'refused'; readonly message: string; readonly crashed?: boolean };

export type Verdict = 'exact' | 'wrong' | 'lossy' | 'refused';
export const VERDICTS: readonly Verdict[] = ['exact', 'wrong', 'lossy', 'refused'];

/** `wrong` is a value that is not the truth although no loss is reported; a value with a reported loss is `lossy`. */
export function verdictOf(truth: Truth, reading: Reading): Verdict {
  if (reading.kind === 'refused') return truth.kind === 'value' ? 'refused' : 'exact';
  if (truth.kind !== 'refusal' && isTruth(truth, reading.value) && (truth.kind === 'value' || reading.losses > 0))
    return 'exact';
  return reading.losses > 0 ? 'lossy' : 'wrong';
}

function isTruth({ value, check }: ValueTruth, read: JsonValue): boolean {
  if (!isDeepStrictEqual(bareValue(read), value)) return false;
  return check === undefined || JSON.stringify(read).includes(`"${check}":`);
}
