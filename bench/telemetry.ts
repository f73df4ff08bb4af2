// Entry file: CPU time of a small call without telemetry, and with traces of a share of the calls. The receiver accepts everything;
// metrics are exported in all cases but the first.
//
// Usage: telemetry.js [--requests 6000] [--rounds 21] [--warm-up 150000] [--build <folder>]...
//
// `--build` names the package folder of another build of svc, which is measured with 10 % in the same rounds.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { CASES, checkAnswer, runLoad, type Case } from './cases.ts';
import { median, quantile } from './load.ts';
import { cpuMicrosOf } from './process-usage.ts';
import { number, table, writeResults } from './report.ts';
import { setStage, type Side } from './sides.ts';

/**
 * Calls before the measurement. V8 compiles the functions of a call for about the first 100,000 calls of a server, and more
 * functions take longer.
 */
const WARM_UP_CALLS = 150_000;
/** How much a run measures; a run of another size writes no results. */
const USUAL = { requests: 6000, rounds: 21 };

const { values } = parseArgs({
  options: {
    requests: { type: 'string' },
    rounds: { type: 'string' },
    'warm-up': { type: 'string', default: String(WARM_UP_CALLS) },
    build: { type: 'string', multiple: true, default: [] },
  },
});
/** Calls of each server in a round. */
const REQUESTS = Number(values.requests ?? USUAL.requests);
const ROUNDS = Number(values.rounds ?? USUAL.rounds);
const complete =
  REQUESTS === USUAL.requests &&
  ROUNDS === USUAL.rounds &&
  Number(values['warm-up']) === WARM_UP_CALLS &&
  values.build.length === 0;

/** The sampled share of the calls, undefined without telemetry; and the build of svc, undefined for this one. */
const SERVERS: readonly { readonly share: number | undefined; readonly root?: string }[] = [
  { share: undefined },
  { share: 0 },
  { share: 0.1 },
  { share: 1 },
  ...values.build.map((root) => ({ share: 0.1, root })),
];

const receiver = createServer((request, response) => {
  request.resume();
  request.on('end', () => response.end());
}).listen(0, '127.0.0.1');
await new Promise((resolve) => receiver.once('listening', resolve));
const endpoint = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;

function variables(share: number | undefined): Readonly<Record<string, string>> {
  if (share === undefined) return {};
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: String(share),
    OTEL_METRIC_EXPORT_INTERVAL: '5000',
  };
}

const subject = CASES.find(({ name }) => name === 'call-small');
if (subject === undefined) throw new Error('no case call-small');
const stages = await Promise.all(
  SERVERS.map(({ share, ...build }) => setStage({ sides: ['svc'], env: variables(share), ...build })),
);
try {
  const sides = stages.flatMap((stage) => stage.sides);
  for (const side of sides) {
    await checkAnswer(subject, side);
    await runLoad(subject, side, Number(values['warm-up']));
  }
  const samples = await inTurn(subject, sides);
  // `sampledShare` is null without telemetry.
  const rows = samples.map((own, index) => ({
    sampledShare: SERVERS[index]?.share ?? null,
    ...compared(own, samples[0] ?? []),
  }));
  const head = ['sampled', 'CPU µs per call', 'ratio', 'middle half of the ratios'];
  console.log(
    `\n${table([['build', ...head], ...rows.map((row, index) => [SERVERS[index]?.root ?? '', ...cells(row)])])}`,
  );
  if (complete) console.log(`\n${writeResults({ requests: REQUESTS, rounds: ROUNDS, rows }, 'telemetry')}`);
} finally {
  await Promise.all(stages.map((stage) => stage.end()));
  receiver.close();
}

/**
 * Measures the servers in turn, every second round in reverse, because the speed of a machine changes within minutes. Returns the CPU
 * time per call in microseconds, of each server in each round.
 */
async function inTurn(load: Case, sides: readonly Side[]): Promise<readonly (readonly number[])[]> {
  const samples: number[][] = sides.map(() => []);
  for (let round = 0; round < ROUNDS; round += 1) {
    const turns = [...sides.entries()];
    for (const [index, side] of round % 2 === 0 ? turns : turns.toReversed()) {
      samples[index]?.push(await cpuPerCall(load, side));
    }
  }
  return samples;
}

interface Comparison {
  /** The median over the rounds. */
  readonly cpuMicros: number;
  /** The median over the rounds of the ratio to the first server in the same round. */
  readonly ratio: number;
  readonly ratioQuartiles: readonly [number, number];
}

function compared(own: readonly number[], first: readonly number[]): Comparison {
  const ratios = own.map((micros, round) => micros / (first[round] ?? Number.NaN));
  return {
    cpuMicros: median(own),
    ratio: median(ratios),
    ratioQuartiles: [quantile(ratios, 0.25), quantile(ratios, 0.75)],
  };
}

interface Row extends Comparison {
  readonly sampledShare: number | null;
}

function cells({ sampledShare, cpuMicros, ratio, ratioQuartiles: [low, high] }: Row): readonly string[] {
  const name = sampledShare === null ? 'telemetry off' : `${sampledShare * 100} %`;
  return [name, number(cpuMicros), number(ratio), `${number(low)} to ${number(high)}`];
}

async function cpuPerCall(load: Case, side: Side): Promise<number> {
  const before = cpuMicrosOf(side.pid);
  const { requests } = await runLoad(load, side, REQUESTS);
  return (cpuMicrosOf(side.pid) - before) / requests;
}
