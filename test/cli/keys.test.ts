import { hash } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readKeys } from '../../src/config/read-keys.ts';
import { inEmptyDirectory, svc } from './command-line.ts';

inEmptyDirectory();

function sha256(key: string): string {
  return hash('sha256', key);
}

test('a new key has 32 random bytes, and its entry the hash', async () => {
  const { code, out, error } = await svc('keys', 'create', 'team-a', '--functions', 'Chat*', 'Extract');
  const key = out.trim();
  expect(code).toBe(0);
  expect(key).toMatch(/^svc_[\w-]{43}$/u);
  const [, yaml = ''] = error.split('\n\n');
  expect(parse(yaml)).toEqual([{ name: 'team-a', sha256: sha256(key), functions: ['Chat*', 'Extract'] }]);
  expect(error).not.toContain(key);
  expect((await svc('keys', 'create', 'team-a')).out).not.toBe(out);
});

test('with --keys it adds the entry and keeps the comments of the file', async () => {
  writeFileSync('keys.yaml', `# ours\nkeys:\n  - name: old # the first\n    sha256: ${sha256('old')}\n`);
  const { code, out } = await svc('keys', 'create', 'new', '--expires', '2027-01-31', '--keys', 'keys.yaml');
  const text = readFileSync('keys.yaml', 'utf8');
  expect(code).toBe(0);
  expect(text).toContain('# ours');
  expect(text).toContain('# the first');
  expect(text).not.toContain(out.trim());
  expect(readKeys('keys.yaml')).toMatchObject({
    ok: true,
    value: { keys: [{ name: 'old' }, { name: 'new', sha256: sha256(out.trim()), expiresAt: Date.UTC(2027, 1, 1) }] },
  });
});

test('it creates a file that only its owner can read, in YAML or in JSON', async () => {
  for (const file of ['keys.yaml', 'keys.json']) {
    expect((await svc('keys', 'create', 'first', '--keys', file)).code).toBe(0);
    expect((await svc('keys', 'create', 'second', '--keys', file)).code).toBe(0);
    expect(readKeys(file)).toMatchObject({ ok: true, value: { keys: [{ name: 'first' }, { name: 'second' }] } });
    expect(statSync(file).mode & 0o777).toBe(0o600);
  }
  expect(JSON.parse(readFileSync('keys.json', 'utf8'))).toMatchObject({
    keys: [{ name: 'first' }, { name: 'second' }],
  });
});

test('a name that exists, and a file with a mistake, stay as they are', async () => {
  await svc('keys', 'create', 'first', '--keys', 'keys.yaml');
  const before = readFileSync('keys.yaml', 'utf8');
  const again = await svc('keys', 'create', 'first', '--keys', 'keys.yaml');
  expect(again).toMatchObject({ code: 1, out: '' });
  expect(again.error).toContain('has the name of entry 1 ("first")');
  expect(readFileSync('keys.yaml', 'utf8')).toBe(before);
  writeFileSync('bad.yaml', 'keys: 1');
  expect(await svc('keys', 'create', 'x', '--keys', 'bad.yaml')).toMatchObject({ code: 1, out: '' });
});

test.each([
  [['create', 'Team A'], '"name" is "Team A". Use 1 to 64'],
  [['create', 'default'], 'the name of the key in SVC_PASSWORD'],
  [['make', 'a'], 'there is no "svc keys make". Use "svc keys create NAME".'],
  [['create', 'a', '--expires', 'soon'], '"expires" is "soon". '],
  [['create', 'a', '--functions', 'a-b'], '--functions takes names of functions'],
])('%j is bad usage', async (args, message) => {
  const ended = await svc('keys', ...args);
  expect(ended).toMatchObject({ code: 2, out: '' });
  expect(ended.error).toContain(message);
});
