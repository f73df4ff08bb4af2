import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';
import { TemplateFault } from '../template-fault.ts';

const load = createRequire(import.meta.url);

/** Loads re2js on first use (5 ms), since most programs have no regular expression. Synchronous, like rendering. */
export function loadRe2(): typeof RE2JS {
  return (load('re2js') as { readonly RE2JS: typeof RE2JS }).RE2JS;
}

/** Reports whether the escape denotes a class of characters. RE2 reads hundreds of ranges for most of them. */
export function isClassEscape(token: string): boolean {
  return /^\\[pPdDsSwW]/u.test(token);
}

/** Translates an escape outside brackets. */
export function translateEscape(token: string): string {
  if (/^\\[1-9]/u.test(token)) {
    throw new TemplateFault('the regular expression uses a back reference, which is not supported');
  }
  if (token === '\\W') return `[^${WORD}]`;
  return isClassEscape(token) ? `[${translateSetEscape(token)}]` : translateSetEscape(token);
}

const WORD = String.raw`\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200c}\x{200d}`;
const NOT_WORD = String.raw`^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}`;

const CLASSES: ReadonlyMap<string, string> = new Map([
  ['\\d', '\\p{Nd}'],
  ['\\D', '\\P{Nd}'],
  ['\\s', '\\p{White_Space}'],
  ['\\S', '\\P{White_Space}'],
  ['\\w', WORD],
]);

const CONTROLS: ReadonlyMap<string, string> = new Map([
  ['\\n', '\n'],
  ['\\r', '\r'],
  ['\\t', '\t'],
  ['\\f', '\f'],
  ['\\v', '\v'],
  ['\\a', '\u0007'],
  ['\\0', '\0'],
]);

/** Translates an escape inside brackets. */
export function translateSetEscape(token: string): string {
  const known = CLASSES.get(token);
  if (known !== undefined) return known;
  if (token === '\\W') return rangesOf(NOT_WORD);
  if (/^\\[pP]/u.test(token)) return translateProperty(token);
  const control = CONTROLS.get(token);
  if (control !== undefined) return literal(control);
  if (/^\\[xu]/u.test(token)) return literal(characterOf(token));
  const character = token.slice(1);
  if (character === '' || /[\p{L}\p{N}]/u.test(character)) throw malformedPattern();
  return literal(character);
}

function literal(character: string): string {
  return `\\x{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** Reads `\x41`, `\u0041` or `\u{1F600}`. */
function characterOf(token: string): string {
  const digits = /^\\(?:x([\dA-Fa-f]{2})|u([\dA-Fa-f]{4})|[xu]\{([\dA-Fa-f]{1,6})\})$/u.exec(token);
  const codePoint = Number.parseInt(digits?.[1] ?? digits?.[2] ?? digits?.[3] ?? '', 16);
  if (!(codePoint <= 0x10ffff)) throw malformedPattern();
  return String.fromCodePoint(codePoint);
}

/** Translates `\p{Greek}` and `\pL`. RE2 lacks the long names of categories and some properties; their ranges come from JavaScript. */
function translateProperty(token: string): string {
  const name = /^\\[pP]\{?\^?(?:(?:sc|Script|gc|General_Category)[=:])?(\w{1,60})\}?$/u.exec(token)?.[1];
  if (name === undefined) throw unknownClass();
  const letter = token.startsWith('\\P') !== token.includes('{^') ? 'P' : 'p';
  if (isPropertyOfRe2(name)) return `\\${letter}{${name}}`;
  const set = [name, `Script=${name}`, `General_Category=${name}`]
    .map((property) => `\\${letter}{${property}}`)
    .find(isSetOfJavaScript);
  if (set === undefined) throw unknownClass();
  return rangesOf(set);
}

function isPropertyOfRe2(name: string): boolean {
  try {
    loadRe2().compile(`\\p{${name}}`);
    return true;
  } catch {
    return false;
  }
}

function isSetOfJavaScript(set: string): boolean {
  try {
    return new RegExp(set, 'u').unicode;
  } catch {
    return false;
  }
}

const knownRanges = new Map<string, string>();

/** Lists, for use inside brackets, the ranges of code points that a set of JavaScript's regular expressions contains. Takes 10 ms. */
function rangesOf(set: string): string {
  const known = knownRanges.get(set);
  if (known !== undefined) return known;
  const isInSet = new RegExp(`[${set}]`, 'u');
  let ranges = '';
  let start: number | undefined;
  for (let codePoint = 0; codePoint <= 0x110000; codePoint += strideAt(codePoint)) {
    const isIn = codePoint < 0x110000 && isInSet.test(String.fromCodePoint(codePoint));
    if (isIn) start ??= codePoint;
    else if (start !== undefined) {
      ranges += `\\x{${start.toString(16)}}-\\x{${(codePoint - 1).toString(16)}}`;
      start = undefined;
    }
  }
  knownRanges.set(set, ranges);
  return ranges;
}

/** Planes that are unassigned or for private use have the same properties throughout. */
function strideAt(codePoint: number): number {
  const isUniform = codePoint >= 0x40000 && !(codePoint >= 0xe0000 && codePoint < 0xe1000);
  return isUniform ? 0x1000 : 1;
}

const POSIX_CLASS =
  /^\[:\^?(?:alnum|alpha|ascii|blank|cntrl|digit|graph|lower|print|punct|space|upper|word|xdigit):\]$/u;

export function assertPosixClass(token: string): void {
  if (!POSIX_CLASS.test(token)) throw unknownClass();
}

export function malformedPattern(): TemplateFault {
  return new TemplateFault('the regular expression is malformed');
}

function unknownClass(): TemplateFault {
  return new TemplateFault('the regular expression names an unknown class of characters');
}
