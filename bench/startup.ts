// Entry file: the time from the command to the first answered call, with 1, 100 and 1,000 definition files; the CPU time of the
// start of each process (including the first call, for the process that answered it), and its memory then; and the time from a fork until
// the worker is loaded, as svc logs it.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { end, freePort, start, untilReady } from './child-process.ts';
import { median, post } from './load.ts';
import { cpuMicrosOf, memoryOf, processTree } from './process-usage.ts';
import { number, table, writeResults } from './report.ts';
import { commandOf, missingSide, setStage, SETTLE_MS, type SideName } from './sides.ts';

const FILE_COUNTS = [1, 100, 1000];
const ROUNDS = 5;
/** The bars in milliseconds, by the number of files. */
const LIMITS_MS: ReadonlyMap<number, number> = new Map([
  [1, 150],
  [100, 250],
  [1000, 3000],
]);
/** Number of definition files of the server whose workers are replaced. */
const WORKER_FILES = 100;
const GIVE_UP_MS = 20_000;
/** Pause until the spare worker is loaded as well, which begins one second after the start. */
const LOADED_MS = 4000;
/** The bar for a worker's start, from the fork until it could listen. */
const WORKER_LIMIT_MS = 300;
const WORKER_STARTS = 20;
/** Until the replacement has warmed up, which takes 4 s of CPU time. */
const BETWEEN_DEATHS_MS = 5000;

interface StartupResult {
  readonly side: SideName;
  readonly files: number;
  readonly medianMs: number;
  readonly samplesMs: readonly number[];
  /** The processes of the last round: for svc, the primary, its workers, then the spare worker. */
  readonly processes: readonly ProcessStart[];
}

interface ProcessStart {
  readonly cpuMs: number;
  readonly rssMib: number;
}

// Node 20 parses the certificates of this file in each process that it starts, for 15 to 40 ms of CPU time. No process of this benchmark uses it.
delete process.env['NODE_EXTRA_CA_CERTS'];

const results: StartupResult[] = [];
for (const files of FILE_COUNTS) {
  for (const side of ['svc', 'baml'] as const) {
    if (missingSide(side) === undefined) results.push(await measureStartup(side, files));
  }
}
const rows = results.map(({ side, files, medianMs, samplesMs: [firstMs = Number.NaN], processes }) => [
  side,
  String(files),
  number(firstMs),
  number(medianMs),
  processes.map(({ cpuMs }) => number(cpuMs)).join(' '),
  processes.map(({ rssMib }) => number(rssMib)).join(' '),
]);
const head = [
  'side',
  'definition files',
  'first answered call, ms: first start',
  'median',
  'CPU of each process, ms',
  'RSS of each process, MiB',
];
console.log(table([head, ...rows]));
const limited = results.filter(({ side, files }) => side === 'svc' && LIMITS_MS.has(files));
const holds = limited.every(({ files, medianMs }) => medianMs < (LIMITS_MS.get(files) ?? 0));
const startsMs = (await measureWorkerStarts()).toSorted((a, b) => a - b);
const slowest = startsMs.at(-1) ?? Number.NaN;
const workersHold = startsMs.length === WORKER_STARTS && slowest < WORKER_LIMIT_MS;
for (const { files, medianMs } of limited) {
  const limit = LIMITS_MS.get(files) ?? 0;
  console.log(`under ${limit} ms with ${files} files: ${medianMs < limit ? 'yes' : 'NO'}`);
}
console.log(
  `${startsMs.length} workers loaded one by one in ${startsMs[0]} to ${slowest} ms, the median in ${median(startsMs)}; ` +
    `each under ${WORKER_LIMIT_MS} ms: ${workersHold ? 'yes' : 'NO'}`,
);
console.log(writeResults({ results, startsMs, holds, workersHold }, 'startup'));

async function measureStartup(side: SideName, files: number): Promise<StartupResult> {
  const stage = await setStage({ sides: [], definitionFiles: files });
  const samplesMs: number[] = [];
  let processes: readonly ProcessStart[] = [];
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      const port = await freePort();
      const begin = performance.now();
      const child = start(commandOf(side, String(port), { ...stage, env: {} }));
      try {
        await firstAnswer(`http://127.0.0.1:${port}/call/Small`, begin + GIVE_UP_MS);
        samplesMs.push(performance.now() - begin);
        if (round === ROUNDS - 1) processes = await processStarts(child.pid ?? 0);
      } finally {
        await end(child);
      }
    }
  } finally {
    await stage.end();
  }
  return { side, files, medianMs: median(samplesMs), samplesMs, processes };
}

/** Kills a worker repeatedly; the newest process is the replacement of the last one that died. Returns the milliseconds of each start. */
async function measureWorkerStarts(): Promise<readonly number[]> {
  const stage = await setStage({ sides: [], definitionFiles: WORKER_FILES });
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const log = join(folder, 'log');
  try {
    const port = await freePort();
    const { program, args } = commandOf('svc', String(port), { ...stage, env: {} });
    const shell = ['-c', `exec "$@" >"${log}" 2>&1`, 'sh', program, ...args];
    const child = start({ program: 'sh', args: shell, env: { SVC_TRANSPORT: 'uws', SVC_LOG_LEVEL: 'debug' } });
    try {
      await untilReady(child, `http://127.0.0.1:${port}/_debug/ping`);
      await sleep(SETTLE_MS);
      for (let starts = 0; starts < WORKER_STARTS; starts += 1) {
        const [, oldest] = processTree(child.pid ?? 0);
        if (oldest !== undefined) process.kill(oldest, 'SIGKILL');
        await sleep(BETWEEN_DEATHS_MS);
      }
    } finally {
      await end(child);
    }
    const starts = [...readFileSync(log, 'utf8').matchAll(/"startMs":(\d+)/gu)].map(([, ms]) => Number(ms));
    return starts.slice(-WORKER_STARTS);
  } finally {
    rmSync(folder, { recursive: true });
    await stage.end();
  }
}

async function processStarts(root: number): Promise<readonly ProcessStart[]> {
  await sleep(LOADED_MS);
  return processTree(root).map((pid) => {
    const children = processTree(pid).slice(1);
    const cpuMicros = cpuMicrosOf(pid) - children.reduce((sum, child) => sum + cpuMicrosOf(child), 0);
    return { cpuMs: cpuMicros / 1000, rssMib: memoryOf(pid).rssBytes / 2 ** 20 };
  });
}

/** Repeats the call until it is answered, with pauses too short to affect the figure. */
async function firstAnswer(url: string, deadline: number): Promise<void> {
  for (;;) {
    try {
      await post(url);
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }
}
