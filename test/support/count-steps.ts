import { Session, type Profiler } from 'node:inspector';
import { chargeNatives, executedLines } from './step-costs.ts';

const TREE = new URL('../../', import.meta.url).href;
const TESTS = new URL('../', import.meta.url).href;

/**
 * V8 counts the blocks of the functions that it compiles from here on. It compiles a function at its first call: import this file
 * before the code whose steps count.
 */
const session = startSession();

/** What built-in functions went through so far. They stay charged, because V8 would optimise all code again after each change to them. */
let native = 0;
chargeNatives((units) => (native += units));

/**
 * Runs `run` and counts its steps: lines of this project and its dependencies that V8 executed (its precise coverage counts
 * every block), plus the characters and items that built-in functions went through. The same work takes the same number of
 * steps on every machine, however busy it is.
 */
export function countSteps(run: () => unknown): number {
  takeCounts(); // Starts every block at 0.
  return stepsOf(run);
}

/** How the steps of a run grow with the size of its input. */
export interface Growth {
  readonly size: number;
  /** The steps at this size. */
  readonly steps: number;
  /** Steps at twice the size, divided by those at the size: 2 is linear, 4 is quadratic. */
  readonly factor: number;
}

/** Counts the steps of `run` at `size` and at twice that size. Prepares both runs before it counts, and warms caches with a shorter run. */
export function stepGrowth(size: number, prepare: (size: number) => () => unknown): Growth {
  prepare(Math.ceil(size / 4))();
  const [run, twice] = [prepare(size), prepare(2 * size)];
  const steps = countSteps(run);
  return { size, steps, factor: stepsOf(twice) / steps };
}

/** Counts the steps of `run`, if it is the first to run since counts were taken. */
function stepsOf(run: () => unknown): number {
  const before = native;
  run();
  const charged = native - before;
  const own = takeCounts().filter(({ url }) => url.startsWith(TREE) && !url.startsWith(TESTS));
  return Math.round(executedLines(own.map(withBranches))) + charged;
}

/**
 * Leaves out functions that ran straight from start to end: V8 does not report all of them once it has optimised them. Their steps
 * belong to the block that called them.
 */
function withBranches(script: Profiler.ScriptCoverage): Profiler.ScriptCoverage {
  return { ...script, functions: script.functions.filter(({ ranges }) => ranges.length > 1) };
}

function takeCounts(): readonly Profiler.ScriptCoverage[] {
  let taken: readonly Profiler.ScriptCoverage[] = [];
  session.post('Profiler.takePreciseCoverage', (error, { result }) => {
    if (error !== null) throw error;
    taken = result;
  });
  return taken;
}

function startSession(): Session {
  const started = new Session();
  started.connect();
  started.post('Profiler.enable');
  started.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  return started;
}
