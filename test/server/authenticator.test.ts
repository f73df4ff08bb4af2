import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { KeyEntry } from '../../src/config/key-file.ts';
import { Authenticator, type ServerKeys } from '../../src/server/http/auth.ts';
import { Caller } from '../../src/server/http/auth.ts';

function entry(name: string, key: string, more: Partial<KeyEntry> = {}): KeyEntry {
  return { name, sha256: hash('sha256', key), ...more };
}

function authenticator(keys: ServerKeys, now = 1_000) {
  return new Authenticator(keys, { now: () => now });
}

/** The name of the caller, or the reason for the refusal. */
function identify(server: Authenticator, key: string | undefined, header = 'x-svc-api-key'): string | undefined {
  const found = server.identify({ header: (name) => (name === header ? key : undefined) });
  return found instanceof Caller ? `caller ${found.name}` : found;
}

const A = entry('a', 'key of a');
const B = entry('b', 'kéy of b', { functions: ['Chat*', 'Extract'] });

test('each key has its caller, in each of the three headers', () => {
  const server = authenticator({ file: { keys: [A, B] } });
  expect(identify(server, 'key of a')).toBe('caller a');
  expect(identify(server, 'key of a', 'x-baml-api-key')).toBe('caller a');
  expect(identify(server, 'Bearer key of a', 'authorization')).toBe('caller a');
  expect(identify(server, 'key of b')).toBe('wrong');
  expect(identify(server, undefined)).toBe('missing');
});

test('a key that is not ASCII is found in both encodings of headers', () => {
  const server = authenticator({ file: { keys: [A, B] } });
  expect(identify(server, 'kéy of b')).toBe('caller b');
  expect(identify(server, Buffer.from('kéy of b').toString('latin1'))).toBe('caller b');
});

test('the password is the key with the name "default", beside those of a file', () => {
  expect(identify(authenticator({ password: 'open sesame' }), 'open sesame')).toBe('caller default');
  const both = authenticator({ password: 'open sesame', file: { keys: [A] } });
  expect([identify(both, 'open sesame'), identify(both, 'key of a')]).toEqual(['caller default', 'caller a']);
});

test('a server without keys asks for none, and one with an empty list accepts none', () => {
  expect(identify(authenticator({}), undefined)).toBeUndefined();
  expect(identify(authenticator({ file: { defaultLimits: {} } }), 'any')).toBeUndefined();
  const empty = authenticator({ file: { keys: [] } });
  expect([empty.required, identify(empty, 'any'), identify(empty, undefined)]).toEqual([true, 'wrong', 'missing']);
});

test('a disabled key and an expired key are refused with their reason', () => {
  const keys = [
    entry('a', 'a', { disabled: true }),
    entry('b', 'b', { expiresAt: 1_000 }),
    entry('c', 'c', { expiresAt: 1_001 }),
  ];
  const server = authenticator({ file: { keys } });
  expect(['a', 'b', 'c'].map((key) => identify(server, key))).toEqual(['disabled', 'expired', 'caller c']);
});

test('the keys of a new file replace the old ones, and the password stays', () => {
  const server = authenticator({ password: 'open sesame', file: { keys: [A] } });
  server.replace({ keys: [B] });
  expect(['open sesame', 'key of a', 'kéy of b'].map((key) => identify(server, key))).toEqual([
    'caller default',
    'wrong',
    'caller b',
  ]);
});

test('the text of a key becomes known when it is first used, so that logs can mask it', () => {
  const known: string[] = [];
  const server = new Authenticator({ file: { keys: [A, B] } }, { onKey: (key) => known.push(key) });
  for (const key of ['key of a', 'wrong', 'key of a', 'kéy of b']) identify(server, key);
  expect(known).toEqual(['key of a', 'kéy of b']);
});

test('the patterns of a key decide which functions it can call', () => {
  const caller = new Caller(B);
  const names = ['Chat', 'ChatMore', 'Extract', 'ExtractMore', 'MyChat', 'chat'];
  expect(names.filter((name) => caller.mayCall(name))).toEqual(['Chat', 'ChatMore', 'Extract']);
  expect([caller.callsAll, new Caller(A).callsAll, new Caller(A).mayCall('Any')]).toEqual([false, true, true]);
});

test('a key without limits has the default ones, and an empty map means none', () => {
  const limits = { inFlight: 3 };
  expect(new Caller(A, limits).limits).toBe(limits);
  expect(new Caller(entry('x', 'x', { limits: {} }), limits).limits).toEqual({});
});
