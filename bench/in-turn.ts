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

/** Measures the CPU time of a call to one server, in microseconds. */
type Measure = () => Promise<number>;

/** One of the subjects that are compared with the first one. */
export interface Comparison {
  /** The median over the rounds. */
  readonly cpuMicros: number;
  /** The median over the rounds of the ratio to the first subject in the same round. */
  readonly ratio: number;
  readonly ratioQuartiles: readonly [number, number];
}

/**
 * Measures subjects in turn, every second round in reverse, because the speed of a machine changes within minutes. A subject has one
 * or more servers: each round measures the next one, because two servers with the same settings differ by several per cent.
 */
export async function compareInTurn(
  subjects: readonly (readonly Measure[])[],
  rounds: number,
): Promise<readonly Comparison[]> {
  const samples: number[][] = subjects.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    const turns = [...subjects.entries()];
    for (const [index, servers] of round % 2 === 0 ? turns : turns.toReversed()) {
      const measure = servers[round % servers.length];
      if (measure !== undefined) samples[index]?.push(await measure());
    }
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
