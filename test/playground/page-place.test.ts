import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  callsPath,
  filterOf,
  fragmentOf,
  placeOf,
  type Filter,
  type PagePlace,
} from '../../src/playground/data/page-place.ts';
import { assertProperty } from '../support/assert-property.ts';

const NAMES = ['function', 'client', 'key', 'request', 'error', 'lossy', 'slow', 'tag', 'text', 'feedback'] as const;

const value = fc.string({ minLength: 1, unit: 'grapheme' }).filter((text) => text === text.trim());
const filter = fc.record(
  { ...Object.fromEntries(NAMES.map((name) => [name, value])), range: fc.constantFrom('hour', 'day', 'week') },
  { requiredKeys: [] },
) as fc.Arbitrary<Filter>;
const seq = fc.nat();

const place: fc.Arbitrary<PagePlace> = fc.oneof(
  fc.constant({ page: 'run' } as const),
  fc.record({ page: fc.constant('run' as const), functionName: fc.stringMatching(/^\w+$/u) }),
  fc.record({ page: fc.constant('calls' as const), filter }),
  fc.record({ page: fc.constant('calls' as const), filter, compare: seq }),
  fc.record({ page: fc.constant('call' as const), seq }),
  fc.record({ page: fc.constant('call' as const), seq, other: seq }),
  fc.record({ page: fc.constant('charts' as const), range: fc.constantFrom('hour', 'day', 'week') }),
);

test('an address names every place', () => {
  assertProperty(
    fc.property(place, (each) => {
      expect(placeOf(fragmentOf(each))).toEqual(each);
    }),
  );
});

test.each<readonly [string, PagePlace]>([
  ['', { page: 'run' }],
  ['#run/Extract', { page: 'run', functionName: 'Extract' }],
  ['#s=abc', { page: 'run' }],
  ['#calls', { page: 'calls', filter: {} }],
  ['#calls/12', { page: 'call', seq: 12 }],
  ['#calls/12?with=14', { page: 'call', seq: 12, other: 14 }],
  ['#calls/last', { page: 'calls', filter: {} }],
  ['#calls?function=Extract&range=hour', { page: 'calls', filter: { function: 'Extract', range: 'hour' } }],
  ['#calls?function=&text=a+b%3F&range=year&x=y', { page: 'calls', filter: { text: 'a b?' } }],
  ['#charts?range=constructor', { page: 'charts', range: 'day' }],
])('the address %s leads to its place', (fragment, expected) => {
  expect(placeOf(fragment)).toEqual(expected);
});

test('an address never fails, whatever it contains', () => {
  assertProperty(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(placeOf(`#${text}`).page).toMatch(/^(?:run|calls|call|charts)$/u);
      expect(placeOf(`#calls?${text}`).page).toBe('calls');
    }),
  );
});

test('the fields of a form are a filter without those that are empty', () => {
  expect(filterOf(new URLSearchParams('function=F&client=&text=+&lossy=1&range='))).toEqual({
    function: 'F',
    lossy: '1',
  });
});

test('a request names the members of the filter, the start of its range and the call to continue from', () => {
  expect(callsPath({}, 0)).toBe('playground/calls?limit=50');
  expect(callsPath({ tag: 'user:a b', range: 'hour' }, 3_700_000, 51)).toBe(
    'playground/calls?tag=user%3Aa+b&since=100000&before=51&limit=50',
  );
});
