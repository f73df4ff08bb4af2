import { availableParallelism } from 'node:os';
import type { Verdict } from './bars.ts';
import { addressOf, checkAnswer, runLoad, type Case } from './cases.ts';
import { median, streamLoad } from './load.ts';
import { setStage, type Side, type Stage } from './sides.ts';

/**
 * A call whose prompt takes milliseconds to render, with a short request and a short reply, so that nearly all CPU time
 * is the worker's: the load generator and the model server run on the same cores and take their time from the second worker.
 */
const SUBJECT: Case = {
  name: 'scaling',
  title: '/call, a prompt of 30,000 loop steps, c=32',
  endpoint: 'call',
  function: 'Rendered',
  answer: 'Small',
  connections: 32,
  requests: { svc: 2000 },
  warmUp: { svc: 1500 },
};

const LIMIT = 1.8;

/** Calls per second of one worker on one core, and of two workers on two cores, measured in turn. */
export interface Scaling {
  readonly title: string;
  readonly one: readonly number[];
  readonly two: readonly number[];
}

/** Two cores; undefined on a machine with fewer. */
export async function measureScaling(pairs: number): Promise<Scaling | undefined> {
  if (availableParallelism() < 2) return undefined;
  const stages: Stage[] = [];
  try {
    stages.push(await setStage({ sides: ['svc'], workers: 1, cores: [0] }));
    stages.push(await setStage({ sides: ['svc'], workers: 2, cores: [0, 1] }));
    const [one, two] = stages.map((stage) => stage.sides[0]);
    return one === undefined || two === undefined ? undefined : await inTurn(one, two, pairs);
  } finally {
    for (const stage of stages) await stage.end();
  }
}

async function inTurn(one: Side, two: Side, pairs: number): Promise<Scaling> {
  for (const side of [one, two]) {
    await checkAnswer(SUBJECT, side);
    await runLoad(SUBJECT, side, SUBJECT.warmUp.svc ?? 1);
  }
  const scaling = { title: SUBJECT.title, one: [] as number[], two: [] as number[] };
  for (let pair = 0; pair < pairs; pair += 1) {
    scaling.one.push(await callsPerSecond(one));
    scaling.two.push(await callsPerSecond(two));
  }
  return scaling;
}

/** Uses our own load generator: a run of autocannon ends only at a full second. */
async function callsPerSecond(side: Side): Promise<number> {
  const load = { url: addressOf(SUBJECT, side), connections: SUBJECT.connections, requests: SUBJECT.requests.svc ?? 1 };
  const { requests, seconds } = await streamLoad(load);
  return requests / seconds;
}

export function judgeScaling(scaling: Scaling | undefined): Verdict {
  const measured =
    scaling === undefined
      ? undefined
      : median(scaling.two.map((calls, pair) => calls / (scaling.one[pair] ?? Number.NaN)));
  const holds = measured === undefined ? undefined : measured >= LIMIT;
  return { bar: 'two workers on two cores: at least 1.8 times one', measured, limit: LIMIT, holds };
}
