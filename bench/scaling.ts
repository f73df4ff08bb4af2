import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Verdict } from './bars.ts';
import { addressOf, checkAnswer, type CheckedCase } from './cases.ts';
import { ClosedLoop } from './in-flight/closed-loop.ts';
import { isContact } from './in-flight/in-flight-cases.ts';
import { median } from './load.ts';
import { nodeCommand, pinned, ROOT, setStage, type Side, type Stage } from './sides.ts';

/**
 * A call whose prompt takes milliseconds to render, with a short request and a short reply, so that nearly all CPU time
 * is the worker's: the load generator and the model server run on the same cores and take their time from the second worker.
 */
const SUBJECT: CheckedCase = {
  name: 'scaling',
  title: '/call, a prompt of 30,000 loop steps, c=32',
  endpoint: 'call',
  function: 'Rendered',
  answer: 'Small',
  connections: 32,
};

/**
 * Milliseconds from the first request of a measurement to its window: by then, V8 has compiled the code, and the workers have
 * equally many connections.
 */
const LEAD_MS = 4000;
const WINDOW_MS = 2000;

const LIMIT = 1.8;

/** Calls per second of one worker on one core, and of two workers on two cores, measured in turn. */
export interface Scaling {
  readonly title: string;
  readonly one: readonly number[];
  readonly two: readonly number[];
  /**
   * The work of two processes without a server, one on each core, divided by that of one process: 2 if the cores share nothing,
   * and less if they are two threads of one physical core.
   */
  readonly cores: readonly number[];
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
  for (const side of [one, two]) await checkAnswer(SUBJECT, side);
  const scaling = { title: SUBJECT.title, one: [] as number[], two: [] as number[], cores: [] as number[] };
  for (let pair = 0; pair < pairs; pair += 1) {
    scaling.one.push(await callsPerSecond(one));
    scaling.two.push(await callsPerSecond(two));
    scaling.cores.push(await gainOfSecondCore());
  }
  return scaling;
}

async function gainOfSecondCore(): Promise<number> {
  const alone = await workOn(0);
  const [first, second] = await Promise.all([workOn(0), workOn(1)]);
  return (first + second) / alone;
}

async function workOn(core: number): Promise<number> {
  const { program, args } = pinned(nodeCommand([join(ROOT, 'dist/bench/busy-core.js')]), [core]);
  const { stdout } = await promisify(execFile)(program, args);
  return Number(stdout);
}

/** Uses raw sockets: a costlier load generator would take CPU time from the second worker. */
async function callsPerSecond(side: Side): Promise<number> {
  const { pathname: path, port } = new URL(addressOf(SUBJECT, side));
  const load = { port: Number(port), path, inFlight: SUBJECT.connections, rampMs: 0, isRight: isContact };
  const loop = new ClosedLoop(load);
  await sleep(LEAD_MS);
  loop.begin();
  await sleep(WINDOW_MS);
  const { failed, firstFailure } = loop;
  const calls = loop.answered.length;
  await loop.stop();
  if (failed > 0) throw new Error(`${side.name}: ${firstFailure}`);
  return (calls * 1000) / WINDOW_MS;
}

export function judgeScaling(scaling: Scaling | undefined): Verdict {
  const measured =
    scaling === undefined
      ? undefined
      : median(scaling.two.map((calls, pair) => calls / (scaling.one[pair] ?? Number.NaN)));
  const holds = measured === undefined ? undefined : measured >= LIMIT;
  return { bar: 'two workers on two cores: at least 1.8 times one', measured, limit: LIMIT, holds };
}
