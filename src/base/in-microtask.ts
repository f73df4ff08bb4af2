const SETTLED = Promise.resolve();

/**
 * Runs `work` as a microtask, at a fraction of the cost of `queueMicrotask`, which creates an asynchronous resource for each call.
 */
export function inMicrotask(work: () => void): void {
  void SETTLED.then(work);
}
