import type { ReplyNode } from '../candidates/scan/reply-node.ts';

/*
 * Limits the work for one reply. Coercion counts its steps, each of about 100 ns: coercing a value to a type, comparing a
 * member with the fields of a class, searching some characters for a label. It counts steps instead of time, so that the
 * same reply has the same outcome on every machine.
 */

/**
 * Realistic replies need up to 7, and 15 in deltas, even for unions of 60 classes (`npm run growth`). With this limit,
 * the worst replies of 250 KB end after about two seconds. A worker reads such a reply on a thread.
 */
const STEPS_PER_CHARACTER = 32;

/** The minimum for short replies: the steps for a type with many members do not depend on the reply alone. */
const LEAST_STEPS = 500_000;

/**
 * The steps for a reply that svc reads in the event loop: typical replies of up to 30 KB, and longer ones on the fast path, need
 * fewer. A reply that needs more is read on a thread.
 */
const SHORT_STEPS = 250_000;

/** The characters of JSON that V8 parses in one step. */
export const PARSED_PER_STEP = 8;

/**
 * Coercions that run inside each other. 400 nested lists and objects take up to three for each; a stack of the default size
 * has room for about 2,000, or for fewer if a value is put into lists and objects at every level.
 */
const MAX_NESTED = 1_200;

/**
 * The number of lists and objects that a value is put into. It ends the recursion of a type that can contain itself as
 * its only member, such as `type A = A[]`. Results depend on the number and are stored under it.
 */
const MAX_WRAPS = 4;

class OutOfSteps extends Error {}

/** The state of one reading of a reply: the steps that are left, and the place of the coercion. */
export class Reading {
  /** The provider cut the reply off: a number, a word or a label at its very end is unfinished. */
  isCut = false;
  #left: number;
  #nested = 0;
  /** The value that is put into lists and objects, and their number. */
  #wrapped: ReplyNode | undefined = undefined;
  #wraps = 0;

  constructor(steps: number) {
    this.#left = steps;
  }

  get left(): number {
    return this.#left;
  }

  /** Counts the steps of work that depends on the reply. Throws in `StepBudget.run` if too few are left. */
  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new OutOfSteps();
  }

  /** Begins the coercion of a value to a type, which counts as a step. Call `leave` at its end, unless it throws. */
  enter(): void {
    this.spend(1);
    this.#nested += 1;
    if (this.#nested > MAX_NESTED) throw new OutOfSteps();
  }

  leave(): void {
    this.#nested -= 1;
  }

  /** Returns the number of lists and objects that the value is put into. */
  wrapsAround(node: ReplyNode): number {
    return node === this.#wrapped ? this.#wraps : 0;
  }

  /** Calls `use`, which coerces the node as the only member of a list or object. Returns undefined beyond MAX_WRAPS. */
  asOnlyMember<T>(node: ReplyNode, use: () => T): T | undefined {
    const wraps = this.wrapsAround(node) + 1;
    if (wraps > MAX_WRAPS) return undefined;
    const [outer, outerWraps] = [this.#wrapped, this.#wraps];
    this.#wrapped = node;
    this.#wraps = wraps;
    const result = use();
    this.#wrapped = outer;
    this.#wraps = outerWraps;
    return result;
  }
}

/** The time that reading a reply can take: `short` in an event loop that serves other calls, `long` everywhere else. */
export type Patience = 'short' | 'long';

/** The steps for one reply. */
export class StepBudget {
  /** The steps of all budgets so far, for measurements. */
  static spent = 0;
  /** The number of runs so far that took all steps of their reply, for metrics. */
  static exceeded = 0;
  /** The reading of the innermost `run`, for callers to which it is not passed. */
  static reading = new Reading(Infinity);
  #left: number;

  /** `characters`: the length of the reply so far. */
  constructor(characters = 0) {
    this.#left = LEAST_STEPS + characters * STEPS_PER_CHARACTER;
  }

  get left(): number {
    return this.#left;
  }

  /** True if no steps are left. */
  get isSpent(): boolean {
    return this.#left < 0;
  }

  /** Adds the steps for more text. Do not call it inside `run`, which writes back what is left. */
  grow(characters: number): void {
    this.#left += characters * STEPS_PER_CHARACTER;
  }

  /** Returns the result of `use`; undefined if the steps run out, which aborts `use` and leaves no steps. */
  run<T>(use: (reading: Reading) => T, patience: Patience = 'long'): T | undefined {
    if (this.isSpent) return undefined;
    const outer = StepBudget.reading;
    const given = patience === 'short' ? Math.min(this.#left, SHORT_STEPS) : this.#left;
    const reading = new Reading(given);
    StepBudget.reading = reading;
    let { left } = reading;
    try {
      const result = use(reading);
      ({ left } = reading);
      return result;
    } catch (error) {
      // V8 throws a RangeError for a stack or a string that becomes too long.
      if (!(error instanceof OutOfSteps || error instanceof RangeError)) throw error;
      left = -1;
      if (patience === 'long') StepBudget.exceeded += 1;
      return undefined;
    } finally {
      StepBudget.spent += given - left;
      this.#left = left < 0 ? left : this.#left - given + left;
      StepBudget.reading = outer;
    }
  }
}

/** Counts steps of the reading that runs. */
export function spend(steps: number): void {
  StepBudget.reading.spend(steps);
}
