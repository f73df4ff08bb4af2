import { median } from '../load.ts';
import { number, table } from '../report.ts';
import type { InFlightResults } from './in-flight-bars.ts';
import {
  WARM_UP_MS,
  type BurstResult,
  type BurstSample,
  type HeldMemory,
  type InFlightResult,
  type InFlightSample,
} from './measure-in-flight.ts';
import { SLOW_SIDES } from './slow-stage.ts';

/** The tables of the cases that were measured. */
export function inFlightTables({ lasting, bursts, memory }: InFlightResults): string {
  const tables: string[] = [];
  if (lasting.length > 0) tables.push(lastingTable(lasting));
  if (bursts.length > 0) tables.push(burstTable(bursts));
  if (memory.length > 0) tables.push(memoryTable(memory));
  return tables.join('\n\n');
}

const COLUMNS: Readonly<Record<string, (sample: InFlightSample) => number>> = {
  'requests/s': (one) => one.requestsPerSecond,
  'p50 ms': (one) => one.p50,
  'p99 ms': (one) => one.p99,
  'delta p50 ms': (one) => one.deltaP50,
  'delta p99 ms': (one) => one.deltaP99,
  failed: (one) => one.failed,
  connections: (one) => one.connections,
  'KiB/request': (one) => one.bytesPerRequest / 1024,
};

function lastingTable(results: readonly InFlightResult[]): string {
  const rows = results.flatMap(({ title, coldMicros, samples }) =>
    SLOW_SIDES.flatMap((side) => {
      const taken = samples[side];
      return taken === undefined ? [] : [[title, side, number(coldMicros[side] ?? 0), ...lastingCells(taken)]];
    }),
  );
  const head = [
    'model takes 1 s',
    'side',
    `CPU µs/request: first ${WARM_UP_MS / 1000} s`,
    'then',
    'spread',
    ...Object.keys(COLUMNS),
  ];
  return table([head, ...rows]);
}

function lastingCells(samples: readonly InFlightSample[]): readonly string[] {
  const costs = samples.map((sample) => sample.cpuMicrosPerRequest);
  const figures = Object.values(COLUMNS).map((pick) => number(median(samples.map(pick))));
  return [number(median(costs)), `${number(Math.min(...costs))} to ${number(Math.max(...costs))}`, ...figures];
}

const BURST_COLUMNS: readonly ((sample: BurstSample) => number)[] = [
  (one) => one.p50,
  (one) => one.slowest,
  (one) => one.calls,
  (one) => one.failed,
];

function burstTable(results: readonly BurstResult[]): string {
  const rows = results.flatMap(({ title, samples }) =>
    Object.entries(samples).map(([side, taken]) => [
      title,
      side,
      ...BURST_COLUMNS.map((pick) => number(median(taken.map(pick)))),
    ]),
  );
  return table([['calls of the first 2 s', 'side', 'p50 ms', 'slowest ms', 'answered', 'failed'], ...rows]);
}

function memoryTable(memory: readonly HeldMemory[]): string {
  const rows = memory.map(({ side, idle, warm, inFlight, perCall }) => [
    side,
    number(idle / 2 ** 20),
    number(warm / 2 ** 20),
    number(inFlight / 2 ** 20),
    number(perCall / 1024),
  ]);
  return table([
    ['PSS of all processes', 'idle MiB', 'after calls MiB', '1,000 calls in flight MiB', 'KiB/call'],
    ...rows,
  ]);
}
