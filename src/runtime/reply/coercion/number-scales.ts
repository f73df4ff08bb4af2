/** The words for factors after a number, in English and other languages. `Billionen` and `billones` are 10¹², unlike `billions`. */
const SCALE_NAMES: readonly (readonly [scale: number, names: string])[] = [
  [12, 'dozen|dozens'],
  [100, 'hundred|hundreds'],
  [1e3, 'thousand|thousands|tausend|tsd'],
  [1e5, 'lakh|lakhs'],
  [1e6, 'million|millions|mn|mln|mio|millionen|millones|millón|milhão|milhões|milione|milioni|miljoen'],
  [1e7, 'crore|crores'],
  [
    1e9,
    'billion|billions|bn|mrd|mld|milliarde|milliarden|milliard|milliards|mil millones|bilhão|bilhões|miliardo|miliardi|miljard',
  ],
  [1e12, 'trillion|trillions|billionen|billones|trilhão|trilhões'],
];
const SCALES = new Map(SCALE_NAMES.flatMap(([scale, names]) => names.split('|').map((name) => [name, scale] as const)));

/** The words for scales, as alternatives of a regular expression. */
export const ANY_SCALE = [...SCALES.keys()].join('|');

/** Returns the factor of a word such as `million`; undefined for any other. */
export function scaleOf(word: string): number | undefined {
  return SCALES.get(word.toLowerCase());
}
