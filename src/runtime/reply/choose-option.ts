import { coercionError, type CoercionError } from './coercion/coercion-error.ts';
import { optionAt, takenOption } from './cues.ts';
import type { RankedPart } from './ranked-part.ts';

/** Returns the option that the words after several options take, or the error of options of which they take none. */
export function optionTaken(ranked: readonly RankedPart[], text: string): RankedPart | CoercionError | undefined {
  const options = ranked.filter(
    ({ part }) => part.kind !== 'text' && part.kind !== 'several' && optionAt(text, part.from) >= 0,
  );
  const [first] = options;
  // The options can be the members of a list.
  if (ranked.some(({ part }) => part.kind === 'several')) return undefined;
  if (first === undefined || options.every(({ value }) => value.json === first.value.json)) return undefined;
  if (ranked.some((each) => each.demotion === '' && each.part.kind !== 'text' && !options.includes(each)))
    return undefined;
  const taken = takenOption(text, Math.max(...options.map(({ part }) => part.to)));
  const option = options.find(({ part }) => taken >= 0 && optionAt(text, part.from) === taken);
  return option ?? coercionError('the reply contains several options, and no words choose one of them');
}
