// Entry file: CPU time of a small call without telemetry, and with traces of a share of the calls. The receiver accepts everything;
// metrics are exported in all cases but the first. Each round measures all servers in turn, every second round in reverse. The median
// over the rounds of the ratio within a round counts.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { CASES, checkAnswer, runLoad, type Case } from './cases.ts';
import { median, quantile } from './load.ts';
import { cpuMicrosOf } from './process-usage.ts';
import { number, table, writeResults } from './report.ts';
import { setStage, type Side } from './sides.ts';

/** A run with other numbers writes no results. */
const DEFAULTS = { requests: '6000', rounds: '21' };

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: DEFAULTS.requests },
    rounds: { type: 'string', default: DEFAULTS.rounds },
  },
});
const REQUESTS = Number(values.requests);
const ROUNDS = Number(values.rounds);

/** The sampled share of the calls; undefined without telemetry. */
const SHARES = [undefined, 0, 0.1, 1] as const;

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
const stages = await Promise.all(SHARES.map((share) => setStage({ sides: ['svc'], env: variables(share) })));
try {
  const sides = stages.flatMap((stage) => stage.sides);
  for (const side of sides) {
    await checkAnswer(subject, side);
    await runLoad(subject, side, subject.warmUp.svc ?? REQUESTS);
  }
  const samples: number[][] = sides.map(() => []);
  for (let round = 0; round < ROUNDS; round += 1) {
    const turns = [...sides.entries()];
    for (const [index, side] of round % 2 === 0 ? turns : turns.toReversed()) {
      samples[index]?.push(await cpuPerCall(subject, side));
    }
  }
  const rows = samples.map((own, index) => rowOf(SHARES[index], own, samples[0] ?? []));
  const head = ['sampled', 'CPU µs per call', 'ratio', 'middle half of the ratios'];
  console.log(`\n${table([head, ...rows.map(cells)])}`);
  const complete = values.requests === DEFAULTS.requests && values.rounds === DEFAULTS.rounds;
  if (complete) console.log(`\n${writeResults({ requests: REQUESTS, rounds: ROUNDS, rows }, 'telemetry')}`);
} finally {
  await Promise.all(stages.map((stage) => stage.end()));
  receiver.close();
}

interface Row {
  /** Null without telemetry. */
  readonly sampledShare: number | null;
  readonly cpuMicros: number;
  /** The median over the rounds, and the quartiles. */
  readonly ratio: number;
  readonly ratioQuartiles: readonly [number, number];
}

function rowOf(share: number | undefined, own: readonly number[], off: readonly number[]): Row {
  const ratios = own.map((micros, round) => micros / (off[round] ?? Number.NaN));
  return {
    sampledShare: share ?? null,
    cpuMicros: median(own),
    ratio: median(ratios),
    ratioQuartiles: [quantile(ratios, 0.25), quantile(ratios, 0.75)],
  };
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
