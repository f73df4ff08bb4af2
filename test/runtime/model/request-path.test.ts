import fc from 'fast-check';
import { expect, test, vi } from 'vitest';
import { requestPath } from '../../../src/runtime/model/providers/provider.ts';
import { assertProperty } from '../../support/assert-property.ts';

type Options = Parameters<typeof requestPath>[2];

function options(queryParams: Iterable<readonly [string, string]>): Options {
  return { queryParams: new Map(queryParams) };
}

test('query parameters replace those of the base URL as URLSearchParams.set does', () => {
  const name = fc.constantFrom('a', 'b', 'alt', 'ä ö', '');
  const pair = fc.tuple(name, fc.string({ unit: 'grapheme' }));
  assertProperty(
    fc.property(fc.array(pair), fc.array(pair), (inBase, own) => {
      const base = new URL('https://example.com/v1');
      for (const [key, value] of inBase) base.searchParams.append(key, value);
      const expected = new URL(base.href);
      for (const [key, value] of new Map(own)) expected.searchParams.set(key, value);
      expect(requestPath(base.href, '', options(own))).toBe(expected.pathname + expected.search);
    }),
  );
});

test('a path without query parameters stays as it is written', () => {
  expect(requestPath('https://example.com/v1?x=%20y', '', options([]))).toBe('/v1?x=%20y');
});

test('the query is written once, however many parameters it has', () => {
  const write = vi.spyOn(URLSearchParams.prototype, 'toString');
  const set = vi.spyOn(URLSearchParams.prototype, 'set');
  const path = requestPath(
    'https://example.com/v1',
    '',
    options(Array.from({ length: 5000 }, (_, at) => [`k${at}`, 'v'])),
  );
  expect(path).toMatch(/^\/v1\?k0=v&k1=v&.*&k4999=v$/u);
  expect(write).toHaveBeenCalledTimes(1);
  expect(set).not.toHaveBeenCalled();
  vi.restoreAllMocks();
});
