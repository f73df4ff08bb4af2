import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until `done` returns true. The limit ends a test that hangs; no test depends on it. */
export async function until(done: () => boolean, timeoutMs = 60_000): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!done()) {
    if (performance.now() > deadline) throw new Error('timed out');
    await sleep(2);
  }
}
