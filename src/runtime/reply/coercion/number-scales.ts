/** The words for factors after a number, in English and other languages. `Billionen` and `billones` are 10¹², unlike `billions`. */
const SCALE_NAMES: readonly (readonly [scale: number, names: string])[] = [
  [12, 'dozens?'],
  [100, 'hundreds?'],
  [1e3, 'thousands?|tausend|tsd'],
  [1e5, 'lakhs?'],
  [1e6, 'millions?|mn|mln|mio|millionen|millones|millón|milhão|milhões|milione|milioni|miljoen'],
  [1e7, 'crores?'],
  [1e9, 'billions?|bn|mrd|mld|milliarden?|milliards?|mil millones|bilhão|bilhões|miliardo|miliardi|miljard'],
  [1e12, 'trillions?|billionen|billones|trilhão|trilhões'],
];
const SCALES = SCALE_NAMES.map(([scale, names]) => ({ scale, name: new RegExp(`^(?:${names})$`, 'iu') }));

/** The words for scales, as alternatives of a regular expression. */
export const ANY_SCALE = SCALE_NAMES.map(([, names]) => names).join('|');

/** Returns the factor of a word such as `million`; undefined for any other. */
export function scaleOf(word: string): number | undefined {
  return SCALES.find(({ name }) => name.test(word))?.scale;
}
