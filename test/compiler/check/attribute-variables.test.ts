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

test('an attribute takes its text from the environment', () => {
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

test('a variable that is not set, or empty, is a warning, and the attribute is as if it were not there', () => {
  const { definitions, diagnostics } = withVariables({ FIRST: '', SECOND: 'two', CLASS: 'Thing', WORDS: 'x' });
  expect(diagnostics.map(({ code, severity }) => `${severity} ${code}`)).toEqual([
    'warning check/attribute-env',
    'warning check/attribute-env',
  ]);
  expect(definitions?.classes[0]?.fields[0]).not.toHaveProperty('alias');
});

test('names that only the environment makes equal collide', () => {
  const { diagnostics } = withVariables({ FIRST: 'same', SECOND: 'same', CLASS: 'Thing', WORDS: 'x' });
  expect(diagnostics.map(({ code }) => code)).toEqual(['check/alias-collision']);
});
