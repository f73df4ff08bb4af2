import { Session, type Profiler } from 'node:inspector';
import { setFlagsFromString } from 'node:v8';

const TREE = new URL('../../', import.meta.url).href;
const TESTS = new URL('../', import.meta.url).href;

/** Characters of source that count as one step: about a line. */
const LINE = 40;

let session: Session | undefined;

/**
 * Runs `run` and counts its steps: lines of this project and its dependencies that V8 executed (its precise coverage counts
 * every block), plus the characters and items that built-in functions went through. The same work takes the same number of
 * steps on every machine, however busy it is. From the first call on, all code of the test file runs without optimisation: put tests
 * that compute much and count nothing in another file.
 */
export function countSteps(run: () => unknown): number {
  takeCounts(); // Starts every block at 0.
  let native = 0;
  const restore = chargeNatives((units) => (native += units));
  try {
    run();
  } finally {
    restore();
  }
  const own = takeCounts().filter(({ url }) => url.startsWith(TREE) && !url.startsWith(TESTS));
  return Math.round(executedLines(own)) + native;
}

/** The lines of the scripts that V8 executed, each as often as it did. */
export function executedLines(scripts: readonly Profiler.ScriptCoverage[]): number {
  const functions = scripts.flatMap((script) => script.functions);
  return functions.reduce((sum, { ranges }) => sum + executedCharacters(ranges), 0) / LINE;
}

/** How the steps of a run grow with the size of its input. */
export interface Growth {
  readonly size: number;
  /** The steps at this size. */
  readonly steps: number;
  /** Steps at twice the size, divided by those at the size: 2 is linear, 4 is quadratic. */
  readonly factor: number;
}

/** Counts the steps of `run` at `size` and at twice that size. Prepares each run before it counts, and warms caches with a shorter run. */
export function stepGrowth(size: number, prepare: (size: number) => () => unknown): Growth {
  prepare(Math.ceil(size / 4))();
  const steps = countSteps(prepare(size));
  return { size, steps, factor: countSteps(prepare(2 * size)) / steps };
}

function takeCounts(): readonly Profiler.ScriptCoverage[] {
  session ??= startSession();
  let taken: readonly Profiler.ScriptCoverage[] = [];
  session.post('Profiler.takePreciseCoverage', (error, { result }) => {
    if (error !== null) throw error;
    taken = result;
  });
  return taken;
}

function startSession(): Session {
  // Optimised code does not count the calls that it inlines.
  setFlagsFromString('--no-opt');
  const started = new Session();
  started.connect();
  started.post('Profiler.enable');
  started.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  return started;
}

/** V8 lists a nested block only where its count differs from that of the block around it; outer blocks come first. */
function executedCharacters(ranges: readonly Profiler.CoverageRange[]): number {
  let sum = 0;
  const around: Profiler.CoverageRange[] = [];
  for (const range of ranges) {
    while ((around.at(-1)?.endOffset ?? Infinity) <= range.startOffset) around.pop();
    sum += (range.count - (around.at(-1)?.count ?? 0)) * (range.endOffset - range.startOffset);
    around.push(range);
  }
  return sum;
}

// --- built-in functions ---------------------------------------------------------------------------------------------

type Native = (this: unknown, ...args: unknown[]) => unknown;

/** The units that a call processed. `start`: `lastIndex` of a regular expression before the call. */
type Cost = (subject: unknown, args: readonly unknown[], result: unknown, start: number) => number;

const length = (value: unknown): number =>
  typeof value === 'string' || Array.isArray(value) || value instanceof Uint8Array ? value.length : 1;
const ofSubject: Cost = (subject) => length(subject);
const ofResult: Cost = (_, __, result) => length(result);
const ofArgument: Cost = (_, [argument]) => length(argument);
const ofTrim: Cost = (subject, _, result) => 1 + length(subject) - length(result);
const ofSearch: Cost = (subject, [, from], result) =>
  Math.max(1, (typeof result === 'number' && result >= 0 ? result : length(subject)) - Number(from ?? 0));
const ofSearchBack: Cost = (subject, [, from], result) =>
  1 + Math.min(length(subject), Number(from ?? Infinity)) - Math.max(0, Number(result));
const ofMatch: Cost = (expression, [input], result, start) => {
  const matched = result as RegExpExecArray | null;
  if (matched !== null) return 1 + matched.index + matched[0].length - start;
  return (expression as RegExp).sticky ? 1 : 1 + length(input) - start;
};

const COSTS: readonly (readonly [object, Cost, readonly string[]])[] = [
  [String.prototype, ofSearch, ['indexOf']],
  [String.prototype, ofTrim, ['trim', 'trimStart', 'trimEnd']],
  [String.prototype, ofResult, ['concat', 'padEnd', 'padStart', 'repeat']],
  [
    String.prototype,
    ofSubject,
    ['includes', 'match', 'normalize', 'replace', 'replaceAll', 'search', 'split', 'toLowerCase', 'toUpperCase'],
  ],
  [String.prototype, ofSearchBack, ['lastIndexOf']],
  [RegExp.prototype, ofMatch, ['exec']],
  [Array.prototype, ofSearch, ['indexOf']],
  [Array.prototype, ofResult, ['concat', 'join', 'slice']],
  [Array.prototype, ofSubject, ['fill', 'flat', 'includes', 'reverse', 'shift', 'sort', 'toSorted', 'unshift']],
  [Array, ofResult, ['from']],
  [Buffer, ofResult, ['concat', 'from']],
  [Buffer.prototype, ofResult, ['toString']],
  [Buffer.prototype, ofSearch, ['indexOf']],
  [TextDecoder.prototype, ofResult, ['decode']],
  [Object, ofResult, ['entries', 'keys', 'values']],
  [Object, ofArgument, ['fromEntries']],
  [JSON, ofArgument, ['parse']],
  [JSON, ofResult, ['stringify']],
];

/** Charges every call of a built-in function whose cost grows with its input. Returns a function that restores the originals. */
export function chargeNatives(charge: (units: number) => void): () => void {
  const undo: (() => void)[] = [];
  for (const [owner, cost, names] of COSTS) {
    for (const name of names) {
      const descriptor = Object.getOwnPropertyDescriptor(owner, name);
      if (descriptor === undefined) continue;
      const native = descriptor.value as Native;
      const charged: Native = function (...args) {
        const start = this instanceof RegExp && (this.global || this.sticky) ? this.lastIndex : 0;
        const result = native.apply(this, args);
        charge(cost(this, args, result, start));
        return result;
      };
      Object.defineProperty(owner, name, { ...descriptor, value: charged });
      undo.push(() => Object.defineProperty(owner, name, descriptor));
    }
  }
  return () => undo.forEach((step) => step());
}
