/**
 * The length, in characters or bytes, from which a step of work has a turn of the event loop for itself: to parse, check, render or
 * write more than this can take tens of milliseconds. For less, a turn costs more than the step.
 */
export const LARGE = 256 * 1024;

/** In the order in which they arrived. */
const waiting: Array<() => void> = [];

/**
 * Runs large steps of this process one after the other, each in a turn of its own: other connections are served in between. (With
 * `setImmediate` alone, all steps that are due run in one turn.) An exception of a step is one of the process.
 */
export function inOwnTurn(step: () => void): void {
  if (waiting.push(step) === 1) setImmediate(runNext);
}

function runNext(): void {
  const [step] = waiting;
  try {
    step?.();
  } finally {
    // Only now: a step that adds another one must not start a second chain.
    waiting.shift();
    if (waiting.length > 0) setImmediate(runNext);
  }
}
