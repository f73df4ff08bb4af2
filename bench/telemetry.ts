// Entry file: CPU time of a small call without telemetry, and with traces of a share of the calls. The receiver accepts everything;
// metrics are exported in all cases but the first. Each round measures all servers in turn, and the median of the rounds counts.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { CASES, checkAnswer, runLoad } from './cases.ts';
import { median } from './load.ts';
import { cpuMicrosOf } from './process-usage.ts';
import { number, table } from './report.ts';
import { setStage, type Side } from './sides.ts';

const { values } = parseArgs({
  options: { requests: { type: 'string', default: '12000' }, rounds: { type: 'string', default: '5' } },
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
    await runLoad(subject, side, REQUESTS);
  }
  const samples: number[][] = sides.map(() => []);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, side] of sides.entries()) samples[index]?.push(await cpuPerCall(side));
  }
  console.log(`\n${table([['sampled', 'CPU µs per call', 'ratio'], ...samples.map(row)])}`);

  function row(own: readonly number[], index: number): readonly string[] {
    const ratios = own.map((micros, round) => micros / (samples[0]?.[round] ?? Number.NaN));
    const share = SHARES[index];
    const name = share === undefined ? 'telemetry off' : `${share * 100} %`;
    return [name, number(median(own)), number(median(ratios))];
  }
} finally {
  await Promise.all(stages.map((stage) => stage.end()));
  receiver.close();
}

async function cpuPerCall(side: Side): Promise<number> {
  if (subject === undefined) return Number.NaN;
  const before = cpuMicrosOf(side.pid);
  const { requests } = await runLoad(subject, side, REQUESTS);
  return (cpuMicrosOf(side.pid) - before) / requests;
}
