import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { InternalError } from '../../../src/base/invariant.ts';
import { ok } from '../../../src/base/result.ts';
import { type AnswerFormat, AnswersFile } from '../../../src/dev/batch/answers-file.ts';
import { type RowCaller, BatchRun } from '../../../src/dev/batch/run-batch.ts';
import type { InputRows } from '../../../src/dev/batch/input-rows.ts';
import { assertAsyncProperty } from '../../support/assert-property.ts';
import { FORMATS, textAnswer } from './answers.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-batch-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Texts that are hard to write in CSV and JSON. */
const TEXTS = ['plain', 'a,b', '"quoted"', 'two\nlines\r\n', '', 'ünï ✓', '\u2028', ',,"\n"'];

function textOf(row: number): string {
  return `${row} ${TEXTS[row % TEXTS.length] ?? ''}`;
}

function inputOf(rows: number): InputRows {
  return async function* () {
    for (let row = 1; row <= rows; row += 1) yield { row, read: () => ({ args: ok({ row }), extra: {} }) };
  };
}

interface RunOptions {
  readonly path: string;
  readonly format: AnswerFormat;
  readonly rows: number;
  /** The run ends as if it were killed when this row is asked. */
  readonly killAt?: number;
  readonly fails?: (row: number) => boolean;
  readonly retryFailed?: boolean;
}

/** Runs a batch in which later rows can overtake earlier ones. Returns the rows that it asked, in order. */
async function runBatch({ path, format, rows, killAt, fails, retryFailed }: RunOptions): Promise<readonly number[]> {
  const opened = await AnswersFile.open(path, format, { lastRow: rows, dropFailures: retryFailed ?? false });
  if (!opened.ok) throw new InternalError(opened.failure);
  const answers = opened.value;
  const asked: number[] = [];
  const caller: RowCaller = {
    call: async (row) => {
      asked.push(row);
      for (let turn = 0; turn < (row * 7) % 5; turn += 1) await Promise.resolve();
      if (row === killAt) return { stop: 'killed' };
      if (fails?.(row) === true) return { failure: { code: 'timeout', message: 'late, "or" so\n' } };
      return textAnswer(textOf(row));
    },
    interrupt: () => {},
    close: () => Promise.resolve(),
  };
  const plan = { input: inputOf(rows), answers, caller, concurrency: 3, limit: Infinity, onAnswer: () => {} };
  const ended = await new BatchRun(plan).run();
  answers.close();
  if (ended.ok) await answers.sortByRow();
  return asked;
}

test.each(FORMATS)('after kills at any byte, %s has each row once and in order', async (name, format, read) => {
  const kill = fc.record({ killAt: fc.integer({ min: 1, max: 30 }), kept: fc.nat(80) });
  await assertAsyncProperty(
    fc.asyncProperty(fc.array(kill, { maxLength: 4 }), async (kills) => {
      const path = join(folder, name);
      rmSync(path, { force: true });
      let torn = '';
      for (const { killAt, kept } of kills) {
        const before = new Set(read(path).map(({ row }) => row));
        writeFileSync(path, torn, { flag: 'a' });
        const asked = await runBatch({ path, format, rows: 30, killAt });
        expect(asked.filter((row) => before.has(row))).toEqual([]);
        // The kill can also cut off the record that was being written.
        torn = format
          .record(killAt, textAnswer(textOf(killAt)))
          .slice(0, -1)
          .slice(0, kept);
      }
      if (kills.length > 0) writeFileSync(path, torn, { flag: 'a' });
      await runBatch({ path, format, rows: 30 });
      const rows = Array.from({ length: 30 }, (_, index) => index + 1);
      expect(read(path)).toEqual(rows.map((row) => ({ row, text: textOf(row) })));
    }),
    { numRuns: 60 },
  );
});

function isOdd(row: number): boolean {
  return row % 2 === 1;
}

test.each(FORMATS)('failed rows of %s are asked again only with --retry-failed', async (name, format, read) => {
  const path = join(folder, name);
  await runBatch({ path, format, rows: 6, fails: isOdd });
  expect(read(path).map(({ text }) => text === undefined)).toEqual([true, false, true, false, true, false]);
  expect(await runBatch({ path, format, rows: 6 })).toEqual([]);
  expect(await runBatch({ path, format, rows: 6, retryFailed: true })).toEqual([1, 3, 5]);
  expect(read(path)).toEqual([1, 2, 3, 4, 5, 6].map((row) => ({ row, text: textOf(row) })));
});

test.each(FORMATS)('content of %s that is not an answer is refused and stays', async (name, format) => {
  const path = join(folder, name);
  for (const content of ['something else\n', `${format.record(1, textAnswer('a'))}{"row":\n`, 'x']) {
    writeFileSync(path, `${format.header}${content}`);
    const opened = await AnswersFile.open(path, format, { lastRow: 9, dropFailures: false });
    expect(opened.ok).toBe(content === 'x');
  }
  for (let cut = 0; cut < format.header.length; cut += 1) {
    writeFileSync(path, format.header.slice(0, cut));
    expect((await AnswersFile.open(path, format, { lastRow: 9, dropFailures: false })).ok).toBe(true);
    expect(readFileSync(path, 'utf8')).toBe(format.header);
  }
  writeFileSync(path, `${format.header}${format.record(10, textAnswer('a'))}`);
  expect(await AnswersFile.open(path, format, { lastRow: 9, dropFailures: false })).toEqual({
    ok: false,
    failure: expect.stringContaining('is not an answer to the input') as string,
  });
  expect(readFileSync(path, 'utf8')).toContain('a');
});
