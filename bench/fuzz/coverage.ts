import { Session, type Profiler } from 'node:inspector';
import { executedLines } from '../../test/support/step-costs.ts';

/** The block coverage of this process, as V8 counts it, limited to the scripts whose URL contains one of the texts. */
export class Coverage {
  readonly #session = new Session();
  readonly #texts: readonly string[];
  /** The characters of each script: 1 if they have run. */
  readonly #seen = new Map<string, Uint8Array>();
  /** Lines that ran between the last two samples, each as often as it ran. */
  lines = 0;

  constructor(texts: readonly string[]) {
    this.#texts = texts;
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** The characters that have run so far. */
  get total(): number {
    return [...this.#seen.values()].reduce((sum, seen) => sum + count(seen), 0);
  }

  /** Returns the number of characters that ran for the first time since the last sample, and remembers them unless `peek`. */
  sample(peek = false): number {
    let found = 0;
    const taken = this.#take();
    this.lines = executedLines(taken);
    for (const { url, functions } of taken) {
      const size = Math.max(0, ...functions.map(({ ranges }) => ranges[0]?.endOffset ?? 0));
      const now = ranIn(functions, size);
      const before = this.#seen.get(url) ?? new Uint8Array(0);
      const both = new Uint8Array(Math.max(size, before.length));
      both.set(before);
      for (let at = 0; at < size; at += 1) {
        if (now[at] === 0 || both[at] === 1) continue;
        both[at] = 1;
        found += 1;
      }
      if (!peek) this.#seen.set(url, both);
    }
    return found;
  }

  end(): void {
    this.#session.disconnect();
  }

  #take(): readonly Profiler.ScriptCoverage[] {
    let taken: readonly Profiler.ScriptCoverage[] = [];
    // The session belongs to this thread, so that the answer comes before `post` returns.
    this.#session.post('Profiler.takePreciseCoverage', (error, { result }) => {
      if (error !== null) throw error;
      taken = result;
    });
    return taken.filter(({ url }) => this.#texts.some((text) => url.includes(text)));
  }
}

/** Marks the characters that ran. V8 lists outer functions and blocks before inner ones. */
function ranIn(functions: readonly Profiler.FunctionCoverage[], size: number): Uint8Array {
  const ran = new Uint8Array(size);
  for (const { ranges } of functions) {
    for (const { startOffset, endOffset, count: times } of ranges) ran.fill(Number(times > 0), startOffset, endOffset);
  }
  return ran;
}

function count(seen: Uint8Array): number {
  let sum = 0;
  for (const one of seen) sum += one;
  return sum;
}
