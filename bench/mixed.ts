// Entry file: latency of small calls, alone and beside replies of 1 MB that have to be parsed: what the thread pool is for.
import { fixedRateLoad, post, type LoadResult } from './load.ts';
import { number, table, writeResults } from './report.ts';
import { setStage } from './sides.ts';

const SMALL_PER_SECOND = 300;
const LARGE_PER_SECOND = 4;
const SECONDS = 10;
/** The bar: p99 of the small calls may rise by so much. */
const LIMIT_MS = 5;

const stage = await setStage({ sides: ['svc'] });
try {
  const [side] = stage.sides;
  if (side === undefined) throw new Error('svc did not start');
  const small = `${side.url}/call/Small`;
  await fixedRateLoad(small, SMALL_PER_SECOND, 3);
  await post(`${side.url}/call/Megabyte`);
  const alone = await fixedRateLoad(small, SMALL_PER_SECOND, SECONDS);
  const beside = await besideLargeCalls(`${side.url}/call/Megabyte`, () =>
    fixedRateLoad(small, SMALL_PER_SECOND, SECONDS),
  );
  print(alone, beside);
} finally {
  await stage.end();
}

/** Runs `measure` while large calls start at a fixed rate; fails when one of them fails. */
async function besideLargeCalls(url: string, measure: () => Promise<LoadResult>): Promise<LoadResult> {
  const calls: Promise<string>[] = [];
  const timer = setInterval(() => calls.push(post(url)), 1000 / LARGE_PER_SECOND);
  try {
    return await measure();
  } finally {
    clearInterval(timer);
    await Promise.all(calls);
  }
}

function print(alone: LoadResult, beside: LoadResult): void {
  const head = [`/call 150 bytes at ${SMALL_PER_SECOND}/s`, 'p50 ms', 'p99 ms'];
  console.log(table([head, row('alone', alone), row(`beside ${LARGE_PER_SECOND} replies of 1 MB a second`, beside)]));
  const holds = beside.p99 - alone.p99 <= LIMIT_MS;
  console.log(`\np99 rises by at most ${LIMIT_MS} ms: ${holds ? 'yes' : 'NO'}`);
  console.log(writeResults({ alone, beside, holds }, 'mixed'));
}

function row(title: string, result: LoadResult): readonly string[] {
  return [title, number(result.p50), number(result.p99)];
}
