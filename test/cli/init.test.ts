import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { inEmptyDirectory, svc } from './command-line.ts';

inEmptyDirectory();

test('init writes definitions that have no problem, and an example of .env', async () => {
  const { code, out } = await svc('init');
  expect(code).toBe(0);
  expect(readdirSync('svc_src').length).toBeGreaterThanOrEqual(4);
  expect(out).toContain('wrote .env.example');
  const { code: checked, out: report } = await svc('check');
  expect({ checked, report }).toEqual({ checked: 0, report: expect.stringContaining('no problems') });
});

test('init with --from says how to serve that directory', async () => {
  const { out } = await svc('init', '--from', 'definitions');
  expect(out).toContain('svc serve --from definitions');
  expect(readdirSync('.')).toEqual(['.env.example', 'definitions']);
});

test('init never writes into a directory that holds something', async () => {
  mkdirSync('svc_src');
  writeFileSync('svc_src/mine.svc', 'mine');
  const { code, error } = await svc('init');
  expect(code).toBe(1);
  expect(error).toContain('is not empty, so nothing was written');
  expect(readdirSync('.')).toEqual(['svc_src']);
  expect(readdirSync('svc_src')).toEqual(['mine.svc']);
});

test('init keeps a .env.example that is there', async () => {
  writeFileSync('.env.example', 'mine');
  const { code, out } = await svc('init');
  expect(code).toBe(0);
  expect(out).toContain('kept .env.example');
  expect(readFileSync('.env.example', 'utf8')).toBe('mine');
});

test('init over a file with the name of the directory is one line and exit code 1', async () => {
  writeFileSync('svc_src', '');
  const { code, error } = await svc('init');
  expect(code).toBe(1);
  expect(error).toMatch(/^svc: [^\n]+\n$/u);
});

test('what the machine refuses is one line, without a stack trace', async () => {
  writeFileSync('file', '');
  const { code, error } = await svc('init', '--from', 'file/below');
  expect(code).toBe(1);
  expect(error).toMatch(/^svc: [^\n]*ENOTDIR[^\n]*\n$/u);
});
