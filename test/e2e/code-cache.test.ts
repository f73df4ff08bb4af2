import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { HI_FUNCTION } from '../support/hi-function.ts';
import { waitUntil } from '../support/load.ts';
import { startServer, temporaryFolder } from '../support/running-server.ts';

const BIN = fileURLToPath(new URL('../../dist/bin/', import.meta.url));

/** A program of two files, in a folder of its own with the loader of svc. It prints a word. */
function wordProgram(word: string): string {
  const root = temporaryFolder({ 'package.json': '{"type": "commonjs"}' });
  mkdirSync(join(root, 'bin'));
  copyFileSync(join(BIN, 'code-cache.js'), join(root, 'bin/code-cache.js'));
  writeFileSync(join(root, 'bin/word.js'), wordFile(word));
  writeFileSync(
    join(root, 'bin/main.js'),
    "exports.print = () => process.stdout.write(require('./word.js').word());\n",
  );
  return root;
}

function wordFile(word: string): string {
  return `exports.word = () => '${word}';\n`;
}

/** What the program prints. Then its start has ended. */
function run(root: string, flags: readonly string[] = []): string {
  const script =
    "const cache = require('./code-cache.js'); cache.runCached(require.resolve('./main.js')).print(); cache.saveCodeCache();";
  const env = { ...process.env, NODE_OPTIONS: '' };
  return execFileSync(process.execPath, [...flags, '--eval', script], {
    cwd: join(root, 'bin'),
    encoding: 'utf8',
    env,
  });
}

/** The paths of the caches. */
function caches(root: string): readonly string[] {
  const folder = join(root, 'cache');
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
}

/** Each save creates a new file. The number can be that of a deleted file with another name. */
function fileAt(path = ''): string {
  return `${path} ${statSync(path).ino}`;
}

/** Changes a cache after the checksum at its beginning, which it corrects if `isConsistent`. */
function change(path: string, edit: (content: Buffer) => void, isConsistent = false): void {
  const content = readFileSync(path);
  edit(content);
  if (isConsistent) content.writeUInt32LE(crc32(content.subarray(4)), 0);
  writeFileSync(path, content);
}

function replace(content: Buffer, old: string, by: string): void {
  const at = content.indexOf(old, 0, 'latin1');
  expect(at).toBeGreaterThan(0);
  content.write(by, at, 'latin1');
}

test('the first start writes one file, and the next one uses it', () => {
  const root = wordProgram('hello');
  expect(run(root)).toBe('hello');
  const [path = '', ...others] = caches(root);
  expect(others).toEqual([]);
  const written = fileAt(path);
  expect(run(root)).toBe('hello');
  expect(fileAt(path)).toBe(written);
  // V8 runs the code of the cache, and not that of the source.
  change(path, (content) => replace(content, 'hello', 'jello'), true);
  expect(run(root)).toBe('jello');
  expect(caches(root)).toEqual([path]);
});

test('a damaged cache is not used, and is replaced', () => {
  const root = wordProgram('hello');
  run(root);
  const [path = ''] = caches(root);
  const good = readFileSync(path);
  const damages: readonly ((content: Buffer) => Buffer)[] = [
    (content) => {
      replace(content, 'hello', 'jello');
      return content;
    },
    (content) => content.subarray(0, content.length - 10),
    () => Buffer.alloc(3),
    () => Buffer.alloc(5000, 'x'),
    () => Buffer.alloc(0),
  ];
  for (const damage of damages) {
    writeFileSync(path, damage(Buffer.from(good)));
    const damaged = fileAt(path);
    expect(run(root)).toBe('hello');
    expect(fileAt(path)).not.toBe(damaged);
    const repaired = fileAt(path);
    expect(run(root)).toBe('hello');
    expect(fileAt(path)).toBe(repaired);
  }
});

test('a file that has changed is compiled again, also if its length has not', () => {
  const root = wordProgram('hello');
  run(root);
  writeFileSync(join(root, 'bin/word.js'), wordFile('jello'));
  expect(run(root)).toBe('jello');
  expect(run(root)).toBe('jello');
});

test('each version of Node and each set of flags has a file, and V8 rejects that of another one', () => {
  const root = wordProgram('hello');
  run(root);
  const [own = ''] = caches(root);
  run(root, ['--stack-size=900']);
  const foreign = caches(root).find((path) => path !== own) ?? '';
  change(foreign, (content) => replace(content, 'hello', 'jello'), true);
  copyFileSync(foreign, own);
  expect(run(root)).toBe('hello');
  for (let size = 901; size < 906; size += 1) run(root, [`--stack-size=${size}`]);
  expect(caches(root)).toHaveLength(4);
});

test('a program runs where its cache cannot be written', () => {
  const root = wordProgram('hello');
  writeFileSync(join(root, 'cache'), 'not a folder');
  expect(run(root)).toBe('hello');
  expect(readdirSync(root).toSorted()).toEqual(['bin', 'cache', 'package.json']);
});

test('with source maps, Node itself loads the files', () => {
  const root = wordProgram('hello');
  expect(run(root, ['--enable-source-maps'])).toBe('hello');
  expect(caches(root)).toEqual([]);
});

test('a file that fails is loaded again when it is required again', () => {
  const root = wordProgram('hello');
  writeFileSync(
    join(root, 'bin/word.js'),
    "globalThis.tries = (globalThis.tries ?? 0) + 1;\nif (globalThis.tries < 3) throw new Error('no');\nexports.word = () => 'hello';\n",
  );
  writeFileSync(
    join(root, 'bin/main.js'),
    "exports.print = () => {\n  for (;;) try { return process.stdout.write(require('./word.js').word() + globalThis.tries); } catch {}\n};\n",
  );
  expect(run(root)).toBe('hello3');
});

const SETTINGS = { env: { SVC_WARM_UP: 'off' }, files: { 'a.svc': HI_FUNCTION } };

async function answers(url: string): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  return (await fetch(`${url}/call/Hi`, { method: 'POST', headers, body: '{"name": "Ada"}' })).status;
}

/** A copy of the built programs, which other tests do not run. Returns the path of the command. */
function installation(): string {
  const root = temporaryFolder({});
  for (const folder of ['assets', 'bin', 'node_modules', 'packages'])
    cpSync(join(BIN, '..', folder), join(root, 'dist', folder), { recursive: true });
  copyFileSync(join(BIN, '../../package.json'), join(root, 'package.json'));
  return join(root, 'dist/bin/svc.js');
}

test('a server writes the code of its three programs beside them, and starts with damaged files', async () => {
  const main = installation();
  const dist = join(main, '../..');
  expect(caches(dist)).toEqual([]);
  const programs = /^(?:compile-thread|http-worker|svc)-program-v[\w.-]+\.bin$/u;
  const isWritten = (): boolean => readdirSync(join(dist, 'cache')).filter((name) => programs.test(name)).length === 3;
  let files = new Set<string>();
  for (const start of ['first', 'damaged', 'next']) {
    const before = files;
    if (start === 'damaged')
      for (const path of caches(dist)) change(path, (content) => content.fill(1, content.length >> 1));
    const server = await startServer({ ...SETTINGS, main });
    try {
      expect(await answers(server.url)).toBe(200);
      const isNew = (): boolean => caches(dist).every((path) => !before.has(fileAt(path)));
      await waitUntil('the code is written', () => isWritten() && (start === 'next' || isNew()));
    } finally {
      expect(await server.stop()).toBe(0);
    }
    files = new Set(caches(dist).map(fileAt));
    expect(files.size).toBe(3);
    if (start === 'next') expect(files).toEqual(before);
  }
  expect(readdirSync(dist).toSorted()).toEqual(['assets', 'bin', 'cache', 'node_modules', 'packages']);
});

test('a command that ends at once writes no code', () => {
  const main = installation();
  const folder = temporaryFolder(SETTINGS.files);
  expect(execFileSync(process.execPath, [main, 'check', folder], { encoding: 'utf8' })).toContain('no problems');
  expect(caches(join(main, '../..'))).toEqual([]);
});

// The second start of a server would fail where the first did not.
test('no program has an import(), which Node 20 refuses in code from a cache', () => {
  const programs = readdirSync(BIN).filter((name) => name.endsWith('.js'));
  expect(programs.length).toBeGreaterThan(3);
  for (const name of programs) expect(readFileSync(join(BIN, name), 'utf8')).not.toMatch(/(?<![\w.'"`])import\(/u);
});
