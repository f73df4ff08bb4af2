import { error, factoryOf } from './entry.ts';

/** Every problem with what definitions mean. */
const ENTRIES = {
  'check/unknown-type': error<{ readonly name: string; readonly suggestion: string }>(
    (p) => `There is no type "${p.name}".`,
    (p) => p.suggestion,
  ),
};

export const checkDiagnostic = factoryOf(ENTRIES);
export const CHECK_CODES: readonly string[] = Object.keys(ENTRIES);
