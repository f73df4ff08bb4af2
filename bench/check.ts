// Entry file: the time of `svc check` for 100 definition files, as a process, from the command to its exit.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { definitionFile } from './definition-file.ts';
import { median } from './load.ts';
import { number, table, writeResults } from './report.ts';

const FILES = 100;
const ROUNDS = 11;
/** The bar for 100 files. */
const LIMIT_MS = 500;
/** Milliseconds in one tick of /proc/self/stat. */
const TICK_MS = 10;
const PROGRAM = fileURLToPath(new URL('../bin/svc.js', import.meta.url));

interface Run {
  readonly wallMs: number;
  readonly cpuMs: number;
}

const directory = mkdtempSync(join(tmpdir(), 'svc-check-'));
try {
  const full = measure(FILES);
  const single = measure(1);
  const nothing = measureCommand(['-e', '0'], '');
  const rows = [
    [`svc check, ${String(FILES)} files`, full],
    ['svc check, 1 file', single],
    ['node, nothing', nothing],
  ] as const;
  console.log(
    table([
      ['command', 'wall, ms', 'CPU, ms'],
      ...rows.map(([name, { wallMs, cpuMs }]) => [name, number(wallMs), number(cpuMs)]),
    ]),
  );
  const holds = full.wallMs < LIMIT_MS;
  console.log(`\nunder ${String(LIMIT_MS)} ms with ${String(FILES)} files: ${holds ? 'yes' : 'NO'}`);
  console.log(writeResults({ full, single, nothing, holds }, 'check'));
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/** Median over the rounds; throws if the report is not the expected one. */
function measure(files: number): Run {
  const folder = join(directory, String(files));
  mkdirSync(folder);
  for (let index = 0; index < files; index += 1) {
    writeFileSync(join(folder, `part-${String(index)}.svc`), definitionFile(index));
  }
  const count = (noun: string): string => (files === 1 ? `1 ${noun}` : `${String(files)} ${noun}s`);
  const expected = `${['file', 'function', 'client'].map(count).join(', ')}: no problems\n`;
  return measureCommand([PROGRAM, 'check', '--no-dotenv', '--from', folder], expected);
}

function measureCommand(args: readonly string[], expected: string): Run {
  const runs = Array.from({ length: ROUNDS }, () => run(args, expected));
  return { wallMs: median(runs.map(({ wallMs }) => wallMs)), cpuMs: median(runs.map(({ cpuMs }) => cpuMs)) };
}

function run(args: readonly string[], expected: string): Run {
  const cpuBefore = cpuOfChildren();
  const begin = performance.now();
  const { stdout, status } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  const wallMs = performance.now() - begin;
  if (status !== 0 || stdout !== expected)
    throw new Error(`unexpected report (${String(status)}): ${stdout.slice(-200)}`);
  return { wallMs, cpuMs: cpuOfChildren() - cpuBefore };
}

/** User and system time of the children that have exited: fields 16 and 17 of proc_pid_stat(5), counted after the name. */
function cpuOfChildren(): number {
  const text = readFileSync('/proc/self/stat', 'latin1');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * TICK_MS;
}
