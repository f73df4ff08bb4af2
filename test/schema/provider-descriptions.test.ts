import { KNOWS_STREAM_USAGE } from '../../src/schema/providers/openai.ts';
import { expect, test } from 'vitest';
import { COMMON_OPTIONS } from '../../src/schema/providers/common-options.ts';
import {
  readValue,
  UNKNOWN_TEXT,
  type OptionData,
  type OptionViolation,
} from '../../src/schema/providers/option-shapes.ts';
import { readOptions } from '../../src/schema/providers/provider-description.ts';
import { PROVIDER_DESCRIPTIONS, providerNamed, PROVIDERS } from '../../src/schema/providers/providers.ts';

test.each(PROVIDERS)('%s: every rule is about options that exist', (name) => {
  const { options, rules } = PROVIDER_DESCRIPTIONS[name];
  const named = rules.flatMap((rule) => {
    if (rule.kind === 'requires') return rule.alternatives.flat();
    if (rule.kind === 'refuses') return [];
    return rule.kind === 'excludes' ? rule.options : [rule.option, rule.list];
  });
  expect(Object.keys(options)).toEqual(expect.arrayContaining([...named]));
});

test.each(PROVIDERS)('%s: every default has the shape of its option', (name) => {
  for (const [key, { shape, default: fallback }] of Object.entries(PROVIDER_DESCRIPTIONS[name].options)) {
    const found: OptionViolation[] = [];
    if (fallback !== undefined) readValue(shape, fallback, [key], found);
    expect(found).toEqual([]);
  }
});

test.each(PROVIDERS)('%s: the description is frozen, and its older name leads to it', (name) => {
  const description = PROVIDER_DESCRIPTIONS[name];
  expect(Object.isFrozen(description) && Object.values(description.options).every(Object.isFrozen)).toBe(true);
  expect(providerNamed(name)).toBe(name);
  if (description.legacyName !== undefined) expect(providerNamed(description.legacyName)).toBe(name);
});

test('all providers over HTTP have the common options', () => {
  const overHttp = PROVIDERS.filter((name) => PROVIDER_DESCRIPTIONS[name].http !== undefined);
  expect(overHttp).toHaveLength(10);
  for (const name of overHttp) {
    expect(Object.keys(PROVIDER_DESCRIPTIONS[name].options)).toEqual(
      expect.arrayContaining(['model', ...Object.keys(COMMON_OPTIONS)]),
    );
  }
});

/** For every shape that accepts a string, at least one that it accepts. */
const STRINGS = [
  '',
  'a',
  '5',
  '404',
  'true',
  'all',
  'auto',
  'report',
  'off',
  'openai',
  'eu-west-1',
  'https://host',
  '{"type": "service_account"}',
];

function violationsOf(name: (typeof PROVIDERS)[number], key: string, value: OptionData): readonly OptionViolation[] {
  const { violations } = readOptions(PROVIDER_DESCRIPTIONS[name], new Map([[key, value]]));
  return violations.filter(({ kind, path }) => path[0] === key && kind !== 'missing');
}

test.each(PROVIDERS)('%s: an unknown string fits where the runtime accepts some string, and nowhere else', (name) => {
  for (const key of Object.keys(PROVIDER_DESCRIPTIONS[name].options)) {
    const isPossible = STRINGS.some((text) => violationsOf(name, key, text).length === 0);
    expect([key, violationsOf(name, key, UNKNOWN_TEXT).length === 0]).toEqual([key, isPossible]);
  }
});

test('the checker assumes that variables which complete options are set', () => {
  const options = new Map([['model', 'm']]);
  expect(readOptions(PROVIDER_DESCRIPTIONS['aws-bedrock'], options).violations).toEqual([]);
  const unset = readOptions(PROVIDER_DESCRIPTIONS['aws-bedrock'], options, () => undefined);
  expect(unset.violations).toMatchObject([{ kind: 'missing', path: ['region'] }]);
  const wrong = readOptions(PROVIDER_DESCRIPTIONS['aws-bedrock'], options, () => 'EU WEST');
  expect(wrong.violations).toMatchObject([{ kind: 'value', path: ['region'] }]);
});

test('null is the same as an absent option', () => {
  const { values, violations } = readOptions(PROVIDER_DESCRIPTIONS.offline, new Map([['chunk_size', null]]));
  expect(violations).toEqual([]);
  expect(values).toMatchObject({ chunk_size: 16 });
});

test.each([
  ['https://api.groq.com/openai/v1', true],
  ['https://api.deepseek.com', true],
  ['https://dashscope-intl.aliyuncs.com/compatible-mode/v1', true],
  ['https://api.groq.com.example.org/v1', false],
  ['http://localhost:8000/v1', false],
])('the usage of streams from %s is asked for: %s', (url, isAsked) => {
  expect(KNOWS_STREAM_USAGE.test(`${url}/`)).toBe(isAsked);
});
