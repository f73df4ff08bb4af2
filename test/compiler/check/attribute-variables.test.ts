import { expect, test } from 'vitest';
import { checkText, OPTIONS } from './sample-files.ts';

const TEXT = `class A {
  first string @alias(env.FIRST) @description(env.WORDS)
  second string @alias(env.SECOND)
  @@alias(env.CLASS)
}
enum E {
  V @alias(env.FIRST)
}
`;
const withVariables = (variables: Readonly<Record<string, string>>) => checkText(TEXT, { ...OPTIONS, variables });

test('attributes read environment variables', () => {
  const { definitions, diagnostics } = withVariables({
    FIRST: 'one',
    SECOND: 'two',
    CLASS: 'Thing',
    WORDS: 'first of all',
  });
  expect(diagnostics).toEqual([]);
  expect(definitions?.classes[0]).toMatchObject({
    alias: 'Thing',
    fields: [
      { name: 'first', alias: 'one', description: 'first of all' },
      { name: 'second', alias: 'two' },
    ],
  });
  expect(definitions?.enums[0]?.values).toMatchObject([{ name: 'V', alias: 'one' }]);
});

test('an unset or empty variable is a warning, and the attribute has no effect', () => {
  const { definitions, diagnostics } = withVariables({ FIRST: '', SECOND: 'two', CLASS: 'Thing', WORDS: 'x' });
  expect(diagnostics.map(({ code, severity }) => `${severity} ${code}`)).toEqual([
    'warning check/attribute-env',
    'warning check/attribute-env',
  ]);
  expect(definitions?.classes[0]?.fields[0]).not.toHaveProperty('alias');
});

test('aliases that are equal only through the environment collide', () => {
  const { diagnostics } = withVariables({ FIRST: 'same', SECOND: 'same', CLASS: 'Thing', WORDS: 'x' });
  expect(diagnostics.map(({ code }) => code)).toEqual(['check/alias-collision']);
});
