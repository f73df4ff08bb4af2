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
  title: '/call, a prompt of 150,000 loop steps, c=16',
  endpoint: 'call',
  function: 'Rendered',
  answer: 'Small',
  connections: 16,
};

/** Milliseconds of load on each server before the first measurement: by then, V8 has compiled the code. */
const WARM_UP_MS = 8000;
/** Measurements of each server in a pair: short ones in turn, because the speed of a virtual machine's core can double within seconds. */
const ROUNDS = 4;
/** Milliseconds from the first request of a measurement to its window: by then, the workers have equally many connections. */
const LEAD_MS = 500;
const WINDOW_MS = 2000;

const LIMIT = 1.8;

/** Two cores that both take part in each measurement, because the cores of a virtual machine are not always equally fast. */
const CORES = [0, 1] as const;

/** Calls per second, measured in turn. */
export interface Scaling {
  readonly title: string;
  /** One worker on one core: the mean of a worker on either core. */
  readonly one: readonly number[];
  /** Two workers on both cores. */
  readonly two: readonly number[];
  /**
   * The work of two processes without a server, one on each core, divided by the mean work of one process alone on either core:
   * 2 if the cores share nothing, and less if they are two threads of one physical core.
   */
  readonly cores: readonly number[];
}

/** Undefined on a machine with one core. */
export async function measureScaling(pairs: number): Promise<Scaling | undefined> {
  if (availableParallelism() < CORES.length) return undefined;
  const stages: Stage[] = [];
  const serve = async (workers: number, cores: readonly number[]): Promise<readonly Side[]> => {
    const stage = await setStage({ sides: ['svc'], workers, cores });
    stages.push(stage);
    for (const side of stage.sides) await checkAnswer(SUBJECT, side);
    return stage.sides;
  };
  try {
    const one = [...(await serve(1, [CORES[0]])), ...(await serve(1, [CORES[1]]))];
    const two = await serve(CORES.length, CORES);
    return await inTurn({ one, two, pairs });
  } finally {
    for (const stage of stages) await stage.end();
  }
}

/** The servers with one worker, one on each core, and the one with two workers. */
interface Servers {
  readonly one: readonly Side[];
  readonly two: readonly Side[];
  readonly pairs: number;
}

async function inTurn({ one, two, pairs }: Servers): Promise<Scaling> {
  const scaling = { title: SUBJECT.title, one: [] as number[], two: [] as number[], cores: [] as number[] };
  for (const side of [...one, ...two]) await callsPerSecond(side, WARM_UP_MS);
  for (let pair = 0; pair < pairs; pair += 1) {
    for (let round = 0; round < ROUNDS; round += 1) {
      scaling.one.push(await meanInTurn(one, callsPerSecond));
      scaling.two.push(await meanInTurn(two, callsPerSecond));
    }
    scaling.cores.push(await gainOfSecondCore());
  }
  return scaling;
}

async function gainOfSecondCore(): Promise<number> {
  const alone = await meanInTurn(CORES, workOn);
  const [first, second] = await Promise.all([workOn(CORES[0]), workOn(CORES[1])]);
  return (first + second) / alone;
}

async function meanInTurn<T>(items: readonly T[], measure: (item: T) => Promise<number>): Promise<number> {
  let sum = 0;
  for (const item of items) sum += await measure(item);
  return sum / items.length;
}

async function workOn(core: number): Promise<number> {
  const { program, args } = pinned(nodeCommand([join(ROOT, 'dist/bench/busy-core.js')]), [core]);
  const { stdout } = await promisify(execFile)(program, args);
  return Number(stdout);
}

/** Uses raw sockets: a costlier load generator would take CPU time from the second worker. */
async function callsPerSecond(side: Side, leadMs = LEAD_MS): Promise<number> {
  const { pathname: path, port } = new URL(addressOf(SUBJECT, side));
  const load = { port: Number(port), path, inFlight: SUBJECT.connections, rampMs: 0, isRight: isContact };
  const loop = new ClosedLoop(load);
  await sleep(leadMs);
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
