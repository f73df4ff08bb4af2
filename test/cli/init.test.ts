import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { inEmptyDirectory, svc } from './command-line.ts';

inEmptyDirectory();

test('init writes definitions without problems, and a .env.example', async () => {
  const { code, out } = await svc('init');
  expect(code).toBe(0);
  expect(readdirSync('svc_src').length).toBeGreaterThanOrEqual(4);
  expect(out).toContain('wrote .env.example');
  const { code: checked, out: report } = await svc('check');
  expect({ checked, report }).toEqual({ checked: 0, report: expect.stringContaining('no problems') });
});

test.each([['definitions'], ['--from', 'definitions']])(
  'init shows how to serve the directory (%s %s)',
  async (...args) => {
    const { out } = await svc('init', ...args);
    expect(out).toContain('"svc serve definitions"');
    expect(readdirSync('.')).toEqual(['.env.example', 'definitions']);
  },
);

test('init does not hide definitions in ./baml_src behind samples', async () => {
  mkdirSync('baml_src');
  writeFileSync('baml_src/mine.baml', 'mine');
  const { code, error } = await svc('init');
  expect({ code, error }).toEqual({ code: 1, error: expect.stringContaining('"./baml_src" is not empty') });
  expect(readdirSync('.')).toEqual(['baml_src']);
});

test('init never writes to a directory that is not empty', async () => {
  mkdirSync('svc_src');
  writeFileSync('svc_src/mine.svc', 'mine');
  const { code, error } = await svc('init');
  expect(code).toBe(1);
  expect(error).toContain('is not empty, so svc wrote nothing');
  expect(readdirSync('.')).toEqual(['svc_src']);
  expect(readdirSync('svc_src')).toEqual(['mine.svc']);
});

test('init keeps an existing .env.example', async () => {
  writeFileSync('.env.example', 'mine');
  const { code, out } = await svc('init');
  expect(code).toBe(0);
  expect(out).toContain('kept .env.example');
  expect(readFileSync('.env.example', 'utf8')).toBe('mine');
});

test('if the directory is a file, init writes one line and ends with 1', async () => {
  writeFileSync('svc_src', '');
  const { code, error } = await svc('init');
  expect(code).toBe(1);
  expect(error).toMatch(/^svc: [^\n]+\n$/u);
});

test('a system error is one line without a stack trace', async () => {
  writeFileSync('file', '');
  const { code, error } = await svc('init', '--from', 'file/below');
  expect(code).toBe(1);
  expect(error).toMatch(/^svc: [^\n]*ENOTDIR[^\n]*\n$/u);
});
