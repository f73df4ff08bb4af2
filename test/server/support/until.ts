import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until `done` says so; fails after `timeoutMs`. */
export async function until(done: () => boolean, timeoutMs = 5_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!done()) {
    if (performance.now() > deadline) throw new Error('timed out');
    await sleep(2);
  }
}
