const SETTLED = Promise.resolve();

/**
 * Runs `work` once the code that runs now has returned to the event loop. Costs a fraction of `queueMicrotask`, which creates an
 * asynchronous resource for each call.
 */
export function inMicrotask(work: () => void): void {
  void SETTLED.then(work);
}
