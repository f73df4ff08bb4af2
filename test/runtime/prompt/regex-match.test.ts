import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertProperty } from '../../support/assert-property.ts';
import { matchesPattern } from '../../../src/runtime/prompt/filters/regex/matches-pattern.ts';
import { Run } from '../../../src/runtime/prompt/run.ts';

function matches(text: string, pattern: string): boolean | string {
  try {
    return matchesPattern(text, pattern, new Run('', () => undefined));
  } catch (error) {
    return error instanceof Error ? error.message : 'no error';
  }
}

const PATTERNS = [
  'a.*', '^a', 'c$', '^abc$', '^\\d{3}-\\d{4}$', '[a-c]+x', '(foo|bar)+$', '\\bword\\b', '[^a-z]', 'a{2,3}', 'a{2,}b',
  '^(a|b){2,}c?$', '\\w+@\\w+\\.com', '^\\s*$', '^.$', '[\\d\\-_]+', '\\p{L}{3}', '(?:a)b', 'x*', '^a?b+?c*$', 'é',
  '[à-ü]', '^$', 'a|', '()', '\\.', '[a-]', '\\D\\W\\S', '[\\s\\S]', '^(?:(?:a|b)c)*$', '\\x41|\\u0042',
]; // prettier-ignore
const TEXTS = [
  'abc',
  '',
  '123-4567',
  'foobar',
  'a word here',
  'hello',
  'aa',
  'aaab',
  'ab',
  'joe@x.com',
  '  ',
  'q\nx\nz',
  '\n',
  'é',
  '😀',
  'ABC',
  'a-b',
  'x',
  '.',
  '-',
  'acbc',
  'B',
];

test.each(PATTERNS)('/%s/ matches what JavaScript says', (pattern) => {
  for (const text of TEXTS)
    expect(matches(text, pattern), JSON.stringify(text)).toBe(new RegExp(pattern, 'u').test(text));
});

test('patterns that are put together match what JavaScript says', () => {
  const { pattern } = fc.letrec<{ pattern: string; atom: string }>((tie) => ({
    atom: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\w', '^', '$', '\\b'),
      tie('pattern').map((inner) => `(?:${inner})`),
    ),
    pattern: fc
      .array(fc.tuple(tie('atom'), fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,2}')), { maxLength: 4 })
      .map((parts) => parts.map(([atom, times]) => (/^[\^$]|^\\b/u.test(atom) ? atom : atom + times)).join('')),
  }));
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', ' ', '\n'), maxLength: 8 });
  assertProperty(
    fc.property(pattern, text, (regex, input) => {
      expect(matches(input, regex)).toBe(new RegExp(regex, 'u').test(input));
    }),
    { numRuns: 500 },
  );
});

test.each<readonly [string, string, boolean]>([
  ['HELLO', '(?i)hello', true],
  ['É', '(?i)é', true],
  ['xHeLLox', '(?i:hello)', true],
  ['HELLO', '(?i:h)ello', false],
  ['a\nb', '(?m)^b$', true],
  ['a\nb', '^b$', false],
  ['a\nb', 'a.b', false],
  ['a\nb', '(?s)a.b', true],
  ['ab', '(?P<first>a)(?<second>b)', true],
  ['abc', '\\Aabc\\z', true],
  ['٣', '^\\d$', true],
  ['α', '\\p{Greek}', true],
  ['a', '\\P{Greek}', true],
  ['x1', '[[:alpha:]][[:digit:]]', true],
  [']', '[]]', true],
])('%j and /%s/: %s', (text, pattern, expected) => {
  expect(matches(text, pattern)).toBe(expected);
});

test.each([
  ['(a', 'malformed'],
  ['a)', 'malformed'],
  ['[a', 'malformed'],
  ['*', 'malformed'],
  ['a{2,1}', 'malformed'],
  ['[b-a]', 'malformed'],
  ['\\', 'malformed'],
  ['(?=a)', 'look-around'],
  ['(?<!a)', 'look-around'],
  ['(a)\\1', 'back reference'],
  ['[a&&b]', 'combines sets'],
  ['\\p{Nonsense}', 'unknown class'],
  ['(((a{100}){100}){100})', 'too large'],
  ['('.repeat(1000), 'nested too deeply'],
])('/%s/ is refused: %s', (pattern, reason) => {
  expect(matches('a', pattern)).toContain(reason);
});

test.each<readonly [string, string]>([
  ['(a+)+$', 'a'],
  ['(a|a)*b', 'a'],
  ['(a|aa)+b', 'a'],
  ['(.*)*x', 'a'],
  ['^(a?){20}a{20}b', 'a'],
  ['(\\w+\\s*)+:', 'a '],
  ['(((){1000}){1000}){1000}', 'a'],
])('/%s/ takes time in proportion to the text', (pattern, piece) => {
  const time = (count: number): number => {
    const before = process.cpuUsage();
    matches(piece.repeat(count), pattern);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  const best = (count: number): number => Math.min(...[1, 2, 3, 4].map(() => time(count)));
  best(1000);
  expect(best(8000)).toBeLessThan(10 * best(2000) + 3000);
});
