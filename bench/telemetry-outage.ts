// Entry file: latency of small calls while the receiver of telemetry is down or hangs for minutes, beside a server without telemetry.
// Every trace is sampled. All servers have the same load at the same time.
import { createServer, type AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { addressOf, CASES, checkAnswer, type Case } from './cases.ts';
import { freePort } from './child-process.ts';
import { openLoop, type LoadResult } from './load.ts';
import { memoryOf, processTree } from './process-usage.ts';
import { number, table } from './report.ts';
import { setStage, type Side } from './sides.ts';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '3' }, rate: { type: 'string', default: '100' } },
});
const MINUTES = Number(values.minutes);
/** Calls per second on each server. */
const RATE = Number(values.rate);

const subject = CASES.find(({ name }) => name === 'call-small');
if (subject === undefined) throw new Error('no case call-small');

/** Accepts connections, reads nothing and answers nothing. */
const hanging = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
await new Promise((resolve) => hanging.once('listening', resolve));

const RECEIVERS = {
  'telemetry off': undefined,
  'receiver down': await freePort(),
  'receiver hangs': (hanging.address() as AddressInfo).port,
} as const;

const stages = await Promise.all(
  Object.values(RECEIVERS).map((port) => setStage({ sides: ['svc'], env: variables(port) })),
);
const names = Object.keys(RECEIVERS);
try {
  const sides = stages.flatMap((stage) => stage.sides);
  for (const side of sides) await checkAnswer(subject, side);
  await measured(subject, sides, 10);
  const rows: string[][] = [];
  for (let minute = 1; minute <= MINUTES; minute += 1) {
    const results = await measured(subject, sides, 60);
    for (const [index, { p50, p99 }] of results.entries()) {
      const side = sides[index];
      if (side === undefined) continue;
      const dropped = await droppedSpans(side);
      rows.push([String(minute), names[index] ?? '', number(p50), number(p99), dropped, number(memoryMiB(side))]);
    }
  }
  console.log(`\n${table([['minute', 'server', 'p50 ms', 'p99 ms', 'dropped', 'MiB'], ...rows])}`);
} finally {
  await Promise.all(stages.map((stage) => stage.end()));
  hanging.close();
}

function variables(port: number | undefined): Readonly<Record<string, string>> {
  return port === undefined ? {} : { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` };
}

/** Throws if a call fails. */
function measured(load: Case, sides: readonly Side[], seconds: number): Promise<readonly LoadResult[]> {
  return Promise.all(sides.map((side) => openLoop({ url: addressOf(load, side), perSecond: RATE, seconds })));
}

async function droppedSpans({ url }: Side): Promise<string> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return /^svc_telemetry_dropped_total\S* (\d+)/mu.exec(text)?.[1] ?? '0';
}

function memoryMiB({ pid }: Side): number {
  return processTree(pid).reduce((sum, each) => sum + memoryOf(each).pssBytes, 0) / 2 ** 20;
}
