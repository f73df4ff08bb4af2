// Entry file: how long a reply blocks its worker, parsed inline and on a thread. The result determines the size from
// which a thread pays off (`PARSE_ELSEWHERE_ABOVE`).
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cancellation } from '../src/base/cancellation.ts';
import { writeProgram } from '../src/runtime/call/load-program.ts';
import type { Program } from '../src/schema/program.ts';
import { ParsePool } from '../src/server/parse-pool.ts';
import { compileText, parserOfFunction } from './compile-text.ts';
import { median } from './load.ts';
import { makeTeam, PARSE_DEFINITIONS, spell } from './parse-inputs.ts';
import { number, table, writeResults } from './report.ts';

const SIZES = [25_000, 50_000, 100_000, 150_000, 250_000, 500_000, 1_000_000];
const SPELLINGS = ['fenced', 'broken'] as const;
/** Sizes of the clean value; the spellings above are about twice as long. */
const SPELLED = 0.57;
const RUNS = 40;

/** Milliseconds: the least of the runs, because other load can only add time, and the median. */
interface Times {
  readonly least: number;
  readonly median: number;
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  const program = compileText(PARSE_DEFINITIONS);
  const thread = new URL('../bin/parse-thread.js', import.meta.url);
  const pool = new ParsePool({
    thread,
    programPath: writeProgram(program, folder),
    onThreadError: console.error,
    onUnusable: console.error,
  });
  const rows = [];
  for (const bytes of SIZES) {
    for (const spelling of SPELLINGS) {
      const text = spell(makeTeam(bytes * SPELLED), spelling);
      rows.push({
        spelling,
        bytes: text.length,
        inline: inlineTimes(program, text),
        ...(await threadTimes(pool, text)),
      });
    }
  }
  await pool.close();
  rmSync(folder, { recursive: true });
  const head = ['reply', 'bytes', 'inline: worker blocked ms', 'thread: worker busy ms', 'thread: round trip ms'];
  const cells = rows.map((row) => [
    row.spelling,
    String(row.bytes),
    ...[row.inline, row.busy, row.roundTrip].map((times) => `${number(times.least)} (${number(times.median)})`),
  ]);
  console.log(`Least (median) of ${RUNS} runs\n${table([head, ...cells])}`);
  console.log(writeResults({ rows }, 'parse-threads'));
}

function inlineTimes(program: Program, text: string): Times {
  const parser = parserOfFunction(program, 'Extract');
  return timesOf(
    Array.from({ length: RUNS }, () => {
      const begin = performance.now();
      if (!parser.parse(text).ok) throw new Error('the reply was refused');
      return performance.now() - begin;
    }),
  );
}

async function threadTimes(
  pool: ParsePool,
  text: string,
): Promise<{ readonly busy: Times; readonly roundTrip: Times }> {
  const busy: number[] = [];
  const roundTrips: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const before = performance.eventLoopUtilization();
    const begin = performance.now();
    const reply = {
      functionName: 'Extract',
      text,
      wrapped: false,
      cancellation: new Cancellation(),
      deadlineAt: begin + 60_000,
    };
    if (!(await pool.parse(reply)).ok) throw new Error('the reply was refused');
    roundTrips.push(performance.now() - begin);
    busy.push(performance.eventLoopUtilization(before).active);
  }
  return { busy: timesOf(busy), roundTrip: timesOf(roundTrips) };
}

function timesOf(times: readonly number[]): Times {
  return { least: Math.min(...times), median: median(times) };
}

await main();
