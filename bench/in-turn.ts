import { parseArgs } from 'node:util';
import { median, quantile } from './load.ts';
import { number } from './report.ts';

/**
 * Calls before the measurement. V8 compiles the functions of a call for about the first 100,000 calls of a server, and more
 * functions take longer.
 */
export const WARM_UP_CALLS = 150_000;

/** How much a run measures. */
interface RunSize {
  /** Calls of each server in a round. */
  readonly requests: number;
  readonly rounds: number;
}

/** Reads `--requests` and `--rounds`. A run of another size than the usual one is not `complete`, and writes no results. */
export function sizeOfRun(usual: RunSize): RunSize & { readonly complete: boolean } {
  const { values } = parseArgs({ options: { requests: { type: 'string' }, rounds: { type: 'string' } } });
  const requests = Number(values.requests ?? usual.requests);
  const rounds = Number(values.rounds ?? usual.rounds);
  return { requests, rounds, complete: requests === usual.requests && rounds === usual.rounds };
}

/** One of the servers that are compared with the first one. */
export interface Comparison {
  /** The median over the rounds. */
  readonly cpuMicros: number;
  /** The median over the rounds of the ratio to the first server in the same round. */
  readonly ratio: number;
  readonly ratioQuartiles: readonly [number, number];
}

/**
 * Measures servers in turn, every second round in reverse, because the speed of a machine changes within minutes. Each function
 * measures the CPU time of a call, in microseconds.
 */
export async function compareInTurn(
  measures: readonly (() => Promise<number>)[],
  rounds: number,
): Promise<readonly Comparison[]> {
  const samples: number[][] = measures.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    const turns = [...measures.entries()];
    for (const [index, measure] of round % 2 === 0 ? turns : turns.toReversed()) samples[index]?.push(await measure());
  }
  return samples.map((own) => {
    const ratios = own.map((micros, round) => micros / (samples[0]?.[round] ?? Number.NaN));
    return {
      cpuMicros: median(own),
      ratio: median(ratios),
      ratioQuartiles: [quantile(ratios, 0.25), quantile(ratios, 0.75)],
    };
  });
}

/** The columns of a comparison in a table. */
export const COMPARISON_HEAD = ['CPU µs per call', 'ratio', 'middle half of the ratios'] as const;

export function comparisonCells({ cpuMicros, ratio, ratioQuartiles: [low, high] }: Comparison): readonly string[] {
  return [number(cpuMicros), number(ratio), `${number(low)} to ${number(high)}`];
}
