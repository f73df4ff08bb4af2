import { TemplateFault } from './template-fault.ts';
import { PromptOutput } from './values/output.ts';
import type { Value } from './values/value.ts';
import { MAX_TEXT, Work } from './values/work.ts';

/** Macros inside macros: trees that are rendered recursively are rarely deeper than 20. */
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
