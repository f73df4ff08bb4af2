import { TemplateFault } from '../../template-fault.ts';
import {
  anyOf,
  type CharacterSet,
  classOfEscape,
  ignoringCase,
  not,
  posixClass,
  range,
  unicodeClass,
} from './character-sets.ts';
import type { Assertion, PatternNode } from './pattern-node.ts';

/** Groups inside of groups. */
const MAX_NESTING = 50;
/** The count in `{n,m}`. */
const MAX_COUNT = 1000;

interface Flags {
  readonly ignoreCase: boolean;
  readonly multiLine: boolean;
  readonly dotAll: boolean;
}

/**
 * Parses the regular expressions that can be matched in linear time: no look-around, no back references. The syntax is
 * that of RE2 and of Rust's regex crate (https://docs.rs/regex/latest/regex/#syntax).
 */
export function parsePattern(pattern: string): PatternNode {
  return new PatternParser([...pattern]).parse();
}

class PatternParser {
  readonly #characters: readonly string[];
  #at = 0;
  #nesting = 0;
  #flags: Flags = { ignoreCase: false, multiLine: false, dotAll: false };

  constructor(characters: readonly string[]) {
    this.#characters = characters;
  }

  parse(): PatternNode {
    const result = this.#choice();
    if (this.#at < this.#characters.length) throw malformed();
    return result;
  }

  #choice(): PatternNode {
    const options = [this.#sequence()];
    while (this.#skip('|')) options.push(this.#sequence());
    const [only, ...others] = options;
    return only !== undefined && others.length === 0 ? only : { kind: 'choice', options };
  }

  #sequence(): PatternNode {
    const parts: PatternNode[] = [];
    while (this.#at < this.#characters.length && !this.#isAt('|') && !this.#isAt(')')) {
      parts.push(this.#repeated(this.#atom()));
    }
    return { kind: 'sequence', parts };
  }

  #repeated(atom: PatternNode): PatternNode {
    let part = atom;
    for (;;) {
      const bounds = this.#bounds();
      if (bounds === undefined) return part;
      this.#skip('?');
      part = { kind: 'repeat', part, ...bounds };
    }
  }

  #bounds(): { readonly min: number; readonly max: number } | undefined {
    if (this.#skip('*')) return { min: 0, max: Number.POSITIVE_INFINITY };
    if (this.#skip('+')) return { min: 1, max: Number.POSITIVE_INFINITY };
    if (this.#skip('?')) return { min: 0, max: 1 };
    const counted = /^\{(\d{1,4})(,(\d{0,4}))?\}/u.exec(this.#ahead(12));
    if (counted === null) return undefined;
    this.#at += counted[0].length;
    const min = Number(counted[1]);
    const most = counted[3] === '' ? Number.POSITIVE_INFINITY : Number(counted[3]);
    const max = counted[2] === undefined ? min : most;
    if (min > MAX_COUNT || (Number.isFinite(max) && max > MAX_COUNT) || max < min) throw malformed();
    return { min, max };
  }

  #atom(): PatternNode {
    const character = this.#take();
    switch (character) {
      case '(':
        return this.#group();
      case '[':
        return this.#set(this.#brackets());
      case '.':
        return { kind: 'set', holds: this.#flags.dotAll ? () => true : (codePoint) => codePoint !== 10 };
      case '^':
        return assertion(this.#flags.multiLine ? 'line-start' : 'text-start');
      case '$':
        return assertion(this.#flags.multiLine ? 'line-end' : 'text-end');
      case '\\':
        return this.#escape();
      case '*':
      case '+':
      case '?':
        throw malformed();
      default:
        return this.#set(single(character));
    }
  }

  #group(): PatternNode {
    const outer = this.#flags;
    this.#nesting += 1;
    if (this.#nesting > MAX_NESTING) throw new TemplateFault('the regular expression is nested too deeply');
    if (this.#skip('?') && this.#groupHead()) {
      this.#nesting -= 1;
      return { kind: 'empty' };
    }
    const result = this.#choice();
    if (!this.#skip(')')) throw malformed();
    this.#flags = outer;
    this.#nesting -= 1;
    return result;
  }

  /** What follows `(?`. True when the group is over: it only sets flags for what comes after it. */
  #groupHead(): boolean {
    const name = /^P?<[A-Za-z_]\w{0,60}>/u.exec(this.#ahead(70));
    if (name !== null) {
      this.#at += name[0].length;
      return false;
    }
    const flags = /^([imsuU]*)(?:-([imsuU]+))?([:)])/u.exec(this.#ahead(20));
    if (flags === null) throw new TemplateFault('the regular expression uses look-around, which is not supported');
    this.#at += flags[0].length;
    this.#setFlags(flags[1] ?? '', true);
    this.#setFlags(flags[2] ?? '', false);
    return flags[3] === ')';
  }

  #setFlags(letters: string, on: boolean): void {
    const { ignoreCase, multiLine, dotAll } = this.#flags;
    this.#flags = {
      ignoreCase: letters.includes('i') ? on : ignoreCase,
      multiLine: letters.includes('m') ? on : multiLine,
      dotAll: letters.includes('s') ? on : dotAll,
    };
  }

  #escape(): PatternNode {
    const letter = this.#take();
    const found = ASSERTIONS.get(letter);
    if (found !== undefined) return assertion(found);
    if (/[1-9]/u.test(letter)) {
      throw new TemplateFault('the regular expression uses a back reference, which is not supported');
    }
    return this.#set(this.#escapedSet(letter));
  }

  /** What `\` and a letter stand for, inside and outside of brackets. */
  #escapedSet(letter: string): CharacterSet {
    if (letter === 'p' || letter === 'P') {
      const set = unicodeClass(this.#isAt('{') ? this.#braced() : this.#take());
      return letter === 'p' ? set : not(set);
    }
    return classOfEscape(letter) ?? single(this.#escapedCharacter(letter));
  }

  #escapedCharacter(letter: string): string {
    const simple = ESCAPES.get(letter);
    if (simple !== undefined) return simple;
    if (letter === 'x' || letter === 'u') {
      const digits = this.#isAt('{') ? this.#braced() : this.#takeMany(letter === 'x' ? 2 : 4);
      const codePoint = /^[\dA-Fa-f]{1,6}$/u.test(digits) ? Number.parseInt(digits, 16) : Number.NaN;
      if (!(codePoint <= 0x10ffff)) throw malformed();
      return String.fromCodePoint(codePoint);
    }
    if (/[\p{L}\p{N}]/u.test(letter)) throw malformed();
    return letter;
  }

  #brackets(): CharacterSet {
    const negated = this.#skip('^');
    const sets: CharacterSet[] = [];
    let first = true;
    while (first || !this.#isAt(']')) {
      sets.push(this.#bracketItem());
      first = false;
    }
    this.#take();
    const all = this.#flags.ignoreCase ? ignoringCase(anyOf(sets)) : anyOf(sets);
    return negated ? not(all) : all;
  }

  #bracketItem(): CharacterSet {
    const posix = /^\[:(\^?)(\w{1,10}):\]/u.exec(this.#ahead(16));
    if (posix !== null) {
      this.#at += posix[0].length;
      const set = posixClass(posix[2] ?? '');
      return posix[1] === '^' ? not(set) : set;
    }
    if (this.#isAt('[') || this.#ahead(2) === '&&') {
      throw new TemplateFault('the regular expression combines sets, which is not supported');
    }
    const start = this.#bracketCharacter();
    if (typeof start !== 'string') return start;
    if (!this.#isAt('-') || this.#characters[this.#at + 1] === ']') return single(start);
    this.#take();
    const end = this.#bracketCharacter();
    if (typeof end !== 'string' || code(end) < code(start)) throw malformed();
    return range(code(start), code(end));
  }

  #bracketCharacter(): string | CharacterSet {
    const character = this.#take();
    if (character !== '\\') return character;
    const letter = this.#take();
    return /[pPdDsSwW]/u.test(letter) ? this.#escapedSet(letter) : this.#escapedCharacter(letter);
  }

  #set(holds: CharacterSet): PatternNode {
    return { kind: 'set', holds: this.#flags.ignoreCase ? ignoringCase(holds) : holds };
  }

  #braced(): string {
    const found = /^\{([^}]{1,60})\}/u.exec(this.#ahead(64));
    if (found === null) throw malformed();
    this.#at += [...found[0]].length;
    return found[1] ?? '';
  }

  #take(): string {
    const character = this.#characters[this.#at];
    if (character === undefined) throw malformed();
    this.#at += 1;
    return character;
  }

  #takeMany(count: number): string {
    return Array.from({ length: count }, () => this.#take()).join('');
  }

  #isAt(character: string): boolean {
    return this.#characters[this.#at] === character;
  }

  #skip(character: string): boolean {
    const found = this.#isAt(character);
    if (found) this.#at += 1;
    return found;
  }

  #ahead(count: number): string {
    return this.#characters.slice(this.#at, this.#at + count).join('');
  }
}

const ASSERTIONS: ReadonlyMap<string, Assertion> = new Map([
  ['A', 'text-start'],
  ['z', 'text-end'],
  ['b', 'word-boundary'],
  ['B', 'no-word-boundary'],
]);

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['f', '\f'],
  ['v', '\v'],
  ['a', '\u0007'],
  ['0', '\0'],
]);

function assertion(kind: Assertion): PatternNode {
  return { kind: 'assertion', assertion: kind };
}

function code(character: string): number {
  return character.codePointAt(0) ?? 0;
}

function single(character: string): CharacterSet {
  const wanted = code(character);
  return (codePoint) => codePoint === wanted;
}

function malformed(): TemplateFault {
  return new TemplateFault('the regular expression is malformed');
}
