import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { STAMPED_MS, stampedText, type StampedName } from '../answers.ts';
import { stampedMs } from '../in-flight/delta-stamps.ts';
import { BODY, quantile } from '../load.ts';
import { setStage, type SideName, type Stage, type StageOptions } from '../sides.ts';
import { openLoop, type OpenLoadResult } from './open-loop.ts';

/** With `model`, the load generator calls the model itself: what the machine, the generator and the model add without a server. */
export type LatencySide = SideName | 'model';

/** `shared`: load, model and two workers share all cores. `apart`: one worker has a core, load and model have another one. */
export type Layout = 'shared' | 'apart';

/** Latency of a side at a fixed rate. Times in milliseconds. */
export interface FixedRate {
  readonly layout: Layout;
  readonly side: LatencySide;
  /** The time that the model takes. */
  readonly modelMs: number;
  readonly perSecond: number;
  readonly samples: readonly LatencySample[];
}

/** What is added to the time of the model, counted from the time at which a call was due. */
export interface LatencySample {
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  /** How late the load generator sent the calls. */
  readonly lateP99: number;
  readonly failed: number;
}

/** The highest of the tried rates at which the p99 of the added latency stays below the limit; 0 if there is none. */
export interface HighestRate {
  readonly side: LatencySide;
  readonly limitMs: number;
  readonly perSecond: number;
}

export interface LatencyResults {
  readonly fixedRates: readonly FixedRate[];
  readonly highestRates: readonly HighestRate[];
}

export interface LatencyOptions {
  readonly sides: readonly SideName[];
  /** Windows of each side at each rate, in turn. */
  readonly pairs: number;
  /** Length of a window. */
  readonly seconds: number;
}

const STAMPED_NAMES = Object.keys(STAMPED_MS) as readonly StampedName[];

/** Calls per second. */
export const RATES = [3000, 5000] as const;

/** With this p99, calls queue up: the rate is beyond the knee of the curve. */
export const KNEE_MS = 50;
export const LIMITS_MS = [1, 5, KNEE_MS] as const;

/** Calls per second that the search tries. */
const TRIED_RATES = [250, 500, 750, 1000, 1500, 2000, 2500, 3000, 3500, 4000, 5000, 6000, 7000, 8000, 10_000, 12_000];
/** Long enough for a queue to grow beyond the knee at a rate 5 % above what a side can answer. */
const SEARCH_SECONDS = 2;
/** Another process of the machine can spoil one window. */
const TRIES = 2;

/** V8 compiles the functions of svc and of the floor in that time. */
const WARM_UP_SECONDS: Readonly<Record<LatencySide, number>> = { svc: 10, floor: 5, baml: 1, model: 1 };
const WARM_UP_RATE = 2000;
/** The first calls of a window do not count: a server opens its connections to the model, and svc divides its callers among the workers. */
const LEAD_MS = 500;
/** Connections besides those that wait for the model. */
const SPARE_CONNECTIONS = 64;
/** Milliseconds after a window: the calls of a queue may still run. */
const REST_MS = 200;

/** The highest rates of each side, then windows at fixed rates in turn; the peer's at its highest rate without a knee. */
export async function measureLatency(options: LatencyOptions): Promise<LatencyResults> {
  const shared = await onStage({ sides: options.sides }, async (targets) => {
    const highestRates: HighestRate[] = [];
    for (const target of targets) if (target.side !== 'model') highestRates.push(...(await searchRates(target)));
    const most = highestRates.find(({ side, limitMs }) => side === 'baml' && limitMs === KNEE_MS)?.perSecond ?? 0;
    const ratesOf = ({ side }: Target): readonly number[] => (side === 'baml' ? [most].filter(Boolean) : RATES);
    return {
      highestRates,
      fixedRates: await measureInTurn('shared', targets, { ...options, names: STAMPED_NAMES, ratesOf }),
    };
  });
  return { ...shared, fixedRates: [...shared.fixedRates, ...(await measureApart(options))] };
}

/** The floor and the peer cannot run with one worker. */
async function measureApart(options: LatencyOptions): Promise<readonly FixedRate[]> {
  if (availableParallelism() < 2 || !options.sides.includes('svc')) return [];
  return onCore(0, () =>
    onStage({ sides: ['svc'], workers: 1, cores: [1] }, (targets) =>
      measureInTurn('apart', targets, { ...options, names: ['Stamped'], ratesOf: () => RATES }),
    ),
  );
}

/** Runs on one core, together with the processes that start meanwhile, and then on the former ones again (taskset of util-linux). */
export async function onCore<T>(core: number, run: () => Promise<T>): Promise<T> {
  const pid = String(process.pid);
  const answer = execFileSync('taskset', ['--cpu-list', '--pid', pid], { encoding: 'utf8' });
  const former = answer.slice(answer.lastIndexOf(':') + 1).trim();
  const moveTo = (cores: string): Buffer => execFileSync('taskset', ['--all-tasks', '--cpu-list', '--pid', cores, pid]);
  moveTo(String(core));
  try {
    return await run();
  } finally {
    moveTo(former);
  }
}

/** Something that the load generator calls. */
interface Target {
  readonly side: LatencySide;
  readonly body: string;
  readonly urlOf: (name: StampedName) => string;
}

/** Starts the sides, checks and warms them up, and ends them after the run. */
async function onStage<T>(options: StageOptions, run: (targets: readonly Target[]) => Promise<T>): Promise<T> {
  const stage = await setStage(options);
  try {
    const targets = targetsOf(stage);
    for (const target of targets) await warmUp(target);
    return await run(targets);
  } finally {
    await stage.end();
  }
}

function targetsOf({ sides, provider }: Stage): readonly Target[] {
  const servers = sides.map(({ name: side, url }) => ({
    side,
    body: BODY,
    urlOf: (name: StampedName) => `${url}/call/${name}`,
  }));
  const model: Target = {
    side: 'model',
    body: MODEL_BODY,
    urlOf: (name) => `${provider}/${name}/burst/v1/chat/completions`,
  };
  return [...servers, model];
}

/** About as long as the requests of the other sides to the model. */
const MODEL_BODY = JSON.stringify({ model: 'bench-model', messages: [{ role: 'user', content: 'text '.repeat(100) }] });

/** Every answer of a window is checked, too. */
async function warmUp(target: Target): Promise<void> {
  const seconds = WARM_UP_SECONDS[target.side];
  const { failed, firstFailure } = await load(target, { name: 'Stamped', perSecond: WARM_UP_RATE, seconds });
  if (failed > 0) throw new Error(`${target.side}: ${firstFailure}`);
}

interface Window {
  readonly name: StampedName;
  readonly perSecond: number;
  readonly seconds: number;
}

async function load({ side, body, urlOf }: Target, { name, perSecond, seconds }: Window): Promise<OpenLoadResult> {
  const waiting = Math.ceil((perSecond * STAMPED_MS[name]) / 1000);
  const leadSeconds = (LEAD_MS + 2 * STAMPED_MS[name]) / 1000;
  const { added, late, failed, firstFailure } = await openLoop({
    url: urlOf(name),
    body,
    perSecond,
    seconds: leadSeconds + seconds,
    connections: SPARE_CONNECTIONS + waiting + Math.ceil(waiting / 4),
    modelMs: (answer) => (side === 'model' || isRight(answer) ? stampedMs(answer) : undefined),
  });
  await sleep(REST_MS);
  const lead = Math.round(perSecond * leadSeconds);
  return { added: added.subarray(lead), late: late.subarray(lead), failed, firstFailure };
}

/** What svc and the floor write before the stamps: comparing every answer must cost little. */
const ANSWER_HEAD = stampedText('').slice(0, -'"}'.length);

function isRight(text: string): boolean {
  if (text.startsWith(ANSWER_HEAD)) return true;
  return isDeepStrictEqual({ ...(JSON.parse(text) as object), summary: '' }, JSON.parse(stampedText('')));
}

interface Turns extends LatencyOptions {
  readonly names: readonly StampedName[];
  readonly ratesOf: (target: Target) => readonly number[];
}

async function measureInTurn(layout: Layout, targets: readonly Target[], turns: Turns): Promise<readonly FixedRate[]> {
  const { names, pairs, seconds, ratesOf } = turns;
  const subjects = names.flatMap((name) =>
    targets.flatMap((target) =>
      ratesOf(target).map((perSecond) => ({ target, name, perSecond, samples: [] as LatencySample[] })),
    ),
  );
  for (let pair = 0; pair < pairs; pair += 1) {
    for (const { target, name, perSecond, samples } of pair % 2 === 0 ? subjects : subjects.toReversed())
      samples.push(sampleOf(await load(target, { name, perSecond, seconds })));
  }
  return subjects.map(({ target: { side }, name, perSecond, samples }) => {
    return { layout, side, modelMs: STAMPED_MS[name], perSecond, samples };
  });
}

function sampleOf({ added, late, failed }: OpenLoadResult): LatencySample {
  const [p50, p99, p999] = [quantile(added, 0.5), quantile(added, 0.99), quantile(added, 0.999)];
  return { p50, p99, p999, lateP99: quantile(late, 0.99), failed };
}

/** Bisects the tried rates for each limit. */
async function searchRates(target: Target): Promise<readonly HighestRate[]> {
  const lowest = new Map<number, number[]>();
  const holds = async (perSecond: number, limitMs: number): Promise<boolean> => {
    const taken = lowest.get(perSecond) ?? [];
    lowest.set(perSecond, taken);
    while (taken.length < TRIES && !taken.some((p99) => p99 < limitMs)) {
      const { added, failed } = await load(target, { name: 'Stamped', perSecond, seconds: SEARCH_SECONDS });
      taken.push(failed > 0 ? Number.POSITIVE_INFINITY : quantile(added, 0.99));
    }
    return taken.some((p99) => p99 < limitMs);
  };
  const found: HighestRate[] = [];
  for (const limitMs of LIMITS_MS) {
    let [holding, failing] = [-1, TRIED_RATES.length];
    while (failing - holding > 1) {
      const middle = (holding + failing) >> 1;
      if (await holds(TRIED_RATES[middle] ?? 0, limitMs)) holding = middle;
      else failing = middle;
    }
    found.push({ side: target.side, limitMs, perSecond: TRIED_RATES[holding] ?? 0 });
  }
  return found;
}
