// Entry file: memory of every process of svc and of the peer over hundreds of thousands of calls and thousands of streams.
//
// Usage: soak.js [--calls 300000] [--streams 5000] [--side svc|baml]...
//
// Writes the samples as JSON and CSV.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { callLoad } from './in-flight/closed-loop.ts';
import { streamLoad } from './load.ts';
import { memoryOf, processTree } from './process-usage.ts';
import { number, table, writeResults } from './report.ts';
import { missingSide, setStage, type Side, type SideName } from './sides.ts';

const MIB = 1024 * 1024;
const STEP = 10_000;
/** 32 connections together with those of the streams. */
const CALL_CONNECTIONS = 28;
const STREAM_CONNECTIONS = 4;
/** The share of the run after which growth counts: before, engines still compile hot code. */
const SETTLED = 1 / 3;

interface Sample {
  readonly calls: number;
  readonly streams: number;
  /** Resident memory of each process in MiB, the first process first. */
  readonly rss: readonly number[];
}

interface SoakResult {
  readonly side: SideName;
  readonly samples: readonly Sample[];
  /** MiB per 100,000 calls by least squares over the last two thirds, of all processes together and of each. */
  readonly slope: number;
  readonly slopes: readonly number[];
}

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '300000' },
    streams: { type: 'string', default: '5000' },
    side: { type: 'string', multiple: true },
  },
});
const steps = Math.ceil(Number(values.calls) / STEP);
const sides = (['svc', 'baml'] as const).filter((name) => values.side?.includes(name) ?? true);
const results: SoakResult[] = [];
for (const name of sides) {
  const missing = missingSide(name);
  if (missing === undefined) results.push(await soak(name));
  else console.error(`${name}: not measured (${missing})`);
}
report();

async function soak(name: SideName): Promise<SoakResult> {
  const stage = await setStage({ sides: [name] });
  try {
    const [side] = stage.sides;
    if (side === undefined) throw new Error(`${name} did not start`);
    const samples: Sample[] = [];
    for (let step = 1; step <= steps; step += 1) samples.push(await runStep(side, step));
    return { side: name, samples, ...slopesOf(samples) };
  } finally {
    await stage.end();
  }
}

async function runStep(side: Side, step: number): Promise<Sample> {
  const streams = Math.round(Number(values.streams) / steps);
  await Promise.all([
    callLoad({ url: `${side.url}/call/Small`, connections: CALL_CONNECTIONS, requests: STEP }),
    streamLoad({ url: `${side.url}/stream/Small`, connections: STREAM_CONNECTIONS, requests: streams }),
  ]);
  const rss = processTree(side.pid).map((pid) => memoryOf(pid).rssBytes / MIB);
  console.error(`${side.name} ${step * STEP}: ${rss.map((one) => one.toFixed(1)).join(' ')}`);
  return { calls: step * STEP, streams: step * streams, rss };
}

function slopesOf(samples: readonly Sample[]): Pick<SoakResult, 'slope' | 'slopes'> {
  const settled = samples.slice(Math.floor(samples.length * SETTLED));
  const x = settled.map(({ calls }) => calls / 100_000);
  const slopeOf = (valueOf: (sample: Sample) => number): number => slope(x, settled.map(valueOf));
  const slopes = (samples[0]?.rss ?? []).map((_, index) => slopeOf(({ rss }) => rss[index] ?? 0));
  return { slope: slopeOf(({ rss }) => total(rss)), slopes };
}

/** The slope of the line through the points by least squares; NaN for fewer than two different x. */
function slope(x: readonly number[], y: readonly number[]): number {
  const [xMean, yMean] = [total(x) / x.length, total(y) / y.length];
  const products = x.map((one, index) => (one - xMean) * ((y[index] ?? 0) - yMean));
  return total(products) / total(x.map((one) => (one - xMean) ** 2));
}

function report(): void {
  const rows = results.map(({ side, samples, slope: all }) => {
    const at = (calls: number): string => number(total(samples.find((one) => one.calls >= calls)?.rss ?? []));
    return [side, at(20_000), at(200_000), at(samples.length * STEP), number(all)];
  });
  const head = ['side', 'RSS MiB at 20,000', 'at 200,000', 'at the end', 'MiB per 100,000 calls'];
  console.log(table([head, ...rows]));
  const path = writeResults({ results }, 'soak');
  writeFileSync(path.replace(/\.json$/, '.csv'), csv());
  console.log(`${path}, .csv`);
}

function csv(): string {
  const lines = results.flatMap(({ side, samples }) =>
    samples.flatMap(({ calls, streams, rss }) =>
      rss.map((one, index) => [side, processName(side, index), calls, streams, one.toFixed(1)].join(',')),
    ),
  );
  return `${['side,process,calls,streams,rss_mib', ...lines].join('\n')}\n`;
}

/** One of svc's three processes besides the primary is the spare worker. */
function processName(side: SideName, index: number): string {
  if (side !== 'svc') return index === 0 ? side : `${side} ${index + 1}`;
  return index === 0 ? 'svc primary' : `svc worker ${index}`;
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0);
}
