import { createRequire } from 'node:module';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stepGrowth } from '../../support/count-steps.ts';
import { assertProperty } from '../../support/assert-property.ts';
import { matchesPattern } from '../../../src/runtime/prompt/builtins/match-pattern.ts';
import { Rendering } from '../../../src/runtime/prompt/rendering.ts';

function matches(text: string, pattern: string): boolean | string {
  try {
    return matchesPattern(text, pattern, new Rendering('', () => undefined));
  } catch (error) {
    return error instanceof Error ? error.message : 'no error';
  }
}

function loadedFiles(): readonly string[] {
  return Object.keys(createRequire(import.meta.url).cache).filter((path) => path.includes('re2js'));
}

test('the engine is loaded by the first pattern', () => {
  const before = loadedFiles();
  expect(matches('abc', 'b')).toBe(true);
  expect({ before, after: loadedFiles().length }).toEqual({ before: [], after: 1 });
});

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

test.each(PATTERNS)("/%s/ matches what JavaScript's engine matches", (pattern) => {
  for (const text of TEXTS)
    expect(matches(text, pattern), JSON.stringify(text)).toBe(new RegExp(pattern, 'u').test(text));
});

test("composed patterns match what JavaScript's engine matches", () => {
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
  ['un café.', '\\bcafé\\b', true],
  ['cafés', '\\bcafé\\b', false],
  ['cafés', '\\bcafé\\B', true],
  ['l’été\nà', '(?m)^\\bà\\b$', true],
  ['l’été\nà', '^\\bà\\b', false],
  ['é', '(?i:\\bÉ\\b)', true],
  ['été', '^[^\\W\\d_]+$', true],
  ['ét_', '^[^\\W\\d_]+$', false],
  ['aaaaaa', '^a{2}{3}$', true],
  ['abab', '^(?:ab)+*$', true],
  ['a', '^\\p{Letter}\\p{Script=Greek}?$', true],
  ['é', '[\\P{ASCII}]', true],
  ['x😀', '^x\\u{1F600}$', true],
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

test.each([
  ['a'.repeat(20_000), 'too large'],
  ['\\w'.repeat(1000), 'too large'],
  ['(?:[ab]?){1000}'.repeat(10), 'too large'],
  ['(a{40}){40}', 'too large'],
  ['a{1001}', 'too large'],
  ['(?x)a', 'a flag'],
])('a pattern that costs too much to compile, or has another meaning in RE2, is refused', (pattern, reason) => {
  expect(matches('a', pattern)).toContain(reason);
});

/** Counts the work that a rendering is charged. */
class CountingRendering extends Rendering {
  units = 0;

  override spend(units: number): void {
    this.units += units;
    super.spend(units);
  }
}

test.each<readonly [string, string]>([
  ['(a+)+$', 'a'],
  ['(a|a)*b', 'a'],
  ['(a|aa)+b', 'a'],
  ['(.*)*x', 'a'],
  ['^(a?){20}a{20}b', 'a'],
  ['(\\w+\\s*)+:', 'a '],
  ['\\bé+\\b', 'é '],
])('/%s/ takes steps in proportion to the string, and is charged for them', (pattern, piece) => {
  const growth = stepGrowth(1000, (count) => {
    const text = piece.repeat(count);
    return () => matches(text, pattern);
  });
  expect(growth.factor).toBeLessThan(2.2);
  const work = (count: number): number => {
    const run = new CountingRendering('', () => undefined);
    matchesPattern(piece.repeat(count), pattern, run);
    return run.units;
  };
  work(1);
  expect(work(4000) / work(1000)).toBeCloseTo(4, 1);
});

test('a template cannot compile a new pattern in every round of a loop', () => {
  const run = new CountingRendering('', () => undefined);
  let rounds = 0;
  const compileMany = (): void => {
    for (; rounds < 10_000; rounds += 1) matchesPattern('a', `\\w{100}${rounds}`, run);
  };
  expect(compileMany).toThrow('too many steps');
  expect(rounds).toBeLessThan(200);
});
