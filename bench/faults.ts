// Entry file: how requests end while processes are killed, hang or run out of a resource, on both transports.
//
// Usage: faults.js [--case <name>]... [--transport uws|node]
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { end, untilSpare } from './child-process.ts';
import { FAULT_CASES, type FaultCase } from './fault-cases.ts';
import { startLanes, type Tally } from './fault-load.ts';
import { startFaultServer, type TransportName } from './fault-server.ts';
import { table, writeResults } from './report.ts';
import { setStage, type Stage } from './sides.ts';

interface FaultResult extends Tally {
  readonly fault: string;
  readonly transport: TransportName;
  readonly seen: string;
}

/** Time under load before the fault. */
const WARM_UP_MS = 1500;

const { values } = parseArgs({
  options: { case: { type: 'string', multiple: true }, transport: { type: 'string', multiple: true } },
});
const cases = FAULT_CASES.filter(({ name }) => values.case === undefined || values.case.includes(name));
const transports = (['uws', 'node'] as const).filter((name) => values.transport?.includes(name) ?? true);
const results: FaultResult[] = [];
const stage = await setStage({ sides: [] });
try {
  for (const one of cases) {
    for (const transport of transports) {
      const result = await run(one, transport, stage);
      console.error(rowOf(result).join(' | '));
      results.push(result);
    }
  }
} finally {
  await stage.end();
}
const head = ['fault', 'transport', 'served', 'refused', '503', 'failed', 'failed how', 'seen'];
console.log(table([head, ...results.map(rowOf)]));
console.log(writeResults({ results }, 'faults'));

async function run(fault: FaultCase, transport: TransportName, on: Stage): Promise<FaultResult> {
  const server = await startFaultServer(on, { transport, ...fault.start });
  await untilSpare(server.child, Number(fault.start?.env?.['SVC_WORKERS'] ?? 2));
  const load = startLanes({ url: server.url, ...fault.load });
  try {
    await sleep(WARM_UP_MS);
    const seen = await fault.act({ stage: on, server, transport, load });
    return { fault: fault.title, transport, ...(await load.stop()), seen };
  } finally {
    await load.stop();
    await end(server.child);
  }
}

function rowOf({
  fault,
  transport,
  served,
  refused,
  turnedAway,
  failed,
  reasons,
  seen,
}: FaultResult): readonly string[] {
  const how = Object.entries(reasons).map(([reason, count]) => `${count} ${reason}`);
  return [fault, transport, ...[served, refused, turnedAway, failed].map(String), how.join(', ') || '-', seen];
}
