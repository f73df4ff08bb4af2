import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertProperty } from '../../support/assert-property.ts';
import { compileCondition } from '../../../src/runtime/prompt/compile-condition.ts';
import type { Constraint } from '../../../src/schema/constraint.ts';
import { indexDefinitions } from '../../../src/schema/program.ts';
import { definitionsOf } from '../../support/definitions.ts';
import { extensionOf, faultsOf } from './types-of-requests.ts';

const builder = (pattern: string): object => ({
  json_schema: { Person: { properties: { x: { type: 'string', pattern } }, required: ['x'] } },
});

const NO_DEFINITIONS = indexDefinitions(definitionsOf({}));

/** Reports whether the assert for a pattern holds. */
function matcherOf(pattern: string): (text: string) => unknown {
  const type = extensionOf(builder(pattern)).classes[0]?.fields[0]?.type;
  const constraint = (type as { readonly constraints?: readonly Constraint[] } | undefined)?.constraints?.[0];
  if (constraint === undefined) throw new Error(`no assert for ${pattern}`);
  const holds = compileCondition(constraint.expression, { type: { kind: 'string' }, definitions: NO_DEFINITIONS });
  return (text) => {
    const result = holds(text);
    return result.ok ? result.value : result.failure;
  };
}

const TEXTS = [
  ...`a A ab abc aab b 1 12 123-456 ٣ é a-b a.b a..b .a {{ }} {2} " ' / https://x #" "# %} {% [ ] ^ $ | && a&b ~ - _ 😀 日本 K`.split(
    ' ',
  ),
  '',
  'e\u0301',
  '\u00a0',
  '\ufeff',
  ' ',
  '\n',
  '\r',
  'a\nb',
  'a\u2028b',
  '\\',
  '\u{1d7ce}',
  '\0',
  '\b',
  '\u212a',
];

const PATTERNS = String.raw`
  ^$ ^a b$ ^.$ ^[^]$ ^.+$ \d \D ^\w$ ^\W$ \s ^\S$ [\d-] [^\w] [\s\S] [a-c] [^a-c] [-a] [a-] [+\-.] [\b] [[]
  [\]] [\^a] [a&&b] [~~] [--/] [#"{}] ^a{2} a{2,} ^(?:a|b){1,2}?$ (?<x>a)(b)? a|b| \{\{ \}\} " \" ' \\ \/
  https?:\/\/ #" "# %\} \{% \u00e9 \xe9 \u{1F600} \ud83d\ude00 [\ud83d\ude00-\ud83d\ude01] ^.$ \p{L} \P{L}
  [\p{Lu}_] \p{Script=Han} \0 \n [\n\r] \$ \^ \| \. \[ \] \- ^(?=.*b)a ^(?!a) ^(?!a|b)(?=.).*$
  ^(?!\.)(?!.*\.\.).+$ a{ } ] x{1 K ~ && % \@
`;

test.each(['', ...PATTERNS.trim().split(/\s+/u)])(
  'the pattern %j matches the same strings as in JavaScript',
  (pattern) => {
    const matches = matcherOf(pattern);
    let regex: RegExp;
    try {
      regex = new RegExp(pattern, 'u');
    } catch {
      regex = new RegExp(pattern);
    }
    for (const text of TEXTS) expect([text, matches(text)]).toEqual([text, regex.test(text)]);
  },
);

const ATOMS = fc.constantFrom(
  ...'a b . \\d \\w \\s \\S [ab] [^a-c] [\\d_-] \\. \\u00e9 é (a|b) (?:ab) ^ $ | [}"]'.split(' '),
);
const COUNTS = fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{1,3}', '*?');

test('random patterns match the same strings as in JavaScript', () => {
  const patterns = fc
    .array(fc.tuple(ATOMS, COUNTS), { minLength: 1, maxLength: 6 })
    .map((parts) => parts.map(([atom, count]) => (/^[$^|]$/u.test(atom) ? atom : atom + count)).join(''));
  assertProperty(
    fc.property(patterns, fc.array(fc.constantFrom(...'aab.1é_ "}-\n'), { maxLength: 8 }), (pattern, characters) => {
      const text = characters.join('');
      expect(matcherOf(pattern)(text)).toBe(new RegExp(pattern, 'u').test(text));
    }),
  );
});

test('no pattern makes the compiler throw', () => {
  assertProperty(
    fc.property(fc.string({ unit: 'binary', maxLength: 30 }), (pattern) => {
      for (const { path } of faultsOf(builder(pattern))) expect(path).toBe('json_schema.Person.properties.x.pattern');
    }),
  );
});
