// Entry file: latency of small calls while the receiver of telemetry is down or hangs for minutes, beside a server without telemetry.
// Every trace is sampled. All servers have the same load at the same time.
import { createServer, type AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { addressOf, CASES, checkAnswer, type Case } from './cases.ts';
import { freePort } from './child-process.ts';
import { isContact } from './in-flight/in-flight-cases.ts';
import { openLoop } from './latency/open-loop.ts';
import { BODY, quantile } from './load.ts';
import { memoryOf, processTree } from './process-usage.ts';
import { number, table } from './report.ts';
import { setStage, type Side } from './sides.ts';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '3' }, rate: { type: 'string', default: '100' } },
});
const MINUTES = Number(values.minutes);
/** Calls per second on each server. */
const RATE = Number(values.rate);
/** More than are ever in flight at the default rate. */
const CONNECTIONS = 64;

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
    for (const [index, times] of results.entries()) {
      const side = sides[index];
      if (side === undefined) continue;
      const dropped = await droppedSpans(side);
      rows.push([
        String(minute),
        names[index] ?? '',
        number(quantile(times, 0.5)),
        number(quantile(times, 0.99)),
        dropped,
        number(memoryMiB(side)),
      ]);
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

/** The whole time of a call counts. */
function modelMs(body: string): number | undefined {
  return isContact(body) ? 0 : undefined;
}

/** The milliseconds of each call, for each side. Throws if a call fails. */
function measured(load: Case, sides: readonly Side[], seconds: number): Promise<readonly Float64Array[]> {
  return Promise.all(
    sides.map(async (side) => {
      const url = addressOf(load, side);
      const { added, failed, firstFailure } = await openLoop({
        url,
        body: BODY,
        perSecond: RATE,
        seconds,
        connections: CONNECTIONS,
        modelMs,
      });
      if (failed > 0) throw new Error(firstFailure);
      return added;
    }),
  );
}

async function droppedSpans({ url }: Side): Promise<string> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return /^svc_telemetry_dropped_total\S* (\d+)/mu.exec(text)?.[1] ?? '0';
}

function memoryMiB({ pid }: Side): number {
  return processTree(pid).reduce((sum, each) => sum + memoryOf(each).pssBytes, 0) / 2 ** 20;
}
