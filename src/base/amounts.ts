/** `1 function`, `2 functions`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** `312 ms`, `1.2 s`. */
export function durationText(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** A token has about four characters in English. */
const CHARACTERS_OF_A_TOKEN = 4;

/** The tokens of text with this many characters, by estimate: a fraction too. */
export function tokensOfLength(characters: number): number {
  return characters / CHARACTERS_OF_A_TOKEN;
}

/** Rounds a number to one decimal. */
export function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}

const UNITS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['min', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

/** `setTimeout` fires immediately for more than 2^31 - 1 ms (24.8 days). */
const LONGEST_MS = 24 * 86_400_000;

/** A number, and the unit after it. */
const NUMBER_WITH_UNIT = /^(\d{1,15}(?:\.\d{1,6})?) ?([a-z]*)$/iu;

/** Completes a sentence that begins with `has to be`. */
export const DURATION_RULE = 'a duration with a unit, such as 500ms, 60s, 5m or 1h';

/**
 * A duration with a unit, in milliseconds: `500ms`, `60s`, `5m`, `2h`, `1d`. Zero needs no unit. Undefined for any other text, and
 * for more than 24 days.
 */
export function durationMs(text: string): number | undefined {
  if (text === '0') return 0;
  const value = numberWithUnit(text, UNITS);
  return value === undefined || value > LONGEST_MS ? undefined : Math.round(value);
}

/** The number times its unit, which can be in any case. Undefined if the text has another form or an unknown unit. */
export function numberWithUnit(text: string, units: ReadonlyMap<string, number>): number | undefined {
  const match = NUMBER_WITH_UNIT.exec(text);
  const unit = units.get((match?.[2] ?? '').toLowerCase());
  return match === null || unit === undefined ? undefined : Number(match[1]) * unit;
}
