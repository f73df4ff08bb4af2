import type { RE2JS } from 're2js';
import { createRequire } from 'node:module';
import { TemplateFault, type Work } from '../values/work.ts';

/** Compiled patterns to keep. Nearly all are constants of templates; each can grow an automaton of up to 8 MB. */
const MAX_COMPILED = 50;
const compiled = new Map<string, RE2JS>();

/**
 * Reports whether a regular expression, in the syntax of Rust's regex crate, matches somewhere in a string. Takes time in proportion
 * to the length of the string times the size of the pattern, and charges for it beforehand.
 */
export function matchesPattern(text: string, pattern: string, work: Work): boolean {
  // oxlint-disable-next-line no-control-regex -- all of ASCII
  const marked = /\\b/iu.test(pattern) && /[^\u0000-\u007f]/u.test(text);
  const key = marked ? `b${pattern}` : `a${pattern}`;
  const regex = compiled.get(key) ?? compile(pattern, marked, work);
  compiled.set(key, regex);
  const length = marked ? text.length * 2 : text.length;
  // At worst (an automaton that grows with every character) 25 ns for each character and instruction.
  work.spend(1 + Math.ceil((length * regex.programSize()) / 16));
  return regex.test(marked ? markBoundaries(text) : text);
}

function compile(pattern: string, marked: boolean, work: Work): RE2JS {
  const { source, size, classes } = translatePattern(pattern, { marked });
  // About 4 µs for each instruction, 100 µs for each class.
  work.spend(size * 16 + classes * 300);
  const RE2 = loadRe2();
  if (compiled.size >= MAX_COMPILED) compiled.clear();
  try {
    return RE2.compile(source, marked ? RE2.LOOKBEHINDS : 0);
  } catch (error) {
    // The translation has refused every pattern that has another reason.
    const isTooLarge = error instanceof Error && /repeat count|too large/u.test(error.message);
    throw new TemplateFault(`the regular expression is ${isTooLarge ? 'too large' : 'malformed'}`);
  }
}

const STARTS_WITH_WORD = /^[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]/u;

/**
 * Puts a mark before and after each character. RE2 knows only the word boundaries of ASCII, so in other strings a pattern looks
 * for these marks behind itself. Unicode reserves their code points: no text contains them.
 */
function markBoundaries(text: string): string {
  let marked = '';
  let marks = START_MARKS;
  let wasWord = false;
  for (const character of text) {
    const isWord = STARTS_WITH_WORD.test(character);
    marked += marks.charAt(Number(isWord !== wasWord)) + character;
    marks = MARKS;
    wasWord = isWord;
  }
  return marked + marks.charAt(Number(wasWord));
}

// --- translation -----------------------------------------------------------------------------------------------------

/** A pattern in the syntax of RE2. */
interface TranslatedPattern {
  readonly source: string;
  /** About how many instructions RE2 compiles it to. */
  readonly size: number;
  /** Classes like `\w` and `\p{L}` in it; RE2 reads hundreds of ranges for each. */
  readonly classes: number;
}

/** Counted repetitions are copies: this bounds the time and memory that one pattern takes. */
const MAX_SIZE = 5000;
/** Characters of a pattern: twice what the longest patterns for email addresses have. */
const MAX_LENGTH = 10_000;
/** Classes of a pattern: compiling one takes about 0.1 ms. */
const MAX_CLASSES = 200;
/** Groups inside groups, as in Rust's regex crate. */
const MAX_NESTING = 250;
/** The largest count in `{n,m}` that RE2 accepts. */
const MAX_COUNT = 1000;

const ESCAPE = String.raw`\\(?:[pP](?:\{[^}]*\}|.)|[xu]\{[^}]*\}|x[^]{0,2}|u[^]{0,4}|[^]?)`;
const GROUP = String.raw`\(\?P?<[A-Za-z_]\w*>|\(\?[A-Za-z-]*[:)]|\(\??`;
const QUANTIFIER = String.raw`[*+?]\??|\{\d+(?:,\d*)?\}\??`;
/** One token outside brackets; the start of a set includes a first "]", which is literal. */
const TOKEN = new RegExp(String.raw`${ESCAPE}|${GROUP}|${QUANTIFIER}|\[\^?\]?|[^]`, 'uy');
/** One token inside brackets. */
const SET_TOKEN = new RegExp(String.raw`${ESCAPE}|\[:\^?\w*:\]|&&|[^]`, 'uy');
const ASSERTION = /^(?:[$^]|\\[AzbB])$/u;

/** Marks between characters, first those before the first one. The second of each pair: a word begins or ends there. */
const START_MARKS = '\ufdd0\ufdd1';
const MARKS = '\ufdd2\ufdd3';

/**
 * Translates a regular expression from the syntax of Rust's regex crate (https://docs.rs/regex/latest/regex/#syntax) to that of
 * RE2 (https://github.com/google/re2/wiki/Syntax). In Rust, `\d`, `\s` and `\w` cover Unicode, `\u` is an escape, properties
 * have long names, and repetitions can be repeated.
 */
function translatePattern(pattern: string, options: { readonly marked: boolean }): TranslatedPattern {
  if (pattern.length > MAX_LENGTH) throw tooLarge();
  return new PatternTranslator(pattern, options.marked).translate();
}

interface OpenGroup {
  readonly start: number;
  readonly outerSize: number;
  readonly multiLine: boolean;
}

class PatternTranslator {
  readonly #pattern: string;
  readonly #marked: boolean;
  readonly #output: string[] = [];
  readonly #groups: OpenGroup[] = [];
  #at = 0;
  #multiLine = false;
  #classes = 0;
  /** Size of the innermost open group so far. */
  #size = 0;
  /** What the next quantifier repeats. */
  #atom: { readonly start: number; readonly size: number; readonly repeated: boolean } | undefined;

  constructor(pattern: string, marked: boolean) {
    this.#pattern = pattern;
    this.#marked = marked;
  }

  translate(): TranslatedPattern {
    while (this.#at < this.#pattern.length) this.#token(this.#next(TOKEN));
    const source = this.#output.join('');
    return {
      source: this.#marked ? `(?<=[${START_MARKS}${MARKS}])(?:${source})` : source,
      size: this.#size,
      classes: this.#classes,
    };
  }

  #next(tokens: RegExp): string {
    tokens.lastIndex = this.#at;
    const token = tokens.exec(this.#pattern)?.[0];
    if (token === undefined) throw malformedPattern();
    this.#at = tokens.lastIndex;
    if (isClassEscape(token)) this.#classes += 1;
    if (this.#classes > MAX_CLASSES) throw tooLarge();
    return token;
  }

  #token(token: string): void {
    const first = token.charAt(0);
    if (ASSERTION.test(token)) this.#addAtom(this.#marked ? this.#markedAssertion(token) : token);
    else if (first === '\\') this.#addCharacter(translateEscape(token));
    else if (first === '[') this.#addCharacter(this.#brackets(token));
    else if (first === '(') this.#openGroup(token);
    else if (first === ')') this.#closeGroup();
    else if (isQuantifier(token)) this.#repeat(token);
    else if (first === '|') this.#addOther(token);
    else this.#addCharacter(token);
  }

  /** Whatever matches one character. */
  #addCharacter(text: string): void {
    this.#addAtom(this.#marked ? `(?:${text}[${MARKS}])` : text);
  }

  #addAtom(text: string): void {
    this.#atom = { start: this.#output.length, size: 1, repeated: false };
    this.#output.push(text);
    this.#grow(1);
  }

  #markedAssertion(token: string): string {
    if (token === '\\b') return isAfter('[\ufdd1\ufdd3]');
    if (token === '\\B') return isAfter('[\ufdd0\ufdd2]');
    if (token === '^' && this.#multiLine) return isAfter(`(?:[${START_MARKS}]|\\n[${MARKS}])`);
    return token === '^' || token === '\\A' ? isAfter(`[${START_MARKS}]`) : token;
  }

  #addOther(text: string): void {
    this.#atom = undefined;
    this.#output.push(text);
  }

  #grow(size: number): void {
    this.#size += size;
    if (this.#size > MAX_SIZE) throw tooLarge();
  }

  #openGroup(token: string): void {
    const flags = token.length > 2 && /[:)]$/u.test(token) ? flagsOf(token) : undefined;
    const outer = this.#multiLine;
    if (flags !== undefined) this.#multiLine = flags.multiLine ?? outer;
    if (token.endsWith(')')) return this.#addOther(flags?.text ?? '');
    if (this.#groups.length >= MAX_NESTING) throw new TemplateFault('the regular expression is nested too deeply');
    this.#groups.push({ start: this.#output.length, outerSize: this.#size, multiLine: outer });
    this.#addOther(flags?.text ?? assertGroup(token));
    this.#size = 2;
  }

  #closeGroup(): void {
    const group = this.#groups.pop();
    if (group === undefined) throw malformedPattern();
    this.#output.push(')');
    this.#multiLine = group.multiLine;
    this.#atom = { start: group.start, size: this.#size, repeated: false };
    this.#size = group.outerSize;
    this.#grow(this.#atom.size);
  }

  #repeat(token: string): void {
    const atom = this.#atom;
    if (atom === undefined) throw malformedPattern();
    const { start } = atom;
    if (atom.repeated) this.#output.push(`(?:${this.#output.splice(start).join('')})`);
    this.#output.push(token);
    const added = atom.size * (copiesOf(token) - 1) + 1;
    this.#atom = { start, size: atom.size + added, repeated: true };
    this.#grow(added);
  }

  #brackets(head: string): string {
    const items = [head];
    for (let token = this.#next(SET_TOKEN); token !== ']'; token = this.#next(SET_TOKEN)) {
      if (token === '[' || token === '&&') {
        throw new TemplateFault('the regular expression combines sets, which is not supported');
      }
      if (token.startsWith('[:')) assertPosixClass(token);
      items.push(token.startsWith('\\') ? translateSetEscape(token) : token);
    }
    return `${items.join('')}]`;
  }
}

/** Holds behind a mark. In a group of its own, so that it can be repeated like other assertions. */
function isAfter(marks: string): string {
  return `(?:(?<=${marks}))`;
}

function isQuantifier(token: string): boolean {
  return /^[*+?]|^\{\d/u.test(token);
}

/** The number of copies to which a quantifier expands its operand. */
function copiesOf(quantifier: string): number {
  const counts = quantifier.match(/\d+/gu)?.map(Number) ?? [1];
  const [least = 1, most = least] = counts;
  if (most < least) throw malformedPattern();
  if (most > MAX_COUNT) throw tooLarge();
  return Math.max(1, most);
}

function assertGroup(token: string): string {
  if (token === '(?') throw new TemplateFault('the regular expression uses look-around, which is not supported');
  return token;
}

/** Flags that apply to a group or to what follows: `(?s-m:`, `(?i)`. `u` is always on. */
function flagsOf(token: string): { readonly text: string; readonly multiLine: boolean | undefined } {
  const flags = /^\(\?([imsuU]*)(?:-([imsuU]+))?[:)]$/u.exec(token);
  if (flags === null) throw new TemplateFault('the regular expression uses a flag that is not supported');
  const on = (flags[1] ?? '').replaceAll('u', '');
  const off = (flags[2] ?? '').replaceAll('u', '');
  const letters = off === '' ? on : `${on}-${off}`;
  const multiLine = off.includes('m') ? false : on.includes('m') || undefined;
  return { text: letters === '' && token.endsWith(')') ? '' : `(?${letters}${token.slice(-1)}`, multiLine };
}

function tooLarge(): TemplateFault {
  return new TemplateFault('the regular expression is too large');
}

const load = createRequire(import.meta.url);

/** Loads re2js on first use (5 ms), since most programs have no regular expression. Synchronous, like rendering. */
function loadRe2(): typeof RE2JS {
  return (load('re2js') as { readonly RE2JS: typeof RE2JS }).RE2JS;
}

/** Reports whether the escape denotes a class of characters. RE2 reads hundreds of ranges for most of them. */
function isClassEscape(token: string): boolean {
  return /^\\[pPdDsSwW]/u.test(token);
}

/** Translates an escape outside brackets. */
function translateEscape(token: string): string {
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
function translateSetEscape(token: string): string {
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

function assertPosixClass(token: string): void {
  if (!POSIX_CLASS.test(token)) throw unknownClass();
}

function malformedPattern(): TemplateFault {
  return new TemplateFault('the regular expression is malformed');
}

function unknownClass(): TemplateFault {
  return new TemplateFault('the regular expression names an unknown class of characters');
}
