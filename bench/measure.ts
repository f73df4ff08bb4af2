import { checkAnswer, runLoad, type Case, type CaseName } from './cases.ts';
import { median, type LoadResult } from './load.ts';
import { cpuMicrosOf } from './process-usage.ts';
import type { Side, SideName } from './sides.ts';

/** One load on one side. */
export interface Sample {
  readonly cpuMicrosPerRequest: number;
  readonly requestsPerSecond: number;
  readonly p50: number;
  readonly p99: number;
}

export interface CaseResult {
  readonly name: CaseName;
  readonly title: string;
  readonly samples: Readonly<Partial<Record<SideName, readonly Sample[]>>>;
}

/** Checks the answers, warms up, then measures all sides in turn, `pairs` times; each round begins with another side. */
export async function measureCase(subject: Case, allSides: readonly Side[], pairs: number): Promise<CaseResult> {
  const sides = allSides.filter((side) => subject.requests[side.name] !== undefined);
  for (const side of sides) {
    await checkAnswer(subject, side);
    const warmUp = subject.warmUp[side.name];
    if (warmUp !== undefined) await runLoad(subject, side, warmUp);
  }
  const samples: Partial<Record<SideName, Sample[]>> = {};
  for (let pair = 0; pair < pairs; pair += 1) {
    for (const side of rotated(sides, pair)) (samples[side.name] ??= []).push(await measure(subject, side));
  }
  return { name: subject.name, title: subject.title, samples };
}

async function measure(subject: Case, side: Side): Promise<Sample> {
  const before = cpuMicrosOf(side.pid);
  const result = await runLoad(subject, side, subject.requests[side.name] ?? 1);
  return sampleOf(cpuMicrosOf(side.pid) - before, result);
}

function sampleOf(cpuMicros: number, { requests, seconds, p50, p99 }: LoadResult): Sample {
  return { cpuMicrosPerRequest: cpuMicros / requests, requestsPerSecond: requests / seconds, p50, p99 };
}

function rotated<T>(items: readonly T[], by: number): readonly T[] {
  const at = items.length === 0 ? 0 : by % items.length;
  return [...items.slice(at), ...items.slice(0, at)];
}

/** Median CPU per request of a side; undefined if it was not measured. */
export function medianCpu(result: CaseResult | undefined, side: SideName): number | undefined {
  const samples = result?.samples[side];
  return samples === undefined ? undefined : median(samples.map((sample) => sample.cpuMicrosPerRequest));
}

/** Median over the pairs of `side`'s CPU per request divided by `other`'s in the same pair. */
export function medianRatio(result: CaseResult | undefined, side: SideName, other: SideName): number | undefined {
  const ours = result?.samples[side];
  const theirs = result?.samples[other];
  if (ours === undefined || theirs === undefined) return undefined;
  return median(
    ours.map((sample, pair) => sample.cpuMicrosPerRequest / (theirs[pair]?.cpuMicrosPerRequest ?? Number.NaN)),
  );
}
