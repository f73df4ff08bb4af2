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
