// Entry file: the latency of calls at a fixed rate in each second after a reload, which replaces all workers of a server one by one.
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { answer } from './answers.ts';
import { openLoop } from './latency/open-loop.ts';
import { BODY, quantile } from './load.ts';
import { number, table } from './report.ts';
import { setStage, SETTLE_MS } from './sides.ts';

const { values } = parseArgs({
  options: { rate: { type: 'string', default: '500' }, reloads: { type: 'string', default: '5' } },
});
const perSecond = Number(values.rate);
const reloads = Number(values.reloads);

/** From one reload to the next, and from the first call to the first reload. */
const EVERY_SECONDS = 10;
/** Of the first calls, which do not count: the server divides its callers among the workers. */
const LEAD_SECONDS = 4;
/** The load begins within this time, so that a reload falls into the first second after it. */
const BEGIN_MS = 500;

const right = answer('Small').value;
const stage = await setStage({ sides: ['svc'] });
try {
  const [side] = stage.sides;
  if (side === undefined) throw new Error('the server has not started');
  await sleep(SETTLE_MS);
  const load = openLoop({
    url: `${side.url}/call/Small`,
    body: BODY,
    perSecond,
    seconds: EVERY_SECONDS * (reloads + 1),
    connections: 64,
    modelMs: (text) => (isDeepStrictEqual(JSON.parse(text), right) ? 0 : undefined),
  });
  await sleep(BEGIN_MS);
  for (let reload = 0; reload < reloads; reload += 1) {
    await sleep(EVERY_SECONDS * 1_000);
    process.kill(side.pid, 'SIGHUP');
  }
  const { added, failed, firstFailure } = await load;
  const row = (title: string, counts: (second: number) => boolean): readonly string[] => {
    const times = added.filter((_, index) => counts(index / perSecond));
    return [title, ...[0.5, 0.99, 0.999].map((share) => number(quantile(times, share)))];
  };
  const rows = Array.from({ length: EVERY_SECONDS }, (_, after) =>
    row(`second ${after + 1} after a reload`, (second) => {
      return second >= EVERY_SECONDS && Math.floor(second) % EVERY_SECONDS === after;
    }),
  );
  const before = row('before the first one', (second) => second >= LEAD_SECONDS && second < EVERY_SECONDS);
  console.log(table([[`${perSecond} calls per second`, 'p50 ms', 'p99 ms', 'p99.9 ms'], before, ...rows]));
  console.log(`${failed} of ${added.length} calls failed${failed > 0 ? `: ${firstFailure}` : ''}`);
  if (failed > 0) process.exitCode = 1;
} finally {
  await stage.end();
}
