// Entry file: latency of small calls, alone and beside replies of 1 MB, which svc parses on threads, or inline for comparison.
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { Worker } from 'node:worker_threads';
import { answer } from './answers.ts';
import type { LargeCalls } from './large-calls.ts';
import { median, post, type LoadResult } from './load.ts';
import { openLoop } from './open-loop.ts';
import { number, table, writeResults } from './report.ts';
import { setStage, type Stage } from './sides.ts';

const SMALL_PER_SECOND = 200;
const LARGE_PER_SECOND = 4;
const SECONDS = 6;
/** Each round does all four measurements, one after the other, so that other load on the machine affects all of them. */
const ROUNDS = 7;
const WARM_UP_SECONDS = 3;
/** The bar: the most that p99 of the small calls rises. */
const LIMIT_MS = 5;

const INLINE = pathToFileURL(new URL('inline-parsing.js', import.meta.url).pathname).href;
const WAYS = { pool: {}, inline: { NODE_OPTIONS: `--import ${INLINE}` } } as const;
type Way = keyof typeof WAYS;
const NAMES: readonly Way[] = ['pool', 'inline'];

interface Round {
  readonly alone: LoadResult;
  readonly beside: LoadResult;
}

async function main(): Promise<void> {
  const stages = new Map<Way, Stage>();
  try {
    for (const way of NAMES) stages.set(way, await setStage({ sides: ['svc'], env: WAYS[way] }));
    const urls = new Map([...stages].map(([way, stage]) => [way, stage.sides[0]?.url ?? '']));
    for (const url of urls.values()) await prepare(url);
    const rounds: Record<Way, Round[]> = { pool: [], inline: [] };
    for (let index = 0; index < ROUNDS; index += 1) {
      const order = index % 2 === 0 ? NAMES : NAMES.toReversed();
      for (const way of order) rounds[way].push(await measure(urls.get(way) ?? ''));
    }
    report(rounds);
  } finally {
    await Promise.all([...stages.values()].map((stage) => stage.end()));
  }
}

/** Checks the answer before any measurement, and parses it until the engine has compiled the parser. */
async function prepare(url: string): Promise<void> {
  const value: unknown = JSON.parse(await post(`${url}/call/Megabyte`));
  if (!isDeepStrictEqual(value, answer('Megabyte').value)) throw new Error('the large reply has a wrong value');
  await besideLargeCalls(url, WARM_UP_SECONDS);
}

async function measure(url: string): Promise<Round> {
  const alone = await smallCalls(url, SECONDS);
  const beside = await besideLargeCalls(url, SECONDS);
  return { alone, beside };
}

function smallCalls(url: string, seconds: number): Promise<LoadResult> {
  return openLoop({ url: `${url}/call/Small`, perSecond: SMALL_PER_SECOND, seconds });
}

/** Small calls while large ones start at a fixed rate; throws if a call fails. */
async function besideLargeCalls(url: string, seconds: number): Promise<LoadResult> {
  const workerData: LargeCalls = { url: `${url}/call/Megabyte`, perSecond: LARGE_PER_SECOND, seconds };
  const large = new Worker(new URL('large-calls.js', import.meta.url), { workerData });
  const [result] = await Promise.all([smallCalls(url, seconds), once(large, 'exit')]);
  return result;
}

function report(rounds: Readonly<Record<Way, readonly Round[]>>): void {
  const head = [
    `/call 150 bytes at ${SMALL_PER_SECOND}/s`,
    'p50 alone',
    'p50 beside',
    'p99 alone',
    'p99 beside',
    'p99 rise',
    'least and most',
  ];
  console.log(`Milliseconds, medians of ${ROUNDS} rounds; beside: ${LARGE_PER_SECOND} replies of 1 MB a second`);
  console.log(table([head, ...NAMES.map((way) => line(way, rounds[way]))]));
  const rise = median(rises(rounds.pool));
  const holds = rise <= LIMIT_MS;
  console.log(`\non threads, p99 rises by at most ${LIMIT_MS} ms: ${number(rise)} ${holds ? 'yes' : 'NO'}`);
  console.log(writeResults({ rounds, rise, holds }, 'mixed'));
}

function line(way: Way, rounds: readonly Round[]): readonly string[] {
  const middle = (pick: (round: Round) => number): string => number(median(rounds.map(pick)));
  const all = rises(rounds);
  return [
    way,
    middle(({ alone }) => alone.p50),
    middle(({ beside }) => beside.p50),
    middle(({ alone }) => alone.p99),
    middle(({ beside }) => beside.p99),
    number(median(all)),
    `${number(Math.min(...all))} to ${number(Math.max(...all))}`,
  ];
}

/** The difference within each round, because its measurements are close in time. */
function rises(rounds: readonly Round[]): readonly number[] {
  return rounds.map(({ alone, beside }) => beside.p99 - alone.p99);
}

await main();
