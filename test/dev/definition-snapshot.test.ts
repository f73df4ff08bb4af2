import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changedFiles, lostContent, takeSnapshot } from '../../src/dev/watch-definitions.ts';
import { temporaryFolder } from '../support/running-server.ts';

test('a snapshot contains the definition files that svc reads, and the other watched files', () => {
  const from = temporaryFolder({
    'a.svc': '',
    'b.baml': '',
    'deep/er/c.svc': '',
    'notes.md': '',
    '.hidden/d.svc': '',
    'node_modules/e.svc': '',
  });
  const dotenv = join(from, 'notes.md');
  const { files, directories } = takeSnapshot({ from, files: [dotenv, join(from, 'missing')] });
  const expected = ['a.svc', 'b.baml', 'deep/er/c.svc', 'notes.md'].map((name) => join(from, name));
  expect([...files.keys()].toSorted()).toEqual(expected.toSorted());
  expect([...directories.keys()].toSorted()).toEqual([from, join(from, 'deep'), join(from, 'deep/er')]);
});

test('the temporary files of editors do not change a snapshot', () => {
  const from = temporaryFolder({ 'a.svc': 'x' });
  const paths = { from, files: [] };
  const before = takeSnapshot(paths);
  for (const name of ['.a.svc.swp', '4913', 'a.svc~', '#a.svc#', 'a.svc.tmp.1234', '.goutputstream-X']) {
    writeFileSync(join(from, name), 'temporary');
  }
  // Emacs locks a file with a link to nothing.
  symlinkSync('someone@machine.1234', join(from, '.#a.svc'));
  expect(changedFiles(before, takeSnapshot(paths))).toEqual([]);
});

test('one file is watched together with its directory, and a path that does not exist is empty', () => {
  const from = temporaryFolder({ 'a.svc': 'x', 'b.svc': 'y' });
  const snapshot = takeSnapshot({ from: join(from, 'a.svc'), files: [] });
  expect([...snapshot.files.keys()]).toEqual([join(from, 'a.svc')]);
  expect([...snapshot.directories.keys()]).toEqual([from]);
  expect(takeSnapshot({ from: join(from, 'missing'), files: [] }).files.size).toBe(0);
});

test('content is lost when a file is removed or emptied, not when it is added or written', () => {
  const from = temporaryFolder({ 'a.svc': 'x', 'empty.svc': '' });
  const paths = { from, files: [] };
  const before = takeSnapshot(paths);
  writeFileSync(join(from, 'a.svc'), 'xy');
  mkdirSync(join(from, 'more'));
  writeFileSync(join(from, 'more/b.svc'), '');
  expect(lostContent(before, takeSnapshot(paths))).toBe(false);
  writeFileSync(join(from, 'a.svc'), '');
  expect(lostContent(before, takeSnapshot(paths))).toBe(true);
  rmSync(join(from, 'a.svc'));
  expect(lostContent(before, takeSnapshot(paths))).toBe(true);
});
