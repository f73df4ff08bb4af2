import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { claimAnswers, lockAnswers, statePath, type ClaimOptions } from '../../../src/dev/batch/answers-file.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-state-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const QUESTIONS = { function: 'F', definitions: 'd', input: 'i', copy: '[]' };

function claim(questions = QUESTIONS, options: Partial<ClaimOptions> = {}): ReturnType<typeof claimAnswers> {
  const all = { inputPath: 'in.jsonl', acceptChanges: false, retryFailed: false, ...options };
  return claimAnswers(join(folder, 'out.jsonl'), questions, all);
}

/** Begins a batch that has an answer. */
function begun(): ReturnType<typeof claimAnswers> {
  const first = claim();
  writeFileSync(join(folder, 'out.jsonl'), '{"row":1,"value":1}\n');
  return first;
}

test('the same questions continue with the same run', () => {
  const first = begun();
  expect(claim()).toEqual(first);
});

test('failed rows get another round', () => {
  begun();
  expect(claim(QUESTIONS, { retryFailed: true })).toMatchObject({ ok: true, value: { round: 1 } });
  expect(claim()).toMatchObject({ ok: true, value: { round: 1 } });
});

test('answers to other questions are not continued', () => {
  begun();
  expect(claim({ ...QUESTIONS, function: 'G' })).toMatchObject({ failure: expect.stringContaining('"F", not of "G"') });
  expect(claim({ ...QUESTIONS, input: 'j' })).toMatchObject({
    failure: expect.stringContaining('"in.jsonl" has changed'),
  });
  expect(claim({ ...QUESTIONS, definitions: 'e' })).toMatchObject({
    failure: expect.stringContaining('the definitions have changed'),
  });
  expect(claim({ ...QUESTIONS, copy: '["id"]' })).toMatchObject({
    failure: expect.stringContaining('the columns of --copy have changed'),
  });
});

test('changes that the user accepts belong to the batch from then on', () => {
  const first = begun();
  const changed = { ...QUESTIONS, input: 'j', definitions: 'e' };
  const accepted = claim(changed, { acceptChanges: true });
  expect(accepted).toEqual(claim(changed));
  expect(accepted).toMatchObject({ value: { run: first.ok ? first.value.run : '', round: 1 } });
});

test('a file of answers that was deleted begins a new run', () => {
  const first = begun();
  rmSync(join(folder, 'out.jsonl'));
  expect(claim()).not.toEqual(first);
});

test('answers without a readable state are not continued', () => {
  begun();
  writeFileSync(statePath(join(folder, 'out.jsonl')), '{');
  expect(claim()).toMatchObject({ ok: false, failure: expect.stringContaining('cannot continue it') });
});

test('one process at a time writes to a file, and a killed one does not count', () => {
  const path = join(folder, 'out.jsonl');
  writeFileSync(`${path}.lock`, String(process.ppid));
  expect(lockAnswers(path)).toMatchObject({ failure: expect.stringContaining(`process ${process.ppid} writes to`) });
  for (const owner of ['2147483646', 'nonsense', String(process.pid)]) {
    writeFileSync(`${path}.lock`, owner);
    const lock = lockAnswers(path);
    if (lock.ok) lock.value();
    expect(readdirSync(folder)).toEqual([]);
  }
});
