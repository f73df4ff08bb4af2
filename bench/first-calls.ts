// Entry file: the CPU time per call of a new server, by the number of calls so far, beside the peer and builds in other folders. Each
// server starts by itself, waits without traffic, and is then loaded.
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { addressOf, CASES } from './cases.ts';
import { cpuMicrosOfLoad } from './load.ts';
import { number, table } from './report.ts';
import { missingSide, ROOT, setStage } from './sides.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { idle: { type: 'string', default: '5' } },
});
const subject = CASES.find(({ name }) => name === 'call-small');
if (subject === undefined) throw new Error('the case call-small is gone');
const { connections } = subject;

/** The calls so far after each burst. */
const AFTER = [100, 500, 1_000, 2_000, 3_000, 6_000, 10_000, 20_000, 40_000];
/** The bar counts the first 3,000 calls, beside those of the last burst. */
const FIRST = 3_000;

const rows: string[][] = [];
const builds = [ROOT, ...positionals].map((root) => ({ title: root, sides: ['svc'] as const, root }));
const peer = missingSide('baml') === undefined ? [{ title: 'baml', sides: ['baml'] as const }] : [];
for (const { title, ...options } of [...builds, ...peer]) {
  const stage = await setStage(options);
  try {
    const [side] = stage.sides;
    if (side === undefined) throw new Error(`no server of ${title}`);
    await sleep(Number(values.idle) * 1_000);
    const micros: number[] = [];
    let first = 0;
    let made = 0;
    for (const calls of AFTER) {
      const requests = calls - made;
      const spent = await cpuMicrosOfLoad(side.pid, { url: addressOf(subject, side), connections, requests });
      micros.push(spent);
      made = calls;
      if (made <= FIRST) first += (spent * requests) / FIRST;
    }
    rows.push([title, ...[...micros, first, first / (micros.at(-1) ?? Number.NaN)].map((each) => number(each))]);
  } finally {
    await stage.end();
  }
}
console.log(table([['CPU µs per call after', ...AFTER.map(String), `first ${FIRST}`, 'beside the last'], ...rows]));
