import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The measurements that the model uses, relative to the root of the project. */
export const SOURCE = 'bench/results/2026-11-27.json';

/** What no measurement of svc states. docs/scaling.md lists all of it. */
export const ASSUMED = {
  workers: 2,
  /** The default of `--max-in-flight` for each worker. */
  slots: 1024,
  /** For each machine, on average. */
  callsPerSecond: 200,
  /** The seconds that a model takes: log-normal, and exponential for the long calls, which are streams. */
  medianSeconds: 2,
  spread: 0.6,
  longShare: 0.05,
  longSeconds: 30,
  /** An uneven balancer: so many connections for each machine, with log-normal traffic, each to a random worker. */
  connections: 32,
  connectionSpread: 1,
  /** Callers with a limit each; the traffic of the nth is proportional to 1/n. */
  callers: 100,
  /** A question of a worker and the answer of the primary take this much of both (docs/adr/0020-keys-and-limits.md). */
  primaryMicros: 50,
  /** The time of a script in the store, which runs one at a time, and the time on the way to it and back. */
  scriptMicros: 10,
  storeMs: 1,
  /** A kept answer. */
  answerBytes: 1000,
} as const;

const TICK_SECONDS = 0.1;
/** Longer than nearly all calls that are not long. The long ones are there from the beginning: their time has no memory. */
const WARM_UP_SECONDS = 20;
const MEASURED_SECONDS = 30;

interface Samples {
  readonly subject: { readonly name: string; readonly inFlight: number; readonly wire: string };
  readonly samples: { readonly svc: ReadonlyArray<{ readonly cpuMicrosPerRequest: number }> };
}

/** The measured costs of svc. */
export interface Measured {
  readonly callMicros: number;
  readonly streamMicros: number;
  readonly bytesPerCall: number;
}

export function readMeasured(): Measured {
  const root = fileURLToPath(new URL(import.meta.url.includes('/dist/') ? '../../' : '../', import.meta.url));
  const { lasting, memory } = JSON.parse(readFileSync(join(root, SOURCE), 'utf8')) as {
    readonly lasting: readonly Samples[];
    readonly memory: ReadonlyArray<{ readonly side: string; readonly perCall: number }>;
  };
  const micros = (name: string): number => {
    const found = lasting.find(
      ({ subject }) => subject.name === name && subject.inFlight === 1000 && subject.wire === 'plain',
    );
    const values = (found?.samples.svc ?? []).map((sample) => sample.cpuMicrosPerRequest).toSorted((a, b) => a - b);
    return values[Math.floor(values.length / 2)] ?? Number.NaN;
  };
  const bytesPerCall = memory.find(({ side }) => side === 'svc')?.perCall ?? Number.NaN;
  return { callMicros: micros('in-flight'), streamMicros: micros('streams-in-flight'), bytesPerCall };
}

/** The load of a fleet. */
export interface Load {
  readonly machines: number;
  readonly even: boolean;
  /** The calls in flight of the worker with the most, and the 99th percentile over workers and time. */
  readonly most: number;
  readonly p99: number;
  /** The share of the calls that find no free slot. */
  readonly waiting: number;
  /** The share of a core that the busiest worker uses, averaged over time. */
  readonly busiest: number;
  /** The calls per second of each worker. */
  readonly rates: Float64Array;
}

/** Simulates the calls in flight of every worker. */
export function simulateLoad(
  {
    machines,
    even,
    callsPerSecond,
  }: { readonly machines: number; readonly even: boolean; readonly callsPerSecond: number },
  measured: Measured,
  seed: number,
): Load {
  const traffic = new RandomTraffic(seed);
  const { workers, slots, connections, connectionSpread, longSeconds, longShare } = ASSUMED;
  const total = machines * callsPerSecond;
  const rates = new Float64Array(machines * workers).fill(total / (machines * workers));
  if (!even) traffic.share(rates, total, { connections: machines * connections, spread: connectionSpread });
  const histogram = new Float64Array(200_000);
  let most = 0;
  let calls = 0;
  let waiting = 0;
  const ticks = Math.round((WARM_UP_SECONDS + MEASURED_SECONDS) / TICK_SECONDS);
  const first = Math.round(WARM_UP_SECONDS / TICK_SECONDS);
  const ends = new Int32Array(ticks + 1);
  for (const rate of rates) {
    ends.fill(0);
    let inFlight = traffic.poisson(rate * longShare * longSeconds);
    for (let call = 0; call < inFlight; call += 1) {
      const end = Math.round(traffic.exponential(longSeconds) / TICK_SECONDS);
      if (end <= ticks) ends[end] = (ends[end] ?? 0) + 1;
    }
    for (let tick = 0; tick < ticks; tick += 1) {
      inFlight -= ends[tick] ?? 0;
      const arrivals = traffic.poisson(rate * TICK_SECONDS);
      for (let call = 0; call < arrivals; call += 1) {
        const end = tick + Math.max(1, Math.round(secondsOfCall(traffic) / TICK_SECONDS));
        if (end <= ticks) ends[end] = (ends[end] ?? 0) + 1;
      }
      inFlight += arrivals;
      if (tick < first) continue;
      calls += arrivals;
      waiting += Math.min(arrivals, Math.max(0, inFlight - slots));
      most = Math.max(most, inFlight);
      histogram[Math.min(inFlight, histogram.length - 1)] =
        (histogram[Math.min(inFlight, histogram.length - 1)] ?? 0) + 1;
    }
  }
  const micros = (1 - longShare) * measured.callMicros + longShare * measured.streamMicros;
  const busiest = (Math.max(...rates) * micros) / 1e6;
  return { machines, even, most, p99: percentile(histogram, 0.99), waiting: waiting / calls, busiest, rates };
}

function secondsOfCall(traffic: RandomTraffic): number {
  const { longShare, longSeconds, medianSeconds, spread } = ASSUMED;
  return traffic.uniform() < longShare ? traffic.exponential(longSeconds) : medianSeconds * traffic.logNormal(spread);
}

function percentile(histogram: Float64Array, share: number): number {
  const total = histogram.reduce((sum, count) => sum + count, 0);
  let seen = 0;
  return histogram.findIndex((count) => (seen += count) >= share * total);
}

/** The highest number of calls per second of a machine, in steps of 5 %, at which at most one call in a thousand waits for a slot. */
export function ceilingOf(machines: number, even: boolean, measured: Measured, seed: number): number {
  let best = 0;
  for (let rate = 100; ; rate *= 1.05) {
    if (simulateLoad({ machines, even, callsPerSecond: rate }, measured, seed).waiting > 0.001) return best;
    best = rate;
  }
}

/** What workers ask the primary in a second, and primaries the store, for each feature. */
export interface Questions {
  /** Of all workers to their primaries. */
  readonly toPrimary: number;
  /** Of all primaries to the store, if the feature keeps its state there. */
  readonly toStore: number;
  /** The bytes of a question to the store and of its answer, as commands of Redis. */
  readonly storeBytes: number;
}

/** The leases of limits (docs/adr/0020-keys-and-limits.md). A primary passes each question of a worker on to the store. */
export function simulateLimits(machines: number, seed: number): Questions {
  const { callers, callsPerSecond, workers } = ASSUMED;
  const weights = Float64Array.from({ length: callers }, (_, index) => 1 / (index + 1));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const traffic = new RandomTraffic(seed);
  let questions = 0;
  for (let worker = 0; worker < machines * workers; worker += 1) {
    for (const weight of weights) questions += leaseQuestions(traffic, (callsPerSecond / workers) * (weight / sum));
  }
  const each = questions / MEASURED_SECONDS;
  const storeBytes = bytesOf(['EVALSHA', SCRIPT, '1', 'svc:units:{requests name}', '6000', '60000', '0', '10']) + 30;
  return { toPrimary: each, toStore: each, storeBytes };
}

/** The questions of one worker for one caller: a lease is the demand of the second before, and unused units go back. */
function leaseQuestions(traffic: RandomTraffic, rate: number): number {
  let questions = 0;
  let demand = 0;
  let unspent = 0;
  for (let second = 0; second < MEASURED_SECONDS; second += 1) {
    const calls = traffic.poisson(rate);
    let left = calls - unspent;
    unspent = Math.max(0, -left);
    while (left > 0) {
      const lease = Math.max(1, demand);
      questions += 1;
      unspent = Math.max(0, lease - left);
      left -= lease;
    }
    if (calls === 0 && unspent > 0) {
      questions += 1;
      unspent = 0;
    }
    demand = calls;
  }
  return questions;
}

/** The turns of one round-robin client that takes all calls: a machine takes twice as many as before while they last less than a second. */
export function simulateTurns(machines: number, seed: number): Questions {
  const traffic = new RandomTraffic(seed);
  const { callsPerSecond } = ASSUMED;
  let operations = 0;
  for (let machine = 0; machine < machines; machine += 1) {
    let size = 1;
    for (let now = 0; now < MEASURED_SECONDS;) {
      operations += 1;
      let lasted = 0;
      for (let turn = 0; turn < size; turn += 1) lasted += traffic.exponential(1 / callsPerSecond);
      now += lasted;
      size = lasted < 1 ? Math.min(256, size * 2) : 1;
    }
  }
  const storeBytes = bytesOf(['EVALSHA', SCRIPT, '1', 'svc:turns:{Client}', '256', '86400000']) + 10;
  return { toPrimary: machines * callsPerSecond, toStore: operations / MEASURED_SECONDS, storeBytes };
}

/** A claim and an answer to keep for each call, whose lock in the store is renewed while the model works. */
export function keptAnswers(machines: number, seed: number): Questions {
  const calls = machines * ASSUMED.callsPerSecond;
  const traffic = new RandomTraffic(seed);
  let renewals = 0;
  const samples = 100_000;
  for (let call = 0; call < samples; call += 1) renewals += Math.floor(secondsOfCall(traffic) / RENEWAL_SECONDS);
  const renewed = renewals / samples;
  const keys = [`svc:answer:{${DIGEST}}`, `svc:lock:{${DIGEST}}`];
  const claim = bytesOf(['EVALSHA', SCRIPT, '2', ...keys, OWNER, '10000']) + 10;
  const renew = bytesOf(['EVALSHA', SCRIPT, '1', `svc:lock:{${DIGEST}}`, OWNER, '10000']) + 4;
  const keep = bytesOf(['EVALSHA', SCRIPT, '2', ...keys, OWNER, '86400000', 'x'.repeat(ASSUMED.answerBytes)]) + 4;
  const storeBytes = (claim + keep + renewed * renew) / (2 + renewed);
  return { toPrimary: 2 * calls, toStore: (2 + renewed) * calls, storeBytes };
}

/** A machine renews the locks of its calls this often (docs/store.md). */
const RENEWAL_SECONDS = 3.3;

/** The sign of life of each machine. */
export function beats(machines: number): Questions {
  return {
    toPrimary: 0,
    toStore: machines,
    storeBytes: bytesOf(['EVALSHA', SCRIPT, '1', 'svc:machines:{all}', OWNER, '10000']) + 6,
  };
}

/** A script is named by its SHA-1, an answer by a SHA-256, and a machine by a random id. */
const SCRIPT = '0'.repeat(40);
const DIGEST = '0'.repeat(64);
const OWNER = '0'.repeat(32);

/** The bytes of a command in the protocol of Redis. */
function bytesOf(words: readonly string[]): number {
  const parts = words.map((word) => `$${word.length}\r\n${word}\r\n`.length);
  return parts.reduce((sum, length) => sum + length, `*${words.length}\r\n`.length);
}

/** The milliseconds until the store has answered, at random arrivals: the mean and the 99th percentile. Infinity if it cannot keep up. */
export function simulateStore(
  operationsPerSecond: number,
  seed: number,
): { readonly mean: number; readonly p99: number } {
  const { scriptMicros, storeMs } = ASSUMED;
  if (operationsPerSecond * scriptMicros >= 1e6) return { mean: Infinity, p99: Infinity };
  const traffic = new RandomTraffic(seed);
  const waits: number[] = [];
  let free = 0;
  let now = 0;
  for (let operation = 0; operation < 100_000; operation += 1) {
    now += traffic.exponential(1000 / operationsPerSecond);
    free = Math.max(free, now) + scriptMicros / 1000;
    waits.push(free - now + storeMs);
  }
  waits.sort((a, b) => a - b);
  return {
    mean: waits.reduce((sum, wait) => sum + wait, 0) / waits.length,
    p99: waits[Math.floor(waits.length * 0.99)] ?? 0,
  };
}

/** Random numbers that depend only on a seed. */
export class RandomTraffic {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 to 1, without 1 (the generator "mulberry32"). */
  uniform(): number {
    this.#state = (this.#state + 0x6d_2b_79_f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  exponential(mean: number): number {
    return -mean * Math.log(1 - this.uniform());
  }

  /** With median 1. */
  logNormal(spread: number): number {
    return Math.exp(spread * this.#normal());
  }

  /** The number of events of this mean; a normal number for many. */
  poisson(mean: number): number {
    if (mean > 50) return Math.max(0, Math.round(mean + Math.sqrt(mean) * this.#normal()));
    const limit = Math.exp(-mean);
    let count = 0;
    for (let product = this.uniform(); product > limit; product *= this.uniform()) count += 1;
    return count;
  }

  /** Spreads a total over places by connections with log-normal traffic, each of which goes to a random place. */
  share(places: Float64Array, total: number, of: { readonly connections: number; readonly spread: number }): void {
    places.fill(0);
    let sum = 0;
    for (let connection = 0; connection < of.connections; connection += 1) {
      const weight = this.logNormal(of.spread);
      const place = Math.floor(this.uniform() * places.length);
      places[place] = (places[place] ?? 0) + weight;
      sum += weight;
    }
    for (const [place, weight] of places.entries()) places[place] = (weight / sum) * total;
  }

  #normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.uniform())) * Math.cos(2 * Math.PI * this.uniform());
  }
}
