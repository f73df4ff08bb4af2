// Entry file of a thread: starts calls at a fixed rate for some time, then waits for their answers. In a thread of its
// own, so that reading large answers does not hold up whoever measures small calls. Fails when a call does.
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
