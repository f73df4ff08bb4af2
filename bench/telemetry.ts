// Entry file: CPU time of a small call without telemetry, and with traces of a share of the calls. The receiver accepts everything;
// metrics are exported in all cases but the first.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CASES, checkAnswer, runLoad, type Case } from './cases.ts';
import { COMPARISON_HEAD, compareInTurn, comparisonCells, sizeOfRun, WARM_UP_CALLS } from './in-turn.ts';
import { cpuMicrosOf } from './process-usage.ts';
import { table, writeResults } from './report.ts';
import { setStage, type Side } from './sides.ts';

const { requests: REQUESTS, rounds: ROUNDS, complete } = sizeOfRun({ requests: 6000, rounds: 21 });

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
    await runLoad(subject, side, WARM_UP_CALLS);
  }
  const compared = await compareInTurn(
    sides.map((side) => [() => cpuPerCall(subject, side)]),
    ROUNDS,
  );
  // `sampledShare` is null without telemetry.
  const rows = compared.map((row, index) => ({ sampledShare: SHARES[index] ?? null, ...row }));
  const named = rows.map((row) => [nameOf(row.sampledShare), ...comparisonCells(row)]);
  console.log(`\n${table([['sampled', ...COMPARISON_HEAD], ...named])}`);
  if (complete) console.log(`\n${writeResults({ requests: REQUESTS, rounds: ROUNDS, rows }, 'telemetry')}`);
} finally {
  await Promise.all(stages.map((stage) => stage.end()));
  receiver.close();
}

function nameOf(share: number | null): string {
  return share === null ? 'telemetry off' : `${share * 100} %`;
}

async function cpuPerCall(load: Case, side: Side): Promise<number> {
  const before = cpuMicrosOf(side.pid);
  const { requests } = await runLoad(load, side, REQUESTS);
  return (cpuMicrosOf(side.pid) - before) / requests;
}
