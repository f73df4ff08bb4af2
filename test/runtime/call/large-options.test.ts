import { afterAll, expect, test } from 'vitest';
import { countSteps } from '../../support/count-steps.ts';
import { testRuntime } from '../../support/test-runtime.ts';

const runtime = testRuntime('function F() -> string {\n  client "offline/x"\n  prompt #"hi"#\n}\n');

afterAll(() => runtime.close());

const MORE = 'and more: these are the first 100';

interface Refusal {
  readonly faults: readonly string[];
  readonly steps: number;
}

function refusal(options: unknown): Refusal {
  let prepared: ReturnType<typeof runtime.prepare> | undefined;
  const steps = countSteps(() => {
    prepared = runtime.prepare('F', { svc_options: options }, { local: false });
  });
  if (prepared === undefined || prepared.ok || prepared.failure.code !== 'invalid_options')
    throw new Error('should be refused');
  return { faults: prepared.failure.details.map((fault) => `${fault.path}: ${fault.message}`), steps };
}

function clients(...list: readonly object[]): object {
  return { client_registry: { clients: list } };
}

function numbers(count: number): Readonly<Record<string, number>> {
  return Object.fromEntries(Array.from({ length: count }, (_, at) => [`key${at}`, at]));
}

const PLACES = ['headers', 'http', 'query_params', 'media_url_handler', 'remap_roles'];

test.each<[string, object, string]>([
  ['unknown members', numbers(200_000), 'svc_options'],
  ['variables that are not strings', { env: numbers(200_000) }, 'svc_options.env'],
  [
    'unknown members of a client',
    clients({ name: 'A', provider: 'openai', ...numbers(200_000) }),
    'svc_options.client_registry.clients[0]',
  ],
  ...PLACES.map((place): [string, object, string] => [
    `wrong entries of ${place}`,
    clients({ name: 'A', provider: 'openai', options: { [place]: numbers(200_000) } }),
    `svc_options.client_registry.clients[0].options.${place}`,
  ]),
])('svc does not go through 200,000 entries: %s', (_what, options, path) => {
  const { faults, steps } = refusal(options);
  expect(faults).toEqual([`${path}: has more than 100 entries`]);
  // One pass of a built-in function counts them.
  expect(steps).toBeLessThan(250_000);
});

test('svc lists a hundred faults of all clients together', () => {
  const options = { headers: numbers(90) };
  const { faults } = refusal(
    clients(...Array.from({ length: 100 }, (_, at) => ({ name: `C${at}`, provider: 'openai', options }))),
  );
  expect(faults).toHaveLength(101);
  expect(faults.at(-1)).toBe(`: ${MORE}`);
});

function strategy(name: string, members: readonly string[]): object {
  return { name, provider: 'fallback', options: { strategy: members } };
}

test('a strategy with too many members is refused at its path', () => {
  const { faults, steps } = refusal(
    clients(...Array.from({ length: 100 }, (_, at) => strategy(`C${at}`, Array<string>(20_000).fill(`C${at + 1}`)))),
  );
  expect(faults[0]).toBe('svc_options.client_registry.clients[0].options.strategy: has more than 100 entries');
  expect(steps).toBeLessThan(100_000);
});

test('long names cost no more steps than short ones', () => {
  const name = 'x'.repeat(5_000);
  const { faults, steps } = refusal({
    client_registry: { primary: `${name}y`, clients: [{ name, provider: 'offline' }, strategy('List', [`z${name}`])] },
  });
  expect(faults).toHaveLength(2);
  expect(steps).toBeLessThan(100_000);
});
