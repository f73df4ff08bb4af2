const SMALL: readonly string[] =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(
    ' ',
  );
const TENS: readonly string[] = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
/** The words that begin a number. */
export const NUMBER_WORDS: readonly string[] = [...SMALL.toReversed(), ...TENS];
const ORDINALS: readonly string[] = 'first second third fourth fifth sixth seventh eighth ninth tenth'.split(' ');
const DOZENS: ReadonlyMap<string, string> = new Map([
  ['dozen', '12'],
  ['a dozen', '12'],
  ['one dozen', '12'],
  ['half a dozen', '6'],
  ['a couple', '2'],
]);
const SCALES: ReadonlyMap<string, number> = new Map([
  ['thousand', 1e3],
  ['million', 1e6],
  ['billion', 1e9],
]);

/** Returns the number that English words in lower case spell, such as `five`, `twenty-one` or `two hundred`. */
export function numberOfWords(text: string): string | undefined {
  if (text.length > LONGEST || !/^[a-z]+(?:[ -][a-z]+)*$/u.test(text)) return undefined;
  const dozen = DOZENS.get(text);
  if (dozen !== undefined) return dozen;
  const ordinal = ORDINALS.indexOf(text);
  if (ordinal >= 0) return String(ordinal + 1);
  let total = 0;
  let group: number | undefined = undefined;
  for (const word of text.split(/[ -]/u)) {
    if (word === 'and' && group !== undefined) continue;
    const scale = SCALES.get(word);
    const next: number | undefined = scale === undefined ? extended(group, word) : group;
    if (next === undefined) return undefined;
    group = scale === undefined ? next : undefined;
    if (scale !== undefined) total += next * scale;
  }
  return String(total + (group ?? 0));
}

const LONGEST = 80;

/** Appends a word to the number below a thousand so far; undefined if the word cannot follow. */
function extended(group: number | undefined, word: string): number | undefined {
  if (word === 'hundred') return group !== undefined && group > 0 && group < 10 ? group * 100 : undefined;
  const small = SMALL.indexOf(word);
  if (small >= 0) {
    if (group === undefined) return small;
    const room = group % 100 === 0 ? group > 0 : group % 10 === 0 && small < 10;
    return room && small > 0 ? group + small : undefined;
  }
  const tens = (TENS.indexOf(word) + 2) * 10;
  if (tens < 20) return undefined;
  return group === undefined ? tens : group % 100 === 0 && group > 0 ? group + tens : undefined;
}
