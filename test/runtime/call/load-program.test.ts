import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { loadProgram, writeProgram } from '../../../src/runtime/call/load-program.ts';
import { classRef, classType, field, functionType, programOf, string } from '../../support/definitions.ts';

const program = programOf({
  classes: [classType('Resume', [field('name', string)])],
  functions: [functionType('Extract', { text: string }, classRef('Resume'))],
});

function directory(): string {
  return mkdtempSync(join(tmpdir(), 'svc-program-'));
}

test('a loaded program equals the written one, and is frozen', () => {
  const loaded = loadProgram(writeProgram(program, directory()));
  expect(loaded).toEqual({ ok: true, value: program });
  expect(loaded.ok && Object.isFrozen(loaded.value.classes[0]?.fields[0]?.type)).toBe(true);
});

test('the file is named after the hash, only its owner can read it, and the folder contains nothing else', () => {
  const place = directory();
  const path = writeProgram(program, place);
  expect(basename(path)).toBe(`${program.hash}.json`);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(writeProgram(program, place)).toBe(path);
  expect(readdirSync(place)).toEqual([basename(path)]);
});

test('a changed or truncated program is refused', () => {
  const path = writeProgram(program, directory());
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replace('Extract', 'Extract2'));
  expect(loadProgram(path)).toMatchObject({ ok: false, failure: expect.stringContaining('does not match its hash') });
  writeFileSync(path, text.slice(0, -10));
  expect(loadProgram(path)).toMatchObject({ ok: false, failure: expect.stringContaining(`"${path}"`) });
});

test('a program of another format is refused', () => {
  const path = writeProgram(program, directory());
  writeFileSync(path, JSON.stringify({ ...program, format: 1 }));
  expect(loadProgram(path)).toMatchObject({ ok: false, failure: expect.stringContaining('not of format 2') });
});

test('a missing file is a failure, not an exception', () => {
  expect(loadProgram('/nowhere/program.json')).toMatchObject({ ok: false, failure: expect.stringContaining('ENOENT') });
});
