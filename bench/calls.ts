// Entry file: the CPU time that kept calls add to a small call, and the time of searches in a large database of calls. On versions of Node
// without SQLite, `NODE_PATH` has to name a folder with better-sqlite3: `npm ci --prefix test/calls`.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { callRow } from '../src/calls/call-rows.ts';
import { openCalls } from '../src/calls/open-calls.ts';
import type { CallFilter } from '../src/schema/kept-call.ts';
import { BODY, cpuMicrosOfLoad, median } from './load.ts';
import { number, table } from './report.ts';
import { setStage, type Stage } from './sides.ts';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '24' }, rows: { type: 'string', default: '10000000' } },
});
const rounds = Number(values.rounds);
const rowCount = Number(values.rows);

const TURNS_OF_WARM_UP = 25;
const LOAD = { connections: 32, requests: 1600, body: BODY };

/** Rows of one transaction. */
const AT_ONCE = 10_000;
const FUNCTIONS = 20;
const SEARCHES = 5;

const folder = mkdtempSync(join(tmpdir(), 'svc-bench-calls-'));
try {
  if (rounds > 0) await measureCosts();
  if (rowCount > 0) await measureSearches();
} finally {
  rmSync(folder, { recursive: true });
}

/** Each setting has a server of its own, and all take turns. */
async function measureCosts(): Promise<void> {
  const settings = ['off', 'none', 'values', 'all'];
  const stages: Stage[] = [];
  try {
    for (const content of settings) {
      const calls = content === 'off' ? 'off' : `sqlite:${join(folder, `${content}.db`)}`;
      const env = { SVC_CALLS: calls, ...(content !== 'off' && { SVC_CALLS_CONTENT: content }) };
      stages.push(await setStage({ sides: ['svc'], env }));
    }
    const sides = stages.flatMap((stage) => stage.sides);
    const micros = sides.map((): number[] => []);
    for (let round = -TURNS_OF_WARM_UP; round < rounds; round += 1) {
      const order = [...sides.entries()];
      for (const [index, { pid, url }] of round % 2 === 0 ? order : order.toReversed()) {
        const spent = await cpuMicrosOfLoad(pid, { ...LOAD, url: `${url}/call/Small` });
        if (round >= 0) micros[index]?.push(spent);
      }
    }
    for (const { url } of sides.slice(1)) console.error(await keptMetric(url));
    const rows = micros.map((own, index) => {
      const ratios = own.map((value, round) => value / (micros[0]?.[round] ?? Number.NaN));
      return [settings[index] ?? '', number(median(own)), number(median(ratios))];
    });
    console.log(table([['--calls-content', 'CPU µs per call', 'beside off'], ...rows]));
  } finally {
    for (const stage of stages) await stage.end();
  }
}

/** Proves that the calls were kept. */
async function keptMetric(url: string): Promise<string> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return text
    .split('\n')
    .filter((line) => line.startsWith('svc_kept_calls_total'))
    .join(', ');
}

/** Rows like those of a small call of one of 20 functions, one in a thousand failed, 10 ms apart. */
async function measureSearches(): Promise<void> {
  const path = join(folder, 'large.db');
  const address = { kind: 'sqlite', path } as const;
  const writer = await openCalls(address, { readOnly: false });
  const begin = Date.UTC(2026, 0, 1);
  const content = JSON.stringify({
    args: JSON.parse(BODY) as object,
    value: { name: 'Ada Lovelace' },
    reply: '{"name": "Ada Lovelace"}',
  });
  const startedAt = performance.now();
  for (let first = 0; first < rowCount; first += AT_ONCE) {
    const rows = Array.from({ length: Math.min(AT_ONCE, rowCount - first) }, (_, index) =>
      rowOf(first + index, begin, content),
    );
    await writer.keep(rows);
  }
  const wroteMs = performance.now() - startedAt;
  await writer.close();
  const calls = await openCalls(address, { readOnly: true });
  const end = begin + rowCount * 10;
  const filters: ReadonlyArray<readonly [string, CallFilter]> = [
    ['the newest', {}],
    ['a function', { functionName: 'Fn7' }],
    ['a function that has no call', { functionName: 'None' }],
    ['any error', { error: 'any' }],
    ['an error of a function', { functionName: 'Fn7', error: 'client_error' }],
    ['an hour in the middle', { since: (begin + end) / 2, until: (begin + end) / 2 + 3_600_000 }],
    ['a function at the oldest end', { functionName: 'Fn7', until: begin + 60_000 }],
    ['an id', { requestId: 'request-1000' }],
    ['slow ones (no index)', { slowMs: 99_999 }],
    ['a text (no index)', { text: 'no call has this' }],
  ];
  const rows = [];
  for (const [title, filter] of filters) {
    const times: number[] = [];
    let found = '';
    for (let search = 0; search < SEARCHES; search += 1) {
      const searchedAt = performance.now();
      const page = await calls.page(filter, { limit: 50 });
      times.push(performance.now() - searchedAt);
      found = `${page.calls.length}${page.next === null ? ', the whole of it searched' : ''}`;
    }
    rows.push([title, number(times[0] ?? Number.NaN), number(median(times)), found]);
  }
  await calls.close();
  const gib = (statSync(path).size / 2 ** 30).toFixed(2);
  console.log(`\n${rowCount} calls in ${gib} GiB, written at ${Math.round(rowCount / (wroteMs / 1000))} a second`);
  console.log(table([['search', 'first, ms', 'median, ms', 'calls of 50'], ...rows]));
}

function rowOf(index: number, begin: number, content: string): ReturnType<typeof callRow> {
  const failed = index % 1000 === 0;
  return callRow(
    {
      requestId: `request-${index}`,
      at: begin + index * 10,
      functionName: `Fn${index % FUNCTIONS}`,
      route: 'call',
      program: 'p',
      key: null,
      status: failed ? 502 : 200,
      error: failed ? 'client_error' : null,
      lossy: false,
      cache: null,
      client: 'Fast',
      model: 'small',
      attempts: 1,
      ms: 100 + (index % 900),
      modelMs: 90,
      firstTextMs: null,
      inputTokens: 50,
      outputTokens: 20,
      cost: 0.0001,
    },
    { tags: null, content },
  );
}
