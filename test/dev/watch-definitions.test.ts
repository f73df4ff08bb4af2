import {
  appendFileSync,
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
  writeSync,
  symlinkSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { DefinitionWatcher, changedFiles, lostContent, takeSnapshot } from '../../src/dev/watch-definitions.ts';
import { temporaryFolder } from '../support/running-server.ts';

let watcher: DefinitionWatcher | undefined;
afterEach(() => {
  watcher?.close();
  watcher = undefined;
});

/** Watches a new folder. `until` resolves with the file once the reported changes include it. */
function watching(files: Readonly<Record<string, string>>) {
  const from = temporaryFolder(files);
  const reported = new Set<string>();
  let check: (() => void) | undefined;
  watcher = new DefinitionWatcher({ from, files: [join(from, '.env')] });
  watcher.onChange((paths) => {
    for (const path of paths) reported.add(relative(from, path));
    check?.();
  });
  const until = (name: string): Promise<string> =>
    new Promise((resolve) => {
      check = () => {
        if (reported.delete(name)) resolve(name);
      };
      check();
    });
  return { from, at: (name: string) => join(from, name), until };
}

test.each<readonly [string, (file: string) => void]>([
  ['appends', (file) => appendFileSync(file, 'more')],
  ['truncates, then writes', truncateAndWrite],
  [
    'writes a temporary file and renames it over the old one',
    (file) => {
      writeFileSync(`${file}.tmp`, 'new');
      renameSync(`${file}.tmp`, file);
    },
  ],
  [
    'renames the old file to a backup and writes a new one',
    (file) => {
      renameSync(file, `${file}~`);
      writeFileSync(file, 'new');
    },
  ],
  [
    'removes the old file and writes a new one',
    (file) => {
      unlinkSync(file);
      writeFileSync(file, 'new');
    },
  ],
])('a change is reported when an editor %s', async (_, save) => {
  const { at, until } = watching({ 'deep/a.svc': 'old' });
  save(at('deep/a.svc'));
  expect(await until('deep/a.svc')).toBe('deep/a.svc');
  // A second time: the watcher still follows the file.
  save(at('deep/a.svc'));
  expect(await until('deep/a.svc')).toBe('deep/a.svc');
});

function truncateAndWrite(file: string): void {
  const descriptor = openSync(file, 'r+');
  ftruncateSync(descriptor);
  writeSync(descriptor, 'new');
  closeSync(descriptor);
}

test('files in new, renamed and replaced directories are reported', async () => {
  const { at, until } = watching({ 'a/a.svc': 'a' });
  mkdirSync(at('b/c'), { recursive: true });
  writeFileSync(at('b/c/new.svc'), 'new');
  expect(await until('b/c/new.svc')).toBe('b/c/new.svc');
  renameSync(at('b'), at('d'));
  expect(await until('d/c/new.svc')).toBe('d/c/new.svc');
  writeFileSync(at('d/c/new.svc'), 'newer');
  expect(await until('d/c/new.svc')).toBe('d/c/new.svc');
  rmSync(at('a'), { recursive: true });
  expect(await until('a/a.svc')).toBe('a/a.svc');
  mkdirSync(at('a'));
  writeFileSync(at('a/a.svc'), 'again');
  expect(await until('a/a.svc')).toBe('a/a.svc');
  writeFileSync(at('a/a.svc'), 'and again');
  expect(await until('a/a.svc')).toBe('a/a.svc');
});

test('a watched directory can disappear and come back', async () => {
  const { from, at, until } = watching({ 'a.svc': 'a' });
  rmSync(from, { recursive: true });
  expect(await until('a.svc')).toBe('a.svc');
  mkdirSync(from);
  writeFileSync(at('a.svc'), 'again');
  expect(await until('a.svc')).toBe('a.svc');
  writeFileSync(at('a.svc'), 'and again');
  expect(await until('a.svc')).toBe('a.svc');
});

test('the .env file is watched, also before it exists', async () => {
  const { at, until } = watching({ 'a.svc': 'a' });
  writeFileSync(at('.env'), 'A=1');
  expect(await until('.env')).toBe('.env');
});

test('changes before there is a listener are reported to the first one', async () => {
  const from = temporaryFolder({ 'a.svc': 'a' });
  const early = new DefinitionWatcher({ from, files: [] });
  watcher = early;
  writeFileSync(join(from, 'a.svc'), 'changed');
  const paths = await new Promise((resolve) => {
    early.onChange(resolve);
  });
  expect(paths).toEqual([join(from, 'a.svc')]);
});

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
