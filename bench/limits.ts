// Entry file: the CPU time that the limits of a caller add to a small call. Each server answers callers with and without limits in turn,
// because the CPU time per call of two servers with the same settings differs by more than the limits cost.
import { hash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ClosedLoop } from './in-flight/closed-loop.ts';
import { isContact } from './in-flight/in-flight-cases.ts';
import { median, quantile } from './load.ts';
import { fineCpuMicrosOf, processTree } from './process-usage.ts';
import { number, table, writeResults } from './report.ts';
import { setStage, type Side } from './sides.ts';

/** Rounds per server. Each measures every caller for `SLICE_MS`; every second one goes through the callers in reverse order. */
const ROUNDS = 100;
const SLICE_MS = 150;
/** After this time, all requests of the previous caller have their answers. */
const LEAD_MS = 10;
/** After this time, V8 has compiled the functions of a call. */
const WARM_UP_MS = 20_000;
const SERVERS = 3;
const CONNECTIONS = 32;

// No run reaches these limits, and they are still numbers of a realistic size.
const ALL = { requests_per_minute: 1e7, tokens_per_minute: 1e8, in_flight: 1_000, cost_per_day: 1_000 };

/** The first two have no limits: the difference between them is noise. */
const CALLERS: ReadonlyArray<Readonly<{ name: string; limits: Partial<typeof ALL> | undefined }>> = [
  { name: 'no limits', limits: undefined },
  { name: 'no limits, again', limits: undefined },
  ...Object.entries(ALL).map(([name, units]) => ({ name, limits: { [name]: units } })),
  { name: 'all four', limits: ALL },
];

/** CPU time per call in microseconds, of each caller in each round. */
const samples: number[][] = CALLERS.map(() => []);
const folder = mkdtempSync(join(tmpdir(), 'svc-limits-'));
try {
  const path = join(folder, 'keys.json');
  const keys = CALLERS.map(({ limits }, index) => ({
    name: `caller-${index}`,
    sha256: hash('sha256', keyOf(index)),
    limits,
  }));
  writeFileSync(path, JSON.stringify({ keys }));
  for (let server = 0; server < SERVERS; server += 1) {
    const stage = await setStage({ sides: ['svc'], env: { SVC_KEYS: path } });
    try {
      for (const side of stage.sides) await measure(side);
    } finally {
      await stage.end();
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}

const rows = samples.map((own, index) => {
  const more = own.map((micros, round) => micros - (samples[0]?.[round] ?? Number.NaN));
  const [low, high] = [quantile(more, 0.25), quantile(more, 0.75)];
  return { caller: CALLERS[index]?.name ?? '', cpuMicros: median(own), more: median(more), low, high };
});
console.log(
  table([
    ['caller', 'CPU µs per call', 'more than without limits', 'middle half'],
    ...rows.map(({ caller, cpuMicros, more, low, high }) => [
      caller,
      number(cpuMicros),
      number(more),
      `${number(low)} to ${number(high)}`,
    ]),
  ]),
);
console.log(`\n${writeResults({ rounds: ROUNDS, servers: SERVERS, rows }, 'limits')}`);

async function measure({ pid, url }: Side): Promise<void> {
  const { port } = new URL(url);
  const load = { port: Number(port), path: '/call/Small', inFlight: CONNECTIONS, rampMs: 0, isRight: isContact };
  const loop = new ClosedLoop(load);
  const turns = [...CALLERS.keys()];
  try {
    for (let spent = 0; spent < WARM_UP_MS; spent += turns.length * SLICE_MS) await inTurn(loop, pid, turns);
    for (let round = 0; round < ROUNDS; round += 1) {
      const micros = await inTurn(loop, pid, round % 2 === 0 ? turns : turns.toReversed());
      for (const [caller, value] of micros) samples[caller]?.push(value);
    }
  } finally {
    await loop.stop();
  }
}

/** Returns the CPU time per call in microseconds, by the index of the caller. */
async function inTurn(loop: ClosedLoop, pid: number, callers: readonly number[]): Promise<ReadonlyMap<number, number>> {
  const pids = processTree(pid);
  const micros = new Map<number, number>();
  for (const caller of callers) {
    loop.sendAlso([`x-svc-api-key: ${keyOf(caller)}`]);
    await sleep(LEAD_MS);
    loop.begin();
    const before = fineCpuMicrosOf(pids);
    await sleep(SLICE_MS);
    micros.set(caller, (fineCpuMicrosOf(pids) - before) / loop.answered.length);
    if (loop.failed > 0) throw new Error(loop.firstFailure);
  }
  return micros;
}

function keyOf(caller: number): string {
  return `key of caller ${caller}`;
}
