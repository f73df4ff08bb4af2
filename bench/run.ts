// Entry file of `npm run bench`: CPU time per request of svc, the floor and the peer, and the bars that hold.
import { setTimeout as sleep } from 'node:timers/promises';
import { judge } from './bars.ts';
import { doorTable, judgeDoors, measureDoors, type DoorCosts } from './doors.ts';
import { judgeInFlight, type InFlightResults } from './in-flight/in-flight-bars.ts';
import { BURSTS, LASTING, titleOf } from './in-flight/in-flight-cases.ts';
import { inFlightTables } from './in-flight/in-flight-report.ts';
import {
  measureBurst,
  measureInFlight,
  measureMemory,
  type BurstResult,
  type HeldMemory,
  type InFlightResult,
} from './in-flight/measure-in-flight.ts';
import type { SlowSideName } from './in-flight/slow-stage.ts';
import { judgeLatency, latencyTables } from './latency/latency-report.ts';
import { measureLatency, type LatencyResults } from './latency/measure-latency.ts';
import { measureCase, type CaseResult } from './measure.ts';
import { readOptions, USAGE, type BenchOptions } from './options.ts';
import { resultTable, scalingTable, verdictTable, writeResults } from './report.ts';
import { judgeScaling, measureScaling, type Scaling } from './scaling.ts';
import { missingSide, setStage, SETTLE_MS, type SideName } from './sides.ts';

const asked = readOptions(process.argv.slice(2));
if (asked === 'help') console.log(USAGE);
else await run(asked);

async function run(options: BenchOptions): Promise<void> {
  const watchdog = setTimeout(() => {
    console.error(`gave up after ${options.limitMs / 60_000} minutes`);
    process.exit(1);
  }, options.limitMs);
  const present = options.sides.filter((name) => {
    const reason = missingSide(name);
    if (reason !== undefined) console.error(`${name}: not measured (${reason})`);
    return reason === undefined;
  });
  try {
    const results = await measureSides(options, present);
    const latency = options.latency ? await atFixedRates(options, present) : undefined;
    const scaling = options.scaling && present.includes('svc') ? await scale(options.pairs) : undefined;
    const doors = options.doors && present.includes('svc') ? await throughDoors(options.pairs) : undefined;
    print({ results, latency, scaling, doors, inFlight: await measureSlowModel(options, present) }, options.complete);
  } finally {
    clearTimeout(watchdog);
  }
}

interface Measured {
  readonly results: readonly CaseResult[];
  readonly latency: LatencyResults | undefined;
  readonly scaling: Scaling | undefined;
  readonly doors: DoorCosts | undefined;
  readonly inFlight: InFlightResults;
}

async function measureSides(
  { cases, pairs }: BenchOptions,
  sides: readonly SideName[],
): Promise<readonly CaseResult[]> {
  if (cases.length === 0) return [];
  const stage = await setStage({ sides });
  try {
    if (sides.includes('svc')) await sleep(SETTLE_MS);
    const results: CaseResult[] = [];
    for (const subject of cases) {
      console.error(`${subject.title} ...`);
      results.push(await measureCase(subject, stage.sides, pairs));
    }
    return results;
  } finally {
    await stage.end();
  }
}

function atFixedRates(
  { pairs, latencySeconds: seconds }: BenchOptions,
  sides: readonly SideName[],
): Promise<LatencyResults> {
  console.error('latency at fixed rates ...');
  return measureLatency({ sides, pairs, seconds });
}

async function scale(pairs: number): Promise<Scaling | undefined> {
  console.error('two workers beside one ...');
  return measureScaling(pairs);
}

function throughDoors(pairs: number): Promise<DoorCosts> {
  console.error('calls through the interfaces of OpenAI and MCP ...');
  return measureDoors(pairs);
}

/** The cases whose model takes its time; each starts servers of its own. */
async function measureSlowModel(
  { inFlight: names, pairs }: BenchOptions,
  present: readonly SideName[],
): Promise<InFlightResults> {
  const sides = present.filter((name): name is SlowSideName => name !== 'floor');
  const lasting: InFlightResult[] = [];
  for (const subject of LASTING.filter(({ name }) => names.includes(name))) {
    console.error(`${titleOf(subject)} ...`);
    lasting.push(await measureInFlight(subject, sides, pairs));
  }
  const bursts: BurstResult[] = [];
  for (const subject of BURSTS.filter(({ name }) => names.includes(name))) {
    console.error(`cold server: ${titleOf(subject)} ...`);
    bursts.push(await measureBurst(subject, sides, pairs));
  }
  const memory: HeldMemory[] = [];
  if (names.includes('memory')) for (const side of sides) memory.push(await measureMemory(side));
  return { lasting, bursts, memory };
}

function print(measured: Measured, complete: boolean): void {
  const { results, latency, scaling, doors, inFlight } = measured;
  const verdicts = [
    ...judge(results),
    ...judgeLatency(latency),
    judgeScaling(scaling),
    judgeDoors(doors),
    ...judgeInFlight(inFlight),
  ];
  if (results.length > 0) console.log(`\n${resultTable(results)}`);
  if (latency !== undefined) console.log(`\n${latencyTables(latency)}`);
  if (scaling !== undefined) console.log(`\n${scalingTable(scaling)}`);
  if (doors !== undefined) console.log(`\n${doorTable(doors)}`);
  const tables = inFlightTables(inFlight);
  if (tables !== '') console.log(`\n${tables}`);
  console.log(`\n${verdictTable(verdicts)}`);
  console.log(
    complete
      ? `\n${writeResults({ results, latency, scaling, doors, ...inFlight, verdicts })}`
      : '\nOnly a part of the bench ran: no result is written.',
  );
}
