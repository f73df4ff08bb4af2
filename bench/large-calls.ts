// Entry file of a thread: starts calls at a fixed rate for some time, then waits for their answers. It has a thread of its
// own because reading large answers would delay the measurement of small calls. The thread fails if a call fails.
import { setInterval } from 'node:timers/promises';
import { workerData } from 'node:worker_threads';
import { post } from './load.ts';

export interface LargeCalls {
  readonly url: string;
  readonly perSecond: number;
  readonly seconds: number;
}

const { url, perSecond, seconds } = workerData as LargeCalls;
const calls: Promise<string>[] = [];
for await (const _ of setInterval(1000 / perSecond)) if (calls.push(post(url)) === perSecond * seconds) break;
await Promise.all(calls);
