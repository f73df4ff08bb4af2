import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FunctionRuntime, PreparedCall, RuntimeOptions } from '../../../src/runtime/call/runtime.ts';
import { compareText } from '../../../src/base/json.ts';
import { assertProperty } from '../../support/assert-property.ts';
import { testRuntime } from '../../support/test-runtime.ts';

const FILES = `class Person {
  name string
  age int?
}
client<llm> Own {
  provider openai-generic
  options {
    base_url env.URL
    api_key env.KEY
    model env.MODEL
    cache {
      ttl "10m"
    }
  }
}
client<llm> Other {
  provider openai-generic
  options {
    base_url env.URL
  }
}
client<llm> Both {
  provider fallback
  options {
    strategy [Own, Other]
  }
}
client<llm> Turns {
  provider round-robin
  options {
    strategy [Own, Other]
    cache {
      ttl env.TTL
    }
  }
}
function F(person: Person, tags: map<string, int>) -> string {
  client Own
  prompt #"{{ person }}{{ tags }}"#
}
function G(person: Person, tags: map<string, int>) -> string {
  client Both
  prompt #"{{ person }}{{ tags }}"#
}
function H() -> string {
  client Turns
  prompt #"x"#
}`;

const ENV = { URL: 'https://model.example/v1', KEY: 'k', MODEL: 'm', TTL: '1h' };
const ARGS = { person: { name: 'Ada', age: 36 }, tags: { a: 1, b: 2 } };

function runtimeOf(env: Readonly<Record<string, string>> = {}, options: Partial<RuntimeOptions> = {}): FunctionRuntime {
  return testRuntime(FILES, { ...ENV, ...env }, { cache: true, ...options });
}

function prepare(runtime: FunctionRuntime, body: object, functionName = 'F', local = false): PreparedCall {
  const prepared = runtime.prepare(functionName, body, { local });
  if (!prepared.ok) throw new Error(prepared.failure.message);
  return prepared.value;
}

function identity(body: object, runtime = runtimeOf(), functionName = 'F'): string | undefined {
  return runtime.identity(prepare(runtime, body, functionName));
}

function withOptions(options: object): object {
  return { ...ARGS, svc_options: options };
}

test('equal calls have the same identity, in whatever order their keys are', () => {
  const own = identity(ARGS);
  expect(own).toBeDefined();
  expect(identity({ tags: { b: 2, a: 1 }, person: { age: 36, name: 'Ada' } })).toBe(own);
  expect(identity(withOptions({}))).toBe(own);
  expect(identity(withOptions({ client: 'Own', tags: {}, cache: { ttl: '5m' }, include: [] }))).toBe(own);
});

/** Text that is equal for equal values, whatever the order of their keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null
      ? Object.entries(member)
          .toSorted(([a], [b]) => compareText(a, b))
          .flat()
      : member,
  );
}

test('different arguments have different identities', () => {
  const people = fc.record({ name: fc.string(), age: fc.option(fc.integer()) });
  const tags = fc.dictionary(fc.string(), fc.integer(), { maxKeys: 3 });
  // Bodies are parsed from JSON.
  const args = fc.record({ person: people, tags }).map((body) => JSON.parse(JSON.stringify(body)) as object);
  const runtime = runtimeOf();
  const property = fc.property(args, args, (one, other) => {
    const same = canonical(one) === canonical(other);
    expect(identity(one, runtime) === identity(other, runtime)).toBe(same);
  });
  assertProperty(property, { numRuns: 300 });
});

test.each([
  ['another client', withOptions({ client: 'Other' })],
  ['a fallback', withOptions({ client_registry: { fallback: ['Other'] } })],
  ['tags', withOptions({ tags: { team: 'a' } })],
  ['a route key', withOptions({ route_key: 'a' })],
  ['parts of the answer', withOptions({ include: ['usage'] })],
  ['another rule for losses', withOptions({ on_loss: 'refuse' })],
  ['other arguments', { ...ARGS, tags: {} }],
])('a call with %s has another identity', (_, body) => {
  const other = identity(body);
  expect(other).toBeDefined();
  expect(other).not.toBe(identity(ARGS));
});

test('functions, definitions and callers who can name private addresses have identities of their own', () => {
  const own = identity(ARGS);
  expect(identity(ARGS, runtimeOf(), 'G')).not.toBe(own);
  const changed = testRuntime(`${FILES}\nenum Added {\n  A\n}`, ENV, { cache: true });
  expect(identity(ARGS, changed)).not.toBe(own);
  expect(identity(ARGS, runtimeOf({}, { allowPrivateUrls: false }))).not.toBe(own);
});

test('the values of variables count, but not those of credentials', () => {
  const own = identity(ARGS);
  expect(identity(ARGS, runtimeOf({ MODEL: 'other' }))).not.toBe(own);
  expect(identity(ARGS, runtimeOf({ URL: 'https://other.example/v1' }))).not.toBe(own);
  expect(identity(ARGS, runtimeOf({ KEY: 'another key' }))).toBe(own);
  expect(own).not.toContain('another key');
  expect(identity(ARGS, runtimeOf({ UNRELATED: 'x' }))).toBe(own);
});

test.each([
  ['clients of its own', { client_registry: { clients: [{ name: 'Mine', provider: 'offline' }] } }],
  ['variables', { env: { OTHER: 'x' } }],
  ['a shorthand', { client: 'offline/x' }],
  ['a trace', { include: ['trace'] }],
])('a call with %s has no identity', (_, options) => {
  expect(identity(withOptions(options), runtimeOf({}, { traces: true }))).toBeUndefined();
});

test('the request decides how long its answer is kept, or else the client that it names', () => {
  const runtime = runtimeOf();
  const ttl = (body: object, functionName = 'F'): number | undefined => prepare(runtime, body, functionName).cacheTtlMs;
  expect(ttl(ARGS)).toBe(600_000);
  expect(ttl(withOptions({}))).toBe(600_000);
  expect(ttl(withOptions({ cache: { ttl: '30s' } }))).toBe(30_000);
  expect(ttl(withOptions({ cache: { ttl: '0' } }))).toBe(0);
  expect(ttl(withOptions({ client: 'Other' }))).toBeUndefined();
  // The members of a strategy do not decide.
  expect(ttl(ARGS, 'G')).toBeUndefined();
  expect(ttl(withOptions({ client: 'Own' }), 'G')).toBe(600_000);
  expect(ttl({}, 'H')).toBe(3_600_000);
});

test('without --cache, clients have no cache, and requests cannot ask for one', () => {
  const runtime = runtimeOf({}, { cache: false });
  expect(prepare(runtime, ARGS).cacheTtlMs).toBeUndefined();
  expect(prepare(runtime, withOptions({})).cacheTtlMs).toBeUndefined();
  const refused = runtime.prepare('F', withOptions({ cache: { ttl: '10m' } }), { local: false });
  const message = 'is disabled on this server: it needs --cache (SVC_CACHE)';
  expect(refused).toMatchObject({ ok: false, failure: { details: [{ path: 'svc_options.cache', message }] } });
});

test.each([
  ['10m', 'svc_options.cache', 'has to be an object'],
  [{}, 'svc_options.cache.ttl', 'has to be a duration with a unit'],
  [{ ttl: 600 }, 'svc_options.cache.ttl', 'has to be a duration with a unit'],
  [{ ttl: '25d' }, 'svc_options.cache.ttl', 'at most 24d'],
  [{ ttl: '1m', size: 1 }, 'svc_options.cache.size', 'is unknown; allowed: ttl'],
])('the option cache cannot be %j', (cache, path, message) => {
  const refused = runtimeOf().prepare('F', withOptions({ cache }), { local: false });
  const details = expect.arrayContaining([{ path, message: expect.stringContaining(message) as string }]) as unknown;
  expect(refused).toMatchObject({ ok: false, failure: { code: 'invalid_options', details } });
});

test('the example of docs/clients.md keeps answers for ten minutes', () => {
  const page = readFileSync(new URL('../../../docs/clients.md', import.meta.url), 'utf8');
  const [, client = ''] = /## Cache\n[^]*?```svc\n([^]*?)```/u.exec(page) ?? [];
  const files = `${client}\nfunction F() -> string {\n  client Cached\n  prompt #"x"#\n}`;
  const runtime = testRuntime(files, { OPENAI_API_KEY: 'k' }, { cache: true });
  expect(prepare(runtime, {}).cacheTtlMs).toBe(600_000);
});
