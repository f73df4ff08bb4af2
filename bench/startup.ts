// Entry file: the time from the command to the first answered call, with 1 and with 100 definition files.
import { end, freePort, start } from './child-process.ts';
import { median, post } from './load.ts';
import { number, table, writeResults } from './report.ts';
import { commandOf, missingSide, setStage, type SideName } from './sides.ts';

const FILE_COUNTS = [1, 100];
const ROUNDS = 5;
/** The bar for 100 files. */
const LIMIT_MS = 1000;
const GIVE_UP_MS = 20_000;

interface StartupResult {
  readonly side: SideName;
  readonly files: number;
  readonly medianMs: number;
  readonly samplesMs: readonly number[];
}

const results: StartupResult[] = [];
for (const files of FILE_COUNTS) {
  for (const side of ['svc', 'baml'] as const) {
    if (missingSide(side) === undefined) results.push(await measureStartup(side, files));
  }
}
const rows = results.map(({ side, files, medianMs }) => [side, String(files), number(medianMs)]);
console.log(table([['side', 'definition files', 'first answered call, ms'], ...rows]));
const full = results.find(({ side, files }) => side === 'svc' && files === 100);
const holds = full !== undefined && full.medianMs < LIMIT_MS;
console.log(`\nunder ${LIMIT_MS} ms with 100 files: ${holds ? 'yes' : 'NO'}`);
console.log(writeResults({ results, holds }, 'startup'));

async function measureStartup(side: SideName, files: number): Promise<StartupResult> {
  const stage = await setStage({ sides: [], definitionFiles: files });
  const samplesMs: number[] = [];
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      const port = await freePort();
      const begin = performance.now();
      const child = start(commandOf(side, String(port), { ...stage, env: {} }));
      try {
        await firstAnswer(`http://127.0.0.1:${port}/call/Small`, begin + GIVE_UP_MS);
        samplesMs.push(performance.now() - begin);
      } finally {
        await end(child);
      }
    }
  } finally {
    await stage.end();
  }
  return { side, files, medianMs: median(samplesMs), samplesMs };
}

/** Calls again and again, without a pause that would be part of the figure, until one call is answered. */
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
