import type { Run } from '../run.ts';
import type { Value } from '../values/value.ts';

/** One activation of a template or macro: its variables by slot. */
export class Frame {
  readonly slots: Value[];
  readonly run: Run;
  /** The activation in which the macro was defined. */
  readonly parent: Frame | undefined;

  constructor(slots: Value[], run: Run, parent?: Frame) {
    this.slots = slots;
    this.run = run;
    this.parent = parent;
  }
}

/** An expression, ready to be evaluated. */
export type Evaluate = (frame: Frame) => Value;
/** A statement or a body of statements, ready to run: writes to `frame.run.out`. */
export type Execute = (frame: Frame) => void;

/** Stands in a slot until `set` has run: the name then means what it means outside. */
export const UNSET: Value = Object.freeze(new Map<Value, Value>());
