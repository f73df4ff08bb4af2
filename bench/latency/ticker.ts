// Thread entry: sends a message when each call of an open loop is due. The timers of Node count milliseconds, a wait for shared memory
// counts microseconds.
import { parentPort, workerData } from 'node:worker_threads';
import { elapsedMs, sharedNow } from '../in-flight/delta-stamps.ts';
import { dueAt, type Plan } from './open-loop.ts';

const plan = workerData as Plan;
const neverChanged = new Int32Array(new SharedArrayBuffer(4));
for (let index = 0; index < plan.calls; index += 1) {
  const waitMs = elapsedMs(sharedNow(), dueAt(plan, index));
  if (waitMs > 0) Atomics.wait(neverChanged, 0, 0, waitMs);
  parentPort?.postMessage(undefined, []);
}
