import { expect, test } from 'vitest';
import { callsAddress, callsSecrets } from '../../src/config/calls-address.ts';
import { age } from '../../src/config/settings.ts';

test('reads files, URLs and off', () => {
  expect(callsAddress('sqlite:.svc/calls.db')).toEqual({ ok: true, value: { kind: 'sqlite', path: '.svc/calls.db' } });
  const url = 'postgresql://svc:p%40ss@db:5432/calls?sslmode=require';
  expect(callsAddress(url)).toEqual({ ok: true, value: { kind: 'postgres', url } });
  expect(callsAddress('off')).toEqual({ ok: true, value: 'off' });
  expect(callsSecrets({ kind: 'postgres', url })).toEqual(['p%40ss', 'p@ss']);
  expect(callsSecrets({ kind: 'postgres', url: 'postgres://db/calls' })).toEqual([]);
  expect(callsSecrets('off')).toEqual([]);
});

test.each(['', 'sqlite:', 'sqlite', 'calls.db', 'mysql://x/y', 'postgres://', 'postgres:db', 'https://x'])(
  'refuses %j without quoting it',
  (text) => {
    const read = callsAddress(text);
    expect(read.ok ? '' : read.failure).toMatch(/^off, sqlite:PATH/u);
  },
);

test('an age has a unit, and can exceed the longest timer', () => {
  expect(age('30d')).toEqual({ ok: true, value: 30 * 86_400_000 });
  for (const text of ['30', '30s', '0d', '99999d', '-1d']) expect(age(text).ok).toBe(false);
});
