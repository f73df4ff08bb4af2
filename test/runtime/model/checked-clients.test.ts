import * as fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { type JsonValue, isJsonObject } from '../../../src/base/json.ts';
import type { Diagnostic } from '../../../src/diagnostics/diagnostic.ts';
import { createModelClient } from '../../../src/runtime/model/create-model-client.ts';
import { Planner } from '../../../src/runtime/model/strategies/client-plan.ts';
import {
  isStrategy,
  PROVIDER_DESCRIPTIONS,
  PROVIDERS,
  type Provider,
} from '../../../src/schema/providers/providers.ts';
import type { Violation } from '../../../src/schema/violation.ts';
import { checkText } from '../../compiler/check/sample-files.ts';
import { clientDefinition, testServices } from '../../support/ask-client.ts';
import { assertProperty } from '../../support/assert-property.ts';

const services = testServices();

afterAll(() => services.pools.close());

/** Values that are right for some options and wrong for most. */
const TEXTS = ['', 'a', 'a b', 'a.b', 'EU WEST', 'nonsense', 'https://host/v1', 'http://me:secret@host', 'user', 'all'];
const MORE_TEXTS = ['send_url', 'anthropic', 'true', '5', 'openai/a', 'one\ntwo', 'é☃'];
const NUMBERS = [-1, 0, 1, 1.5, 16, 404, 600];
const KEYS = [
  'a',
  'x-title',
  'a b',
  'Host',
  'image',
  'idle_timeout_ms',
  'total_timeout_ms',
  'enable_connection_pooling',
  'propagate_trace',
  'version',
];

const scalar = fc.constantFrom<JsonValue>(...TEXTS, ...MORE_TEXTS, ...NUMBERS, true, false, null);

const value: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 3, arbitrary: scalar },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 3 }) },
  { weight: 1, arbitrary: fc.dictionary(fc.constantFrom(...KEYS), scalar, { maxKeys: 3 }) },
);

interface Written {
  readonly provider: Provider;
  readonly options: Readonly<Record<string, JsonValue>>;
}

const client: fc.Arbitrary<Written> = fc.constantFrom(...PROVIDERS).chain((provider) => {
  const known = Object.keys(PROVIDER_DESCRIPTIONS[provider].options);
  const needed: Readonly<Record<string, JsonValue>> = isStrategy(provider)
    ? { strategy: ['openai/a'] }
    : { model: 'm' };
  const given = fc.dictionary(fc.constantFrom(...known, 'temperature'), value, { maxKeys: 5 });
  return fc.tuple(given, fc.boolean()).map(([options, complete]) => ({
    provider,
    options: complete ? { ...needed, ...options } : options,
  }));
});

/** The client as a definition file. */
function sourceOf({ provider, options }: Written): string {
  return `client<llm> Tested {\n  provider ${provider}\n  options ${written(options)}\n}\n`;
}

function written(json: JsonValue): string {
  if (typeof json === 'string') return `"${json.replaceAll('\n', String.raw`\n`)}"`;
  if (Array.isArray(json)) return `[${json.map(written).join(', ')}]`;
  if (!isJsonObject(json)) return JSON.stringify(json);
  return `{\n${Object.entries(json)
    .map(([key, member]) => `"${key}" ${written(member)}\n`)
    .join('')}}`;
}

/** Every key is set, so that only options can be wrong. */
const ENVIRONMENT = {
  server: Object.fromEntries([
    ['AWS_REGION', 'eu-west-1'],
    ...PROVIDERS.map((name) => [PROVIDER_DESCRIPTIONS[name].http?.keyVariable ?? 'NONE', 'key']),
  ]) as Readonly<Record<string, string>>,
};

/** The reason why the runtime refuses a client; for a strategy, the first reason. */
function violationsAtRunTime({ provider, options }: Written): readonly Violation[] {
  const definition = clientDefinition(provider, options);
  if (!isStrategy(provider)) {
    const created = createModelClient(
      { definition, from: 'files' },
      { environment: ENVIRONMENT, privateUrls: true },
      services,
    );
    return !created.ok && created.failure.code === 'invalid_options' ? created.failure.details : [];
  }
  const planner = new Planner({
    find: (name) => (name === 'Tested' ? { definition, from: 'files' } : undefined),
    names: () => [],
    shorthands: new Set(),
    policy: () => undefined,
    environment: ENVIRONMENT,
  });
  const plan = planner.plan('Tested');
  return plan.ok ? [] : [plan.failure];
}

/** The errors, and the warnings that calls with the client fail. */
function refusalsInCheck(each: Written): readonly Diagnostic[] {
  const needsModel = !('expectsModel' in PROVIDER_DESCRIPTIONS[each.provider]);
  return checkText(sourceOf(each)).diagnostics.filter(
    ({ severity, code }) =>
      severity === 'error' || code === 'check/unusable-option' || (code === 'check/no-model' && needsModel),
  );
}

test('without values of the environment, check reports what the runtime refuses, and nothing else', () => {
  const seen = { clients: 0, refused: 0 };
  assertProperty(
    fc.property(client, (each) => {
      const violations = violationsAtRunTime(each);
      const errors = refusalsInCheck(each);
      seen.clients += 1;
      seen.refused += violations.length > 0 ? 1 : 0;
      if (isStrategy(each.provider)) expect(errors.length > 0).toBe(violations.length > 0);
      else expect(errors).toHaveLength(violations.length);
    }),
    { numRuns: 500 },
  );
  // Clients of one kind only would prove nothing.
  expect(seen.refused / seen.clients).toBeGreaterThan(0.2);
  expect(seen.refused / seen.clients).toBeLessThan(0.95);
});

const WRONG_VALUE = new Set(['check/option-value', 'check/unusable-option']);

test('check reports each wrong value with its name and the message of the runtime', () => {
  assertProperty(
    fc.property(
      client.filter(({ provider }) => !isStrategy(provider)),
      (each) => {
        const messages = refusalsInCheck(each).filter(({ code }) => WRONG_VALUE.has(code));
        const expected = violationsAtRunTime(each);
        for (const { message } of messages) {
          const [, name = '', problem = ''] = /^"(.*?)" (.*)\.$/su.exec(message) ?? [];
          const paths = expected.filter((violation) => violation.message === problem).map(({ path }) => path);
          expect(
            paths.some((path) => path.endsWith(`.${name}`)),
            `${message} of ${paths.join()}`,
          ).toBe(true);
        }
      },
    ),
    { numRuns: 500 },
  );
});
