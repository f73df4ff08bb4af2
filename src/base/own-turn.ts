/**
 * The length, in characters or bytes, from which a step of work has a turn of the event loop for itself: to parse, check, render or
 * write more than this can take tens of milliseconds. For less, a turn costs more than the step.
 */
export const LARGE = 256 * 1024;

/** The length below which a step runs at once: hundreds of such steps in one turn take milliseconds. */
const SMALL = 16 * 1024;

/** A step over a text of this length. */
interface Step {
  readonly run: () => void;
  readonly length: number;
}

/** In the order in which they arrived. */
const waiting: Step[] = [];

/**
 * Runs large steps of this process one after the other, each in a turn of its own: other connections are served in between. (With
 * `setImmediate` alone, all steps that are due run in one turn.) Steps whose lengths together are at most `LARGE` share a turn.
 * An exception of a step is one of the process.
 */
export function inOwnTurn(run: () => void, length = LARGE): void {
  if (waiting.push({ run, length }) === 1) setImmediate(runTurn);
}

/** Runs a step over a text of this length: at once if it is small, so that only large ones wait for a turn. */
export function inTurn(length: number, run: () => void): void {
  if (length < SMALL) run();
  else inOwnTurn(run, length);
}

/** Resolves in a turn of its own, which lasts until the code after the `await` waits again. */
export function ownTurn(): Promise<void> {
  return new Promise((resolve) => {
    inOwnTurn(resolve);
  });
}

function runTurn(): void {
  let length = 0;
  try {
    for (let [step] = waiting; step !== undefined; [step] = waiting) {
      if (length > 0 && length + step.length > LARGE) break;
      length += step.length;
      runFirst(step);
    }
  } finally {
    if (waiting.length > 0) setImmediate(runTurn);
  }
}

/** Removes the step after it has run: a step that adds another one must not start a second chain. */
function runFirst({ run }: Step): void {
  try {
    run();
  } finally {
    waiting.shift();
  }
}
