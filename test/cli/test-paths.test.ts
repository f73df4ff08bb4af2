import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { locateTests } from '../../src/cli/commands/test.ts';
import { inEmptyDirectory } from './command-line.ts';

inEmptyDirectory();

beforeEach(() => {
  for (const path of ['svc_src/a.svc', 'svc_src/more/b.svc', 'other/baml_src/c.baml', 'alone.svc', 'plain/d.svc']) {
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, '');
  }
});

test.each<[readonly string[], string | undefined, object]>([
  [[], undefined, { paths: [] }],
  [[], './svc_src', { from: './svc_src', paths: [] }],
  [['svc_src'], './svc_src', { from: './svc_src', paths: [] }],
  [['svc_src/'], './svc_src', { from: './svc_src', paths: [] }],
  [['svc_src/a.svc'], './svc_src', { from: './svc_src', paths: ['svc_src/a.svc'] }],
  [['svc_src/a.svc', 'svc_src/more'], './svc_src', { from: './svc_src', paths: ['svc_src/a.svc', 'svc_src/more'] }],
  [['svc_src', 'svc_src/more'], './svc_src', { from: './svc_src', paths: [] }],
  // A directory with the usual name contains the definitions, wherever it is.
  [['other/baml_src/c.baml'], './svc_src', { from: 'other/baml_src', paths: ['other/baml_src/c.baml'] }],
  [['svc_src/more/b.svc'], undefined, { from: 'svc_src', paths: ['svc_src/more/b.svc'] }],
  // Any other path is the definitions themselves.
  [['alone.svc'], './svc_src', { from: 'alone.svc', paths: [] }],
  [['plain'], './svc_src', { from: 'plain', paths: [] }],
])('the paths %j with the definitions %j', (paths, from, expected) => {
  expect(locateTests(paths, from, false)).toEqual({ ok: true, value: expected });
});

test('an absolute path is inside a relative directory', () => {
  const path = resolve('svc_src/a.svc');
  expect(locateTests([path], './svc_src', false)).toEqual({ ok: true, value: { from: './svc_src', paths: [path] } });
});

test('a path inside the directory of --from selects tests in it, any other path is refused', () => {
  expect(locateTests(['plain/d.svc'], 'plain', true)).toEqual({
    ok: true,
    value: { from: 'plain', paths: ['plain/d.svc'] },
  });
  expect(locateTests(['alone.svc'], 'plain', true)).toEqual({
    ok: false,
    failure: '"alone.svc": not inside the definitions "plain"',
  });
});

test.each([
  [['svc_src/gone.svc'], '"svc_src/gone.svc" does not exist'],
  [['svc_scr'], '"svc_scr" does not exist. Did you mean "svc_src"?'],
  [['plain', 'alone.svc'], 'the paths are not inside one directory of definitions: pass that directory to --from'],
])('the paths %j are refused', (paths, failure) => {
  expect(locateTests(paths, './svc_src', false)).toEqual({ ok: false, failure });
});
