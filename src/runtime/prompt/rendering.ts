import { TemplateFault, MAX_TEXT, Work } from './values/work.ts';
import { PromptOutput, type RichText, type Value, writtenText } from './values/value.ts';

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
