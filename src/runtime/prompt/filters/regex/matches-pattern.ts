import type { Run } from '../../run.ts';
import { isWordCharacter } from './character-sets.ts';
import { compilePattern, type Instruction } from './compile-pattern.ts';
import { parsePattern } from './parse-pattern.ts';
import type { Assertion } from './pattern-node.ts';

/** Patterns stand in templates, so there are few. */
const MAX_REMEMBERED = 200;
const programs = new Map<string, readonly Instruction[]>();

/**
 * Whether a regular expression matches somewhere in a text. Time is proportional to the length of the text times that of
 * the pattern, whatever they are, and it is charged.
 */
export function matchesPattern(text: string, pattern: string, run: Run): boolean {
  return new Matcher(programOf(pattern), run).search(text);
}

function programOf(pattern: string): readonly Instruction[] {
  const known = programs.get(pattern);
  if (known !== undefined) return known;
  const program = compilePattern(parsePattern(pattern));
  if (programs.size >= MAX_REMEMBERED) programs.clear();
  programs.set(pattern, program);
  return program;
}

/** What an assertion may look at. */
interface Surroundings {
  readonly before: number | undefined;
  readonly after: number | undefined;
}

/** Follows all states of the automaton at once. */
class Matcher {
  readonly #program: readonly Instruction[];
  readonly #run: Run;
  /** In which step each instruction was last reached. */
  readonly #reached: Uint32Array;
  #step = 0;
  #states: number[] = [];

  constructor(program: readonly Instruction[], run: Run) {
    this.#program = program;
    this.#run = run;
    this.#reached = new Uint32Array(program.length);
  }

  search(text: string): boolean {
    const start = this.#program.length - 1;
    let before: number | undefined;
    let active: number[] = [];
    for (let at = 0; at <= text.length; at += 1) {
      const after = text.codePointAt(at);
      this.#step += 1;
      this.#states = [];
      for (const state of [...active, start]) if (this.#reach(state, { before, after })) return true;
      if (at % 4 === 0) this.#run.charge(1 + this.#states.length);
      if (after === undefined) return false;
      active = this.#consume(after);
      if (after > 0xffff) at += 1;
      before = after;
    }
    return false;
  }

  /** Adds the states that can be reached without a character; true when one of them is a match. */
  #reach(from: number, around: Surroundings): boolean {
    const stack = [from];
    for (let index = stack.pop(); index !== undefined; index = stack.pop()) {
      const instruction = this.#program[index];
      if (instruction === undefined || this.#reached[index] === this.#step) continue;
      this.#reached[index] = this.#step;
      if (instruction.kind === 'match') return true;
      if (instruction.kind === 'set') this.#states.push(index);
      else if (instruction.kind === 'split') stack.push(instruction.other, instruction.next);
      else if (holds(instruction.assertion, around)) stack.push(instruction.next);
    }
    return false;
  }

  #consume(codePoint: number): number[] {
    const next: number[] = [];
    for (const index of this.#states) {
      const instruction = this.#program[index];
      if (instruction?.kind === 'set' && instruction.holds(codePoint)) next.push(instruction.next);
    }
    return next;
  }
}

function holds(assertion: Assertion, { before, after }: Surroundings): boolean {
  switch (assertion) {
    case 'text-start':
      return before === undefined;
    case 'text-end':
      return after === undefined;
    case 'line-start':
      return before === undefined || before === 10;
    case 'line-end':
      return after === undefined || after === 10;
    case 'word-boundary':
      return isWordCharacter(before) !== isWordCharacter(after);
    case 'no-word-boundary':
      return isWordCharacter(before) === isWordCharacter(after);
  }
}
