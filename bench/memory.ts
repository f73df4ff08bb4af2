// Entry file: memory of the primary and its workers over many calls.
//
// Usage: memory.js [--calls 200000]       one sample every 20,000 calls, up to this number
import { parseArgs } from 'node:util';
import { callLoad } from './call-load.ts';
import { memoryOf, processTree } from './process-usage.ts';
import { number, table, writeResults } from './report.ts';
import { setStage, type Side } from './sides.ts';

const MIB = 1024 * 1024;
const STEP = 20_000;
const CONNECTIONS = 32;
/** The bars. */
const MAX_GROWTH = 0.05;
const MAX_WORKER_MIB = 100;
const MAX_TOTAL_PSS_MIB = 170;

interface MemorySample {
  readonly calls: number;
  /** RSS of each process in MiB, the primary first. */
  readonly rss: readonly number[];
  readonly totalRss: number;
  readonly totalPss: number;
}

const { values } = parseArgs({ options: { calls: { type: 'string', default: '200000' } } });
const stage = await setStage({ sides: ['svc'] });
try {
  const [side] = stage.sides;
  if (side === undefined) throw new Error('svc did not start');
  await grow(side, Number(values.calls));
} finally {
  await stage.end();
}

async function grow(side: Side, calls: number): Promise<void> {
  const samples: MemorySample[] = [];
  for (let done = STEP; done <= calls; done += STEP) {
    await callLoad({ url: `${side.url}/call/Small`, connections: CONNECTIONS, requests: STEP });
    samples.push(sample(side, done));
  }
  const rows = samples.map((one) => [one.calls, ...one.rss, one.totalRss, one.totalPss].map(number));
  const workers = (samples[0]?.rss ?? []).slice(1).map((_, index) => `worker ${index + 1}`);
  console.log(table([['calls', 'primary RSS MiB', ...workers, 'all RSS', 'all PSS'], ...rows]));
  const bars = judge(samples);
  for (const [bar, holds] of Object.entries(bars)) console.log(`${bar}: ${holds ? 'yes' : 'NO'}`);
  console.log(writeResults({ samples, bars }, 'memory'));
}

function judge(samples: readonly MemorySample[]): Readonly<Record<string, boolean>> {
  const first = samples.at(0)?.totalRss ?? 0;
  const last = samples.at(-1);
  if (last === undefined) return {};
  return {
    [`RSS grows by at most ${MAX_GROWTH * 100} % from ${STEP} to ${last.calls} calls`]:
      last.totalRss <= first * (1 + MAX_GROWTH),
    [`a worker stays under ${MAX_WORKER_MIB} MiB`]: last.rss.slice(1).every((rss) => rss < MAX_WORKER_MIB),
    [`primary and workers stay under ${MAX_TOTAL_PSS_MIB} MiB of PSS`]: last.totalPss < MAX_TOTAL_PSS_MIB,
  };
}

function sample(side: Side, calls: number): MemorySample {
  const memory = processTree(side.pid).map(memoryOf);
  const sum = (pick: (one: { readonly rssBytes: number; readonly pssBytes: number }) => number): number =>
    memory.reduce((total, one) => total + pick(one), 0) / MIB;
  return {
    calls,
    rss: memory.map((one) => one.rssBytes / MIB),
    totalRss: sum((one) => one.rssBytes),
    totalPss: sum((one) => one.pssBytes),
  };
}
