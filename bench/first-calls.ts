// Entry file: the CPU time per call of a new server, by the number of calls so far, beside builds in other folders. Each server starts
// by itself, waits without traffic, and is then loaded.
import { parseArgs } from 'node:util';
import { CASES } from './cases.ts';
import { streamLoad } from './load.ts';
import { fineCpuMicrosOf, processTree } from './process-usage.ts';
import { number, table } from './report.ts';
import { ROOT, setStage } from './sides.ts';
import { setTimeout as sleep } from 'node:timers/promises';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { idle: { type: 'string', default: '5' } },
});
const subject = CASES.find(({ name }) => name === 'call-small');
if (subject === undefined) throw new Error('the case call-small is gone');
const { endpoint, function: functionName, connections } = subject;

/** The sizes of the bursts, whose sum is the number of calls so far. */
const BURSTS = [100, 400, 500, 1_000, 1_000, 3_000, 4_000, 10_000, 20_000];
/** The bar counts the first 3,000 calls, beside the last burst. */
const FIRST = 3_000;

const rows: string[][] = [];
for (const root of [ROOT, ...positionals]) {
  const stage = await setStage({ sides: ['svc'], root });
  try {
    const [side] = stage.sides;
    if (side === undefined) throw new Error(`no server of ${root}`);
    await sleep(Number(values.idle) * 1_000);
    const micros: number[] = [];
    for (const requests of BURSTS) {
      const pids = processTree(side.pid);
      const before = fineCpuMicrosOf(pids);
      await streamLoad({ url: `${side.url}/${endpoint}/${functionName}`, connections, requests });
      micros.push((fineCpuMicrosOf(pids) - before) / requests);
    }
    let [calls, total] = [0, 0];
    for (const [index, burst] of BURSTS.entries()) {
      if (calls >= FIRST) break;
      calls += burst;
      total += burst * (micros[index] ?? Number.NaN);
    }
    const ratio = total / calls / (micros.at(-1) ?? Number.NaN);
    rows.push([root, ...micros.map((each) => number(each)), number(ratio)]);
  } finally {
    await stage.end();
  }
}
console.log(
  table([
    [
      'CPU µs per call after',
      ...BURSTS.map((_, index) => String(BURSTS.slice(0, index + 1).reduce((a, b) => a + b))),
      `first ${FIRST} / last`,
    ],
    ...rows,
  ]),
);
