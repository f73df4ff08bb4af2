import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readKeys } from '../../src/config/read-keys.ts';
import { ROOT } from '../architecture/source-files.ts';
import { inEmptyDirectory } from '../cli/command-line.ts';

inEmptyDirectory();

function read(text: string): ReturnType<typeof readKeys> {
  writeFileSync('keys.yaml', text);
  return readKeys('keys.yaml');
}

const HASH = 'ab'.repeat(32);
const OTHER = 'cd'.repeat(32);

const FULL = {
  name: 'team-a',
  sha256: HASH.toUpperCase(),
  functions: ['ExtractResume', 'Chat*'],
  client_registry: 'off',
  limits: { requests_per_minute: 60, tokens_per_minute: 1_000, in_flight: 4, cost_per_day: 2.5 },
  expires: '2027-01-31T18:00:00Z',
  disabled: false,
  comment: 'any note',
};

test('an entry has a name, a hash, and what it can do', () => {
  const limits = { requestsPerMinute: 60, tokensPerMinute: 1_000, inFlight: 4, costPerDay: 2.5 };
  const entry = {
    name: 'team-a',
    sha256: HASH,
    functions: ['ExtractResume', 'Chat*'],
    clientRegistry: 'off',
    limits,
    expiresAt: Date.UTC(2027, 0, 31, 18),
    disabled: false,
  };
  const content = { keys: [FULL, { name: 'b', sha256: OTHER }], default: { limits: { in_flight: 2 } } };
  const expected = { keys: [entry, { name: 'b', sha256: OTHER }], defaultLimits: { inFlight: 2 } };
  expect(read(JSON.stringify(content))).toEqual({ ok: true, value: expected });
});

test('YAML and JSON have the same meaning, and "off" needs no quotes', () => {
  const text = `keys:\n  - name: a\n    sha256: ${HASH}\n    client_registry: off\n    expires: 2027-01-31\n`;
  const value = { keys: [{ name: 'a', sha256: HASH, clientRegistry: 'off', expiresAt: Date.UTC(2027, 1, 1) }] };
  expect(read(text)).toEqual({ ok: true, value });
});

test('a file can have only default limits, or an empty list of keys', () => {
  expect(read('default: {limits: {in_flight: 3}}')).toEqual({ ok: true, value: { defaultLimits: { inFlight: 3 } } });
  expect(read('keys: []')).toEqual({ ok: true, value: { keys: [] } });
});

const A = `name: a, sha256: ${HASH}`;

/** A file, and a part of the message after the file's name. */
const FAULTS: ReadonlyArray<readonly [string, string]> = [
  ['', ' has no list "keys". Run "svc keys create NAME" to create one.'],
  ['- 1', ' has no list "keys". '],
  ['keys: [', ' is neither YAML nor JSON: '],
  ['key: []', ' has an unknown member "key". Did you mean "keys"?'],
  ['keys: {}', ': "keys" is a map. Write a list. '],
  ['keys: [12]', ', entry 1: must be a map. '],
  [`keys: [{sha256: ${HASH}}]`, ', entry 1: has no "name". Use 1 to 64 of the characters a-z, 0-9, ".", "_" and "-".'],
  [`keys: [{name: Team, sha256: ${HASH}}]`, ', entry 1 ("Team"): "name" is "Team". Use 1 to 64 '],
  [
    `keys: [{name: default, sha256: ${HASH}}]`,
    '"name" is "default", the name of the key in SVC_PASSWORD. Use another one.',
  ],
  ['keys: [{name: a}]', ', entry 1 ("a"): has no "sha256". Write the SHA-256 of the key as 64 hexadecimal digits. '],
  ['keys: [{name: a, sha256: svc_secret}]', ', entry 1 ("a"): "sha256" is not a SHA-256. '],
  [`keys: [{${A}}, {name: a, sha256: ${OTHER}}]`, ', entry 2 ("a"): has the name of entry 1 ("a"). Remove one.'],
  [`keys: [{${A}}, {name: b, sha256: ${HASH}}]`, ', entry 2 ("b"): has the key of entry 1 ("a"). Remove one.'],
  [`keys: [{${A}, function: [X]}]`, 'has an unknown member "function". Did you mean "functions"?'],
  [
    `keys: [{${A}, functions: []}]`,
    '"functions" is not a list of names. Write a list such as ["ExtractResume", "Chat*"]',
  ],
  [`keys: [{${A}, functions: X}]`, '"functions" is not a list of names. '],
  [`keys: [{${A}, client_registry: on}]`, '"client_registry" is "on". Use one of open, known, off.'],
  [`keys: [{${A}, disabled: 1}]`, '"disabled" is 1. Use true or false.'],
  [`keys: [{${A}, limits: 5}]`, '"limits" is 5. Write a map such as "{requests_per_minute: 60}".'],
  [`keys: [{${A}, limits: {rpm: 5}}]`, '"limits" has an unknown member "rpm". '],
  [
    `keys: [{${A}, limits: {in_flight: 0}}]`,
    '"in_flight" is 0. Write a whole number from 1 to 1000000000; to stop a key, set "disabled: true".',
  ],
  [`keys: [{${A}, limits: {requests_per_minute: 1.5}}]`, '"requests_per_minute" is 1.5. Write a whole number'],
  [
    `keys: [{${A}, limits: {cost_per_day: 0}}]`,
    '"cost_per_day" is 0. Write US dollars, more than 0 and at most 1000000, such as 12.5.',
  ],
  [`keys: [{${A}, limits: {cost_per_day: .inf}}]`, '"cost_per_day" is Infinity. '],
  [
    `keys: [{${A}, expires: tomorrow}]`,
    '"expires" is "tomorrow". Write a date such as 2027-01-31, or a time with a zone',
  ],
  [`keys: [{${A}, expires: 2027-02-30}]`, '"expires" is "2027-02-30". '],
  [`keys: [{${A}, expires: 2027-01-31T10:00:00}]`, '"expires" is "2027-01-31T10:00:00". '],
  ['default: 1', ', default: must be a map. Write "{limits: {requests_per_minute: 60}}".'],
  ['default: {limit: {}}', ', default: has an unknown member "limit". Did you mean "limits"?'],
];

test.each(FAULTS)('%s is refused with one sentence', (text, part) => {
  const result = read(text);
  expect(result.ok ? result.value : result.failure).toContain(
    `"keys.yaml"${part.startsWith('"') || part.startsWith('has') ? '' : part}`,
  );
  expect(result.ok ? '' : result.failure).toContain(part);
  expect(result.ok ? '' : result.failure).not.toContain('svc_secret');
});

test('the examples in the documentation have no fault', () => {
  const page = readFileSync(`${ROOT}/docs/operating.md`, 'utf8');
  const examples = [...page.matchAll(/```yaml\n([^`]*sha256:[^`]*)```/gu)].map(([, text = '']) => read(text));
  expect(examples).toMatchObject([
    { ok: true, value: { keys: [{ name: 'team-a' }, { name: 'team-b', disabled: true }] } },
    { ok: true, value: { keys: [{ limits: { costPerDay: 25 } }], defaultLimits: { inFlight: 20 } } },
  ]);
});

test('a file that does not exist is refused', () => {
  expect(readKeys('none.yaml')).toEqual({
    ok: false,
    failure: '"none.yaml" cannot be read: it does not exist. Pass an existing file.',
  });
});
