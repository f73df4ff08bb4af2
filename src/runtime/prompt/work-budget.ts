import { TemplateFault } from './template-fault.ts';

/**
 * Units of work that one rendering may take. One is a round of a loop, a hundred characters that a filter reads, or an
 * item that is printed or compared: at most 300 ns. A prompt of 100 KB with loops takes some thousands.
 */
const MAX_WORK = 250_000;

/**
 * Rendering is synchronous, so one thread renders one template at a time: its budget stands here instead of being a
 * parameter of every function that prints, compares or copies values.
 */
let left = MAX_WORK;

/** Begins the budget of a rendering. */
export function startWork(): void {
  left = MAX_WORK;
}

/** Pays for work before it is done. */
export function spendWork(units: number): void {
  left -= units;
  if (left < 0) throw new TemplateFault('the template takes too many steps');
}
