import { setTimeout as sleep } from 'node:timers/promises';
import { quantile } from '../load.ts';
import { cpuMicrosOf } from '../process-usage.ts';
import { SETTLE_MS } from '../sides.ts';
import { ClosedLoop } from './closed-loop.ts';
import { checkAnswer, HELD, loadOf, modelMs, titleOf, type InFlightCase } from './in-flight-cases.ts';
import { pssOf, startSlowSide, type SlowSide, type SlowSideName } from './slow-stage.ts';

/** One measurement of a load that lasts. Times in milliseconds, memory in bytes. */
export interface InFlightSample {
  readonly cpuMicrosPerRequest: number;
  readonly requestsPerSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** The delay of a delta from the model to the reader; 0 for calls. */
  readonly deltaP50: number;
  readonly deltaP99: number;
  /** The most connections to the model at once. */
  readonly connections: number;
  /** Requests without a right answer. */
  readonly failed: number;
  /** The growth of the server's memory since its rest after the warm-up, for each request in flight. */
  readonly bytesPerRequest: number;
}

export interface InFlightResult {
  readonly subject: InFlightCase;
  readonly title: string;
  /** CPU µs per request while a new server warmed up. */
  readonly coldMicros: Readonly<Partial<Record<SlowSideName, number>>>;
  readonly samples: Readonly<Partial<Record<SlowSideName, readonly InFlightSample[]>>>;
}

/** Milliseconds until V8 has compiled the hot code: at 300 calls per second, that takes about 40 s. */
export const WARM_UP_MS = 45_000;
/** From the first request of a measurement to its window: the requests that started together have spread. */
const LEAD_MS = 2500;
const WINDOW_MS = 9000;
/** Streams start evenly over this time, so that the model does not send the deltas of all of them at the same moment. */
const STREAM_RAMP_MS = 1000;

/** Checks the answers, warms up, then measures the sides in turn; each round begins with another side. */
export async function measureInFlight(
  subject: InFlightCase,
  names: readonly SlowSideName[],
  pairs: number,
): Promise<InFlightResult> {
  const sides: SlowSide[] = [];
  const coldMicros: Partial<Record<SlowSideName, number>> = {};
  const samples: Partial<Record<SlowSideName, InFlightSample[]>> = {};
  const restBytes = new Map<SlowSide, number>();
  try {
    for (const name of names) sides.push(await startSlowSide(name));
    for (const side of sides) {
      await checkAnswer(subject, side);
      coldMicros[side.name] = await load(subject, side, (loop) => cpuPerRequest(side, loop, WARM_UP_MS));
      await sleep(SETTLE_MS);
      restBytes.set(side, pssOf(side.pid));
    }
    for (let pair = 0; pair < pairs; pair += 1) {
      const order = pair % 2 === 0 ? sides : sides.toReversed();
      for (const side of order)
        (samples[side.name] ??= []).push(await measure(subject, side, restBytes.get(side) ?? 0));
    }
  } finally {
    await Promise.all(sides.map((side) => side.end()));
  }
  return { subject, title: titleOf(subject), coldMicros, samples };
}

async function load<T>(subject: InFlightCase, side: SlowSide, run: (loop: ClosedLoop) => Promise<T>): Promise<T> {
  const loop = new ClosedLoop(loadOf(subject, side, subject.endpoint === 'stream' ? STREAM_RAMP_MS : 0));
  const result = await run(loop);
  await loop.stop();
  reportFailure(side, loop);
  return result;
}

/** The peer can fail under a load that svc serves: the run goes on. */
function reportFailure(side: SlowSide, { firstFailure }: ClosedLoop): void {
  if (firstFailure !== undefined) console.error(`${side.name}: ${firstFailure}`);
}

function measure(subject: InFlightCase, side: SlowSide, restBytes: number): Promise<InFlightSample> {
  return load(subject, side, async (loop) => {
    await side.connections();
    await sleep(LEAD_MS);
    const begin = performance.now();
    const cpuMicrosPerRequest = await cpuPerRequest(side, loop, WINDOW_MS);
    const seconds = (performance.now() - begin) / 1000;
    const { answered, delays, failed } = loop;
    const times = answered.map((one) => one.end - one.begin);
    return {
      cpuMicrosPerRequest,
      requestsPerSecond: answered.length / seconds,
      p50: quantile(times, 0.5),
      p99: quantile(times, 0.99),
      deltaP50: quantile(delays, 0.5),
      deltaP99: quantile(delays, 0.99),
      failed,
      connections: await side.connections(),
      bytesPerRequest: (pssOf(side.pid) - restBytes) / subject.inFlight,
    };
  });
}

/** The CPU time of a server from now on, divided by the requests that it answers. */
async function cpuPerRequest(side: SlowSide, loop: ClosedLoop, forMs: number): Promise<number> {
  loop.begin();
  const before = cpuMicrosOf(side.pid);
  await sleep(forMs);
  return (cpuMicrosOf(side.pid) - before) / loop.answered.length;
}

/** Calls that reach a server that has answered nothing before. Times in milliseconds. */
export interface BurstSample {
  /** Of the calls that started in the first two seconds. */
  readonly p50: number;
  readonly slowest: number;
  readonly calls: number;
  readonly failed: number;
}

export interface BurstResult {
  readonly subject: InFlightCase;
  readonly title: string;
  readonly samples: Readonly<Partial<Record<SlowSideName, readonly BurstSample[]>>>;
}

const BURST_MS = 2000;

/** Each measurement has a new server. */
export async function measureBurst(
  subject: InFlightCase,
  names: readonly SlowSideName[],
  pairs: number,
): Promise<BurstResult> {
  const samples: Partial<Record<SlowSideName, BurstSample[]>> = {};
  for (let pair = 0; pair < pairs; pair += 1) {
    for (const name of names) (samples[name] ??= []).push(await burst(subject, name));
  }
  return { subject, title: `cold server: ${titleOf(subject)}`, samples };
}

async function burst(subject: InFlightCase, name: SlowSideName): Promise<BurstSample> {
  const side = await startSlowSide(name);
  try {
    const loop = new ClosedLoop(loadOf(subject, side, 0));
    await sleep(BURST_MS);
    await loop.stop();
    reportFailure(side, loop);
    const times = loop.answered.map((one) => one.end - one.begin);
    return { p50: quantile(times, 0.5), slowest: Math.max(...times), calls: times.length, failed: loop.failed };
  } finally {
    await side.end();
  }
}

/** PSS of all processes, in bytes. */
export interface HeldMemory {
  readonly side: SlowSideName;
  /** Before the first call. */
  readonly idle: number;
  /** After some calls: the code that the first calls load stays in memory, however many follow. */
  readonly warm: number;
  readonly inFlight: number;
  /** The share of one of the requests in flight in what was added since `warm`. */
  readonly perCall: number;
}

const HOLD_SAMPLES = 5;

/** Enough for each worker to answer some of them. */
const WARM_CALLS: InFlightCase = { ...HELD, inFlight: 16 };

/** Memory of a server before its first call, after some calls, and the most that it takes while many are in flight. */
export async function measureMemory(name: SlowSideName): Promise<HeldMemory> {
  const side = await startSlowSide(name);
  try {
    await checkAnswer(HELD, side);
    await load(WARM_CALLS, side, () => sleep(modelMs(HELD) * 2.5));
    await sleep(SETTLE_MS);
    const warm = pssOf(side.pid);
    const inFlight = await load(HELD, side, async () => {
      let most = 0;
      for (let index = 0; index < HOLD_SAMPLES; index += 1) {
        await sleep(modelMs(HELD) * 2.5);
        most = Math.max(most, pssOf(side.pid));
      }
      return most;
    });
    return { side: name, idle: side.idleBytes, warm, inFlight, perCall: (inFlight - warm) / HELD.inFlight };
  } finally {
    await side.end();
  }
}
