import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { chatCompletion, status, type FakeProvider } from './fake-provider.ts';
import type { Answer, RecordedRequest } from './fake-wire.ts';
import { runSvc, SVC_MAIN, temporaryFolder } from './running-server.ts';

/** The number in the prompt `Row 17`. */
export function numberIn(request: RecordedRequest): number {
  return Number(/Row (\d+)/u.exec(request.body)?.[1]);
}

/** Answers with the number in the prompt. */
export const ECHO: Answer = (request, wire) => {
  const completion = chatCompletion(`{"number": ${numberIn(request)}, "note": "a, \\"b\\""}`);
  return status(200, completion)(request, wire);
};

function definitions(provider: FakeProvider): string {
  return `client<llm> Fake {
  provider openai-generic
  options {
    base_url "${provider.at('echo', ECHO)}"
    model m
  }
}
class Echo {
  number int
  note string
}
function Read(text: string, year: int?) -> Echo {
  client Fake
  prompt #"{{ text }} {{ year }}{{ ctx.output_format }}"#
}
`;
}

/** A folder with definitions for the provider, and rows with the texts `Row 1`, `Row 2` and so on. */
export function folderWithRows(provider: FakeProvider, rows: number): string {
  const lines = Array.from({ length: rows }, (_, index) => `{"text":"Row ${index + 1}"}\n`);
  return temporaryFolder({ 'svc_src/read.svc': definitions(provider), 'rows.jsonl': lines.join('') });
}

/** The command in that folder. */
export const BATCH = ['batch', 'Read', '--in', 'rows.jsonl', '--out', 'answers.jsonl', '--no-dotenv'];

interface Row {
  readonly row: number;
  readonly value?: { readonly number: number; readonly note: string };
  readonly error?: { readonly code: string };
}

/** The answers, in the order of the file. */
export function answersIn(folder: string): readonly Row[] {
  const lines = readFileSync(join(folder, 'answers.jsonl'), 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Row);
}

/** Each row has one answer, with its number. */
export function expectEachRowOnce(folder: string, rows: number): void {
  const expected = Array.from({ length: rows }, (_, index) => ({
    row: index + 1,
    value: { number: index + 1, note: 'a, "b"' },
  }));
  expect(answersIn(folder).map(({ row, value }) => ({ row, value }))).toEqual(expected);
}

/** Starts the command, and resolves when the file of answers has at least this many bytes. */
export async function startBatchUntil(
  folder: string,
  bytes: number,
  options: readonly string[] = [],
): Promise<ChildProcess> {
  const child = spawn(process.execPath, [SVC_MAIN, ...BATCH, ...options], { cwd: folder, env: {}, stdio: 'pipe' });
  const path = join(folder, 'answers.jsonl');
  await expect.poll(() => (existsSync(path) ? statSync(path).size : 0), { interval: 2 }).toBeGreaterThan(bytes);
  return child;
}

/** On a busy machine, a batch takes so long that it reports its progress. */
export const ONLY_PROGRESS: unknown = expect.stringMatching(/^(?:\d+ of \d+ rows .*\n)*$/u);

/** Kills a batch three times, and continues it: each row has one answer. Returns how many requests the provider got. */
export async function askedWithThreeKills(provider: FakeProvider, rows: number): Promise<number> {
  const folder = folderWithRows(provider, rows);
  // An answer has about 100 bytes.
  for (const bytes of [10 * rows, 30 * rows, 50 * rows]) {
    const child = await startBatchUntil(folder, bytes);
    child.kill('SIGKILL');
    expect((await once(child, 'close'))[1]).toBe('SIGKILL');
  }
  const ended = await runSvc(BATCH, {}, folder);
  expect(ended).toMatchObject({ code: 0, stderr: ONLY_PROGRESS });
  const summary = `^${rows} rows: ${rows} answered, 0 failed, in .* \\(\\d{3,} in earlier runs\\)\n$`;
  expect(ended.stdout).toMatch(new RegExp(summary, 'u'));
  expectEachRowOnce(folder, rows);
  const asked = provider.requests.map(numberIn);
  expect(new Set(asked).size).toBe(rows);
  expect(existsSync(join(folder, 'answers.jsonl.lock'))).toBe(false);
  return asked.length;
}
