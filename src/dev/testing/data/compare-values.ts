import { isJsonList, isJsonObject, ownValue, type JsonObject, type JsonValue } from '../../../base/json.ts';
import { pathStepText } from '../../../base/value-path.ts';

/** What a value, or a part of it, should be. */
export interface Expectation {
  /** The names of fields, keys and indices that lead to the part; empty for the whole value. */
  readonly path: readonly string[];
  readonly value: JsonValue;
  /** Strings only have to be similar. */
  readonly similar: boolean;
}

/**
 * Returns a sentence for each part of the value that is not as expected. The order of keys does not matter, and an absent key equals
 * null. `similarPass`: the least similarity of strings, from 0 to 1, where similar ones are enough.
 */
export function differencesFrom(
  expected: readonly Expectation[],
  value: JsonValue,
  similarPass: number,
): readonly string[] {
  return expected.flatMap(({ path, value: wanted, similar }) => {
    const place = path.reduce((text, step) => text + stepText(step, text === ''), '');
    return differences(wanted, valueAt(value, path), { place, similarPass: similar ? similarPass : undefined });
  });
}

interface Place {
  readonly place: string;
  readonly similarPass: number | undefined;
}

function differences(
  wanted: JsonValue | undefined,
  found: JsonValue | undefined,
  { place, similarPass }: Place,
): readonly string[] {
  const below = (step: string): Place => ({ place: place + stepText(step, place === ''), similarPass });
  if (isJsonList(wanted) && isJsonList(found) && wanted.length === found.length) {
    return wanted.flatMap((item, index) => differences(item, found[index], below(String(index))));
  }
  if (isObject(wanted) && isObject(found)) {
    const keys = new Set([...Object.keys(wanted), ...Object.keys(found)]);
    return [...keys].flatMap((key) => differences(ownValue(wanted, key), ownValue(found, key), below(key)));
  }
  const start = place === '' ? '' : `${place}: `;
  if (similarPass !== undefined && typeof wanted === 'string' && typeof found === 'string') {
    const share = similarity(wanted, found);
    if (share >= similarPass) return [];
    return [`${start}${Math.floor(share * 100)} % similar to ${shortJson(wanted)}, got ${shortJson(found)}`];
  }
  if ((wanted ?? null) === (found ?? null)) return [];
  return [`${start}expected ${shortJson(wanted ?? null)}, got ${shortJson(found ?? null)}`];
}

function stepText(step: string, first: boolean): string {
  return pathStepText(/^\d+$/u.test(step) ? Number(step) : step, first);
}

function valueAt(value: JsonValue, path: readonly string[]): JsonValue | undefined {
  let found: JsonValue | undefined = value;
  for (const step of path) {
    if (isJsonList(found)) found = found[Number(step)];
    else found = isObject(found) ? ownValue(found, step) : undefined;
  }
  return found;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return isJsonObject(value);
}

const LONGEST_JSON = 120;

/** The value in JSON, cut if it is long. */
function shortJson(value: JsonValue): string {
  const text = JSON.stringify(value);
  return text.length > LONGEST_JSON ? `${text.slice(0, LONGEST_JSON)}…` : text;
}

/** A run of letters and digits, or one character of a script without spaces between words. */
const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{M}\p{N}]+/gu;

/**
 * The F1 of the words that two strings share, from 0 to 1, as in SQuAD (Rajpurkar et al., 2016), without its removal of English
 * articles: twice the number of common words, divided by the number of all words. Case, punctuation and order do not matter. Without
 * words, only equal strings are similar.
 */
export function similarity(a: string, b: string): number {
  if (a === b) return 1;
  const [left, right] = [wordsOf(a), wordsOf(b)];
  const counts = new Map<string, number>();
  for (const word of left) counts.set(word, (counts.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of right) {
    const count = counts.get(word) ?? 0;
    if (count > 0) common += 1;
    counts.set(word, count - 1);
  }
  return common === 0 ? 0 : (2 * common) / (left.length + right.length);
}

function wordsOf(text: string): readonly string[] {
  return text.normalize('NFKC').toLowerCase().match(WORD) ?? [];
}
