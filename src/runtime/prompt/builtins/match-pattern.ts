import type { RE2JS } from 're2js';
import { TemplateFault } from '../template-fault.ts';
import type { Work } from '../values/work.ts';
import { loadRe2 } from './pattern-classes.ts';
import { MARKS, START_MARKS, translatePattern } from './translate-pattern.ts';

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
