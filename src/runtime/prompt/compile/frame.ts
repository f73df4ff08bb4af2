import type { Rendering } from '../rendering.ts';
import { PromptOutput } from '../values/output.ts';
import { type RichText, type Value, writtenText } from '../values/value.ts';

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

/** Fills a slot until `set` has run: until then the name has its meaning outside. */
export const UNSET: Value = Object.freeze(new Map<Value, Value>());

/** Runs a body and returns its text, segments included. */
export function capture(frame: Frame, body: Execute): string | RichText {
  const { rendering } = frame;
  const outer = rendering.out;
  const inner = new PromptOutput(rendering);
  rendering.out = inner;
  body(frame);
  rendering.out = outer;
  return writtenText(inner);
}
