import { TemplateFault } from './template-fault.ts';
import { MAX_TEXT } from './text-limit.ts';
import { Output } from './values/rich-text.ts';
import { forgetEntries, type Value } from './values/value.ts';
import { spendWork, startWork } from './work-budget.ts';

/** Macros inside macros: trees that are rendered recursively are rarely deeper than 20. */
const MAX_CALLS = 100;

/** What one rendering (or one condition) uses up, and where it stands. */
export class Run {
  out = new Output();
  /** Offset in `file` of the expression that is evaluated: where a fault is reported. */
  at = 0;
  file: string;
  /** `ctx`, the arguments by name, and other names that are known only at run time. */
  readonly lookup: (name: string) => Value;
  #calls = 0;

  constructor(file: string, lookup: (name: string) => Value) {
    this.file = file;
    this.lookup = lookup;
    startWork();
    forgetEntries();
  }

  /** Pays for work before it is done. */
  charge(units: number): void {
    spendWork(units);
    if (this.out.length > MAX_TEXT) throw new TemplateFault('the output is too long');
  }

  enterCall(): void {
    this.#calls += 1;
    this.charge(5);
    if (this.#calls > MAX_CALLS) throw new TemplateFault('macros call each other too deeply');
  }

  leaveCall(): void {
    this.#calls -= 1;
  }
}
