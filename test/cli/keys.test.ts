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

const ENTRIES = {
  default: { limits: { in_flight: 3 } },
  keys: [
    { name: 'old', sha256: sha256('old'), functions: ['Chat*', 'Extract'], limits: { requests_per_minute: 60 } },
    { name: 'over', sha256: sha256('over'), expires: '2020-01-31' },
    { name: 'off', sha256: sha256('off'), disabled: true, limits: {} },
  ],
};

test('list shows the names, states, functions and limits of all keys, and no digest', async () => {
  writeFileSync('keys.json', JSON.stringify(ENTRIES));
  const { code, out } = await svc('keys', 'list', '--keys', 'keys.json');
  expect(code).toBe(0);
  expect(out.split('\n').map((line) => line.trimEnd())).toEqual([
    'NAME  STATE     EXPIRES                   FUNCTIONS      LIMITS',
    'old   active    never                     Chat* Extract  requests_per_minute=60',
    'over  expired   2020-02-01T00:00:00.000Z  *              in_flight=3',
    'off   disabled  never                     *              none',
    '',
  ]);
});

test('rotate replaces the key of an entry, and keeps everything else and the comments', async () => {
  const entry = `  - name: old # the first\n    functions: [Chat*]\n    sha256: ${sha256('old')}\n`;
  writeFileSync('keys.yaml', `# ours\nkeys:\n${entry}  - name: other\n    sha256: ${sha256('other')}\n`);
  const { code, out, error } = await svc('keys', 'rotate', 'old', '--keys', 'keys.yaml');
  expect([code, error.includes(out.trim())]).toEqual([0, false]);
  const text = readFileSync('keys.yaml', 'utf8');
  expect(text).toBe(
    `# ours\nkeys:\n${entry.replace(sha256('old'), sha256(out.trim())).replace('[Chat*]', '[ Chat* ]')}  - name: other\n    sha256: ${sha256('other')}\n`,
  );
});

test('rotate can move the end of a key; it refuses a key that would not work', async () => {
  for (const file of ['keys.json', 'keys.yaml']) {
    const before = JSON.stringify(ENTRIES);
    writeFileSync(file, before);
    for (const [name, sentence] of [
      ['over', '"over" has expired. Add --expires with a later time.'],
      ['off', '"off" is disabled. Remove "disabled" from its entry first.'],
      ['odl', `"${file}" has no key "odl". Did you mean "old"?`],
    ] as const) {
      const refused = await svc('keys', 'rotate', name, '--keys', file);
      expect(refused).toMatchObject({ code: 1, out: '', error: expect.stringContaining(sentence) });
    }
    expect(readFileSync(file, 'utf8')).toBe(before);
    const { out } = await svc('keys', 'rotate', 'over', '--expires', '2999-01-31', '--keys', file);
    expect(readKeys(file)).toMatchObject({
      value: { keys: [{}, { name: 'over', sha256: sha256(out.trim()), expiresAt: Date.UTC(2999, 1, 1) }, {}] },
    });
  }
});

test('revoke disables an entry, which stays in the file', async () => {
  for (const file of ['keys.json', 'keys.yaml']) {
    writeFileSync(file, JSON.stringify(ENTRIES));
    expect(await svc('keys', 'revoke', 'old', '--keys', file)).toMatchObject({ code: 0, out: '' });
    expect(await svc('keys', 'revoke', 'new', '--keys', file)).toMatchObject({ code: 1, out: '' });
    expect(readKeys(file)).toMatchObject({
      value: { keys: [{ name: 'old', disabled: true }, { name: 'over' }, { name: 'off' }] },
    });
  }
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
  [['make', 'a'], 'there is no "svc keys make". Use create, list, rotate or revoke.'],
  [['create'], 'has no "name"'],
  [['list'], '"svc keys list" needs the key file: add --keys FILE.'],
  [['list', 'a', '--keys', 'k.yaml'], '"svc keys list" takes no name.'],
  [['rotate', '--keys', 'k.yaml'], '"svc keys rotate" needs the name of a key.'],
  [['rotate', 'a', '--keys', 'k.yaml', '--expires', 'soon'], '"expires" is "soon". '],
  [['revoke', 'a', '--keys', 'k.yaml', '--expires', '2027-01-31'], '"svc keys revoke" takes no --expires.'],
  [['rotate', 'a', '--keys', 'k.yaml', '--functions', 'A'], '"svc keys rotate" takes no --functions.'],
  [['create', 'a', '--expires', 'soon'], '"expires" is "soon". '],
  [['create', 'a', '--functions', 'a-b'], '--functions takes names of functions'],
])('%j is bad usage', async (args, message) => {
  const ended = await svc('keys', ...args);
  expect(ended).toMatchObject({ code: 2, out: '' });
  expect(ended.error).toContain(message);
});
