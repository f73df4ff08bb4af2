import { TemplateFault } from '../../template-fault.ts';

export type CharacterSet = (codePoint: number) => boolean;

/** A set from a pattern for one character. Such a pattern has nothing to repeat, so it cannot be slow. */
function fromPattern(pattern: RegExp): CharacterSet {
  return (codePoint) => pattern.test(String.fromCodePoint(codePoint));
}

const DIGIT = fromPattern(/^\p{Nd}$/u);
const SPACE = fromPattern(/^\p{White_Space}$/u);
const WORD = fromPattern(/^[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]$/u);

export function isWordCharacter(codePoint: number | undefined): boolean {
  return codePoint !== undefined && WORD(codePoint);
}

export function not(set: CharacterSet): CharacterSet {
  return (codePoint) => !set(codePoint);
}

export function anyOf(sets: readonly CharacterSet[]): CharacterSet {
  return (codePoint) => sets.some((set) => set(codePoint));
}

export function range(from: number, to: number): CharacterSet {
  return (codePoint) => codePoint >= from && codePoint <= to;
}

export function ignoringCase(set: CharacterSet): CharacterSet {
  return (codePoint) => {
    if (set(codePoint)) return true;
    const text = String.fromCodePoint(codePoint);
    return [text.toLowerCase(), text.toUpperCase()].some((other) => set(other.codePointAt(0) ?? codePoint));
  };
}

/** `\d`, `\W` and so on; undefined for other letters. */
export function classOfEscape(letter: string): CharacterSet | undefined {
  const set = new Map([
    ['d', DIGIT],
    ['s', SPACE],
    ['w', WORD],
  ]).get(letter.toLowerCase());
  if (set === undefined) return undefined;
  return letter === letter.toUpperCase() ? not(set) : set;
}

/** `\p{Greek}`, `\p{L}`: what Unicode calls general categories, scripts and properties. */
export function unicodeClass(name: string): CharacterSet {
  for (const property of [name, `Script=${name}`, `General_Category=${name}`]) {
    const pattern = /^[\w=]{1,60}$/u.test(property) ? propertyPattern(property) : undefined;
    if (pattern !== undefined) return fromPattern(pattern);
  }
  throw new TemplateFault('the regular expression names an unknown class of characters');
}

function propertyPattern(property: string): RegExp | undefined {
  try {
    return new RegExp(`^\\p{${property}}$`, 'u');
  } catch {
    return undefined;
  }
}

const POSIX: ReadonlyMap<string, RegExp> = new Map([
  ['alnum', /^[0-9A-Za-z]$/u],
  ['alpha', /^[A-Za-z]$/u],
  ['blank', /^[ \t]$/u],
  ['digit', /^\d$/u],
  ['lower', /^[a-z]$/u],
  ['punct', /^[!-/:-@[-`{-~]$/u],
  ['space', /^[\t-\r ]$/u],
  ['upper', /^[A-Z]$/u],
  ['word', /^\w$/u],
  ['xdigit', /^[\dA-Fa-f]$/u],
]);

/** `[:alpha:]` inside of brackets. */
export function posixClass(name: string): CharacterSet {
  const pattern = POSIX.get(name);
  if (pattern === undefined) throw new TemplateFault('the regular expression names an unknown class of characters');
  return fromPattern(pattern);
}
