import { PromptOutput } from './values/output.ts';
import { type RichText, type Value, writtenText } from './values/value.ts';

/**
 * Reports that a template cannot be rendered. Thrown inside compiled templates and turned into a failure at the edge of this
 * folder; no other code sees it. The message names kinds of values, never their content.
 */
export class TemplateFault extends Error {
  readonly code = 'template_fault';
  override readonly name = 'TemplateFault';
}

/**
 * Returns why a template could not be evaluated. Covers what the JavaScript engine refuses, a stack or a string that grows
 * too large; throws any other error again, because it is a bug.
 */
export function templateReason(error: unknown): string {
  if (error instanceof TemplateFault) return error.message;
  if (error instanceof RangeError) return 'it is nested too deeply or becomes too large';
  throw error;
}

/**
 * Units of work that one rendering can spend. One unit is a round of a loop, a hundred characters that a filter reads, or an item that
 * is printed or compared: at most 300 ns. A prompt of 100 KB with loops takes a few thousand.
 */
const MAX_WORK = 250_000;

/** Characters of one value and of the whole output: twice the context of the largest models. */
export const MAX_TEXT = 8_000_000;

/** The state that the values of one rendering share: its work budget, and the entries of JSON objects that a template read. */
export class Work {
  #left = MAX_WORK;
  #entries: WeakMap<object, ReadonlyMap<unknown, unknown>> | undefined;

  /** Pays for work before it is done. */
  spend(units: number): void {
    this.#left -= units;
    if (this.#left < 0) throw new TemplateFault('the template takes too many steps');
  }

  /** Returns the entries of a JSON object, made once: a template can ask for them in every round of a loop. */
  entriesOf<T>(record: Readonly<Record<string, T>>): ReadonlyMap<unknown, unknown> {
    this.#entries ??= new WeakMap();
    const known = this.#entries.get(record);
    if (known !== undefined) return known;
    const entries = new Map(Object.entries(record));
    this.#entries.set(record, entries);
    return entries;
  }
}

/** Refuses a string before it becomes too long. */
export function assertTextLength(length: number): void {
  if (length > MAX_TEXT) throw new TemplateFault('a string becomes too long');
}

/** Depth of macros inside macros: trees that templates render recursively are rarely deeper than 20. */
const MAX_CALLS = 100;

/** The state of one rendering of a prompt, or of one evaluation of a condition. */
export class Rendering extends Work {
  out = new PromptOutput(this);
  /** Offset in `file` of the expression that is evaluated, for the message of a fault. */
  at = 0;
  file: string;
  /** Returns `ctx`, the arguments by name, and other values that are known only when rendering. */
  readonly lookup: (name: string) => Value;
  #calls = 0;

  constructor(file: string, lookup: (name: string) => Value) {
    super();
    this.file = file;
    this.lookup = lookup;
  }

  override spend(units: number): void {
    super.spend(units);
    if (this.out.length > MAX_TEXT) throw new TemplateFault('the output is too long');
  }

  enterCall(): void {
    this.#calls += 1;
    this.spend(5);
    if (this.#calls > MAX_CALLS) throw new TemplateFault('macros call each other too deeply');
  }

  leaveCall(): void {
    this.#calls -= 1;
  }
}

/** One activation of a template or macro: its variables by slot. */
export class Frame {
  readonly slots: Value[];
  readonly rendering: Rendering;
  /** The activation in which the macro was defined. */
  readonly parent: Frame | undefined;

  constructor(slots: Value[], rendering: Rendering, parent?: Frame) {
    this.slots = slots;
    this.rendering = rendering;
    this.parent = parent;
  }
}

/** A compiled expression. */
export type Evaluate = (frame: Frame) => Value;
/** A compiled statement or body of statements: writes to `frame.rendering.out`. */
export type Execute = (frame: Frame) => void;

/** Fills a slot until `set` runs; until then, the name has the meaning that it has outside. */
export const UNSET: Value = Object.freeze(new Map<Value, Value>());

/** Runs a body and returns its output, segments included. */
export function capture(frame: Frame, body: Execute): string | RichText {
  const { rendering } = frame;
  const outer = rendering.out;
  const inner = new PromptOutput(rendering);
  rendering.out = inner;
  body(frame);
  rendering.out = outer;
  return writtenText(inner);
}
