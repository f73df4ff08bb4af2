import { fileURLToPath } from 'node:url';
import {
  ASSUMED,
  beats,
  ceilingOf,
  keptAnswers,
  readMeasured,
  simulateLimits,
  simulateLoad,
  simulateStore,
  simulateTurns,
  SOURCE,
  type Measured,
  type Questions,
} from './scaling-simulation.ts';

/**
 * Simulates one, ten and a thousand machines from measured figures: `node dist/bench/scaling-model.js [seed]`. It prints the
 * tables of docs/scaling.md. Equal seeds give equal tables.
 */
export const SEED = 21;

const SIZES = [1, 10, 1000] as const;

type Row = readonly string[];

/** Every table of docs/scaling.md that the model makes, by name. The first row is the head. */
export function modelTables(seed: number): ReadonlyMap<string, readonly Row[]> {
  const measured = readMeasured();
  return new Map([
    ['load', loadTable(measured, seed)],
    ['messages', messageTable(seed)],
    ['store', storeTable(seed)],
    ['breaks', breakTable(measured, seed)],
  ]);
}

function loadTable(measured: Measured, seed: number): readonly Row[] {
  const { callsPerSecond } = ASSUMED;
  const loads = SIZES.flatMap((machines) =>
    [true, false].map((even) => ({
      even,
      machines,
      load: simulateLoad({ machines, even, callsPerSecond }, measured, seed),
    })),
  );
  return [
    [
      'machines',
      'balancer',
      'calls per second',
      'in flight per worker, p99',
      'most',
      'memory of these calls',
      'find no slot',
      'busiest core',
    ],
    ...loads.map(({ machines, even, load: { p99, most, waiting, busiest } }) => [
      number(machines),
      even ? 'even' : 'uneven',
      number(callsOf(machines)),
      number(p99),
      number(most),
      `${number((most * measured.bytesPerCall) / 2 ** 20)} MiB`,
      percent(waiting),
      percent(busiest),
    ]),
  ];
}

/** The state that features keep for all workers or all machines, and how often they ask for it. */
const STATES: ReadonlyArray<readonly [string, (machines: number, seed: number) => Questions]> = [
  ['turns of a round-robin client', simulateTurns],
  [`limits of ${ASSUMED.callers} callers`, simulateLimits],
  ['kept answers, a key for each call', keptAnswers],
];

function messageTable(seed: number): readonly Row[] {
  return [
    ['state', 'questions per call', 'primary used, of a core'],
    ...STATES.map(([name, simulate]) => {
      const { toPrimary } = simulate(1, seed);
      return [name, number(toPrimary / callsOf(1)), percent((toPrimary * ASSUMED.primaryMicros) / 1e6)];
    }),
  ];
}

function storeTable(seed: number): readonly Row[] {
  const sizes = SIZES.map((machines) => `${number(machines)}: operations per second`);
  return [
    [
      'state in the store',
      'operations per call',
      'bytes per call',
      ...sizes,
      'store used at 1,000',
      'p99 of the wait there',
    ],
    ...([['signs of life', beats], ...STATES] as typeof STATES).map(([name, simulate]) => {
      const each = SIZES.map((machines) => simulate(machines, seed));
      const { toStore, storeBytes } = simulate(1000, seed);
      const { p99 } = simulateStore(toStore, seed);
      return [
        name,
        number(toStore / callsOf(1000)),
        number((toStore / callsOf(1000)) * storeBytes),
        ...each.map((questions) => number(questions.toStore)),
        percent((toStore * ASSUMED.scriptMicros) / 1e6),
        p99 === Infinity ? 'cannot keep up' : `${p99.toFixed(2)} ms`,
      ];
    }),
  ];
}

function breakTable(measured: Measured, seed: number): readonly Row[] {
  const { longShare, primaryMicros, scriptMicros, workers } = ASSUMED;
  const micros = (1 - longShare) * measured.callMicros + longShare * measured.streamMicros;
  const ofStore = ({ toStore }: Questions): string => `${number((1e6 / scriptMicros / toStore) * 1000)} machines`;
  return [
    ['part', 'breaks at', 'what helps'],
    ['slots of a worker, even balancer', ofMachine(ceilingOf(10, true, measured, seed)), '`--max-in-flight`, memory'],
    ['slots of a worker, uneven balancer', ofMachine(ceilingOf(10, false, measured, seed)), 'more connections'],
    ['CPU of the workers', ofMachine((workers * 1e6) / micros), 'cores, machines'],
    ['primary, with a key for each call', ofMachine(1e6 / primaryMicros / 2), 'more machines of fewer workers'],
    ['store: signs of life', ofStore(beats(1000)), 'a store for each region'],
    ['store: turns', ofStore(simulateTurns(1000, seed)), 'a store for each region'],
    [
      `store: limits of ${ASSUMED.callers} callers`,
      ofStore(simulateLimits(1000, seed)),
      'callers that stay on a few machines; a cluster',
    ],
    ['store: kept answers', ofStore(keptAnswers(1000, seed)), 'a cluster'],
  ];
}

function ofMachine(rate: number): string {
  return `${number(rate)} calls per second of a machine`;
}

function callsOf(machines: number): number {
  return machines * ASSUMED.callsPerSecond;
}

/** Three digits. */
function number(value: number): string {
  const rounded = value === 0 ? 0 : Number(value.toPrecision(3));
  return rounded.toLocaleString('en-US', { maximumFractionDigits: 5 });
}

function percent(share: number): string {
  if (share === 0) return '0 %';
  return share < 0.0005 ? '< 0.1 %' : `${Number((share * 100).toPrecision(2)).toLocaleString('en-US')} %`;
}

function print(seed: number): void {
  process.stdout.write(`seed ${seed}, measurements of ${SOURCE}\n`);
  for (const [name, rows] of modelTables(seed)) {
    process.stdout.write(`\n${name}\n${rows.map((row) => row.join(' | ')).join('\n')}\n`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) print(Number(process.argv[2] ?? SEED));
