import { expect, test } from 'vitest';
import type { FunctionRuntime } from '../../../src/runtime/call/runtime.ts';
import { SSE_HEADERS, chatEvent, raw, reply, status } from '../../support/fake-provider.ts';
import { sleep, type Behaviour } from '../../support/fake-wire.ts';
import { chunk, head } from '../../support/http1-connection.ts';
import { waitUntil } from '../../support/load.ts';
import { runOnOwnClock } from '../../support/own-clock.ts';
import { startProviderSuite } from '../../support/provider-suite.ts';
import { callContext, callFunction, streamFunction, testRuntime, valueOf } from '../../support/test-runtime.ts';

const { fake, open } = await startProviderSuite(reply('{"n": 1}'));
runOnOwnClock(() => fake.traffic);

const POLICIES = `
retry_policy Twice { 
  max_retries 2
  strategy {
    type constant_delay
    delay_ms 30
  }
}
retry_policy Growing { 
  max_retries 3
  strategy {
    type exponential_backoff
    delay_ms 20
    multiplier 2
    max_delay_ms 60
  }
}
`;

/** A function `F` that returns `{n int}` through the client `Top`. */
function program(clients: string, env: Readonly<Record<string, string>> = {}): FunctionRuntime {
  const runtime = testRuntime(
    `${POLICIES}${clients}
class N {
  n int
}
function F() -> N {
  client Top
  prompt #"{{ ctx.client.name }}"#
}`,
    { URL: fake.url, ...env },
  );
  open.push(runtime);
  return runtime;
}

function generic(name: string, more = ''): string {
  return `client<llm> ${name} {\n  provider openai-generic\n  ${more}\n  options {\n    model "${name}"\n    base_url env.URL\n  }\n}\n`;
}

function models(): readonly unknown[] {
  return fake.requests.map((request) => (request.json as { readonly model?: unknown }).model);
}

function waits(): readonly number[] {
  return fake.requests.slice(1).map((request, index) => request.at - (fake.requests[index]?.at ?? 0));
}

const no = status(500, { error: { message: 'no' } });

test('a constant policy waits before each retry', async () => {
  fake.script(no, no);
  const { result, report } = await callFunction(program(generic('Top', 'retry_policy Twice')), 'F', {});
  expect(result.ok && result.value.json).toBe('{"n":1}');
  expect(report.attempts.map((attempt) => attempt.outcome)).toEqual(['client_error', 'client_error', 'ok']);
  for (const wait of waits()) expect(wait).toBeGreaterThanOrEqual(30);
});

test('an exponential policy multiplies even its first wait, and shortens each wait by at most a tenth', async () => {
  fake.script(no, no, no);
  await callFunction(program(generic('Top', 'retry_policy Growing')), 'F', {});
  const [first = 0, second = 0, third = 0] = waits();
  expect(first).toBeGreaterThanOrEqual(35);
  expect(second).toBeGreaterThanOrEqual(53);
  expect(third).toBeGreaterThanOrEqual(53);
});

test('a policy with its own statuses retries only these', async () => {
  const listing = `retry_policy Listed {\n  max_retries 1\n  statuses [404]\n  strategy {\n    type constant_delay\n    delay_ms 1\n  }\n}\n`;
  const runtime = program(listing + generic('Top', 'retry_policy Listed'));
  fake.script(status(404, {}));
  expect(valueOf(await callFunction(runtime, 'F', {}))).toEqual({ n: 1 });
  expect(fake.requests).toHaveLength(2);
  fake.script(no);
  expect(valueOf(await callFunction(runtime, 'F', {}))).toBe('client_error');
  expect(fake.requests).toHaveLength(3);
});

test.each([400, 401, 403, 404, 422])('status %d is not retried', async (code) => {
  fake.script(status(code, {}));
  const { result } = await callFunction(program(generic('Top', 'retry_policy Twice')), 'F', {});
  expect(result).toMatchObject({ ok: false, failure: { code: 'client_error', upstreamStatus: code } });
  expect(fake.requests).toHaveLength(1);
});

test.each([408, 409, 425, 429, 500, 502, 529])('status %d is retried', async (code) => {
  fake.script(status(code, {}));
  expect(valueOf(await callFunction(program(generic('Top', 'retry_policy Twice')), 'F', {}))).toEqual({ n: 1 });
  expect(fake.requests).toHaveLength(2);
});

test('the failure of an exhausted policy lists every attempt', async () => {
  fake.answer(no);
  const { result } = await callFunction(program(generic('Top', 'retry_policy Twice')), 'F', {});
  expect(result).toMatchObject({
    ok: false,
    failure: {
      code: 'client_error',
      upstreamStatus: 500,
      message: 'The client "Top" answered 500: no (3 attempts: "Top" 500, "Top" 500, "Top" 500)',
      attempts: [{ upstreamStatus: 500 }, { upstreamStatus: 500 }, { upstreamStatus: 500 }],
    },
  });
});

test('retry-after makes the wait longer', async () => {
  fake.script(status(429, {}, { 'retry-after': '0.2' }));
  await callFunction(program(generic('Top', 'retry_policy Twice')), 'F', {});
  expect(waits()[0]).toBeGreaterThanOrEqual(200);
});

test('a retry-after beyond the deadline ends the call at once', async () => {
  fake.script(status(429, {}, { 'retry-after': '3600' }));
  const context = callContext(1_800_000);
  const { result } = await callFunction(program(generic('Top', 'retry_policy Twice')), 'F', {}, context);
  expect(result).toMatchObject({ ok: false, failure: { upstreamStatus: 429 } });
});

test('a cancellation during a wait ends the call, and nothing more is sent', async () => {
  fake.script(status(429, {}, { 'retry-after': '60' }));
  const context = callContext();
  const run = callFunction(program(generic('Top', 'retry_policy Twice')), 'F', {}, context);
  await waitUntil('the first request', () => fake.requests.length === 1);
  await sleep(60);
  context.cancellation.cancel('left');
  await run;
  expect(fake.requests).toHaveLength(1);
});

const breaksMidway: Behaviour = async (_request, wire) => {
  wire.write(head(200, SSE_HEADERS));
  wire.write(chunk(chatEvent({ content: '{"n": 7, "x": "' })));
  await sleep(30);
  wire.reset();
};

test('a stream that breaks midway reports a reset, and its partials start again', async () => {
  fake.script(breaksMidway);
  const { outcome, events } = await streamFunction(program(generic('Top', 'retry_policy Twice')), 'F', {});
  expect(valueOf(outcome)).toEqual({ n: 1 });
  const at = events.findIndex((event) => event.startsWith('reset: '));
  expect(at).toBeGreaterThan(0);
  expect(events.slice(0, at)).toContain('{"n":7}');
  expect(events.slice(at + 1)).not.toContain('{"n":7}');
  expect(events.at(-1)).toBe('{"n":1}');
});

test('a failed attempt without text causes no reset', async () => {
  fake.script(no);
  const { events } = await streamFunction(program(generic('Top', 'retry_policy Twice')), 'F', {});
  expect(events.some((event) => event.startsWith('reset'))).toBe(false);
});

const FALLBACK = (members: string, more = ''): string =>
  `client<llm> Top {\n  provider fallback\n  ${more}\n  options {\n    strategy [${members}]\n  }\n}\n`;

test.each<[string, Behaviour]>([
  ['a status', status(401, {})],
  ['a broken connection', raw('')],
  ['a reply that does not match', reply('nothing')],
])('fallback: %s leads to the next member', async (_name, behaviour) => {
  fake.script(async (request, wire) => {
    await behaviour(request, wire);
    if (_name === 'a broken connection') wire.reset();
  });
  const runtime = program(FALLBACK('A, B') + generic('A') + generic('B'));
  const { result, report } = await callFunction(runtime, 'F', {});
  expect(result.ok).toBe(true);
  expect(models()).toEqual(['A', 'B']);
  expect(report.attempts.map((attempt) => attempt.client)).toEqual(['A', 'B']);
  expect(report.client).toBe('B');
});

test('fallback: a member whose key is missing leads to the next', async () => {
  const keyed = 'client<llm> A {\n  provider openai\n  options {\n    model "A"\n    api_key env.NOT_SET\n  }\n}\n';
  const { result, report } = await callFunction(program(FALLBACK('A, B') + keyed + generic('B')), 'F', {});
  expect(result.ok).toBe(true);
  expect(report.attempts.map((attempt) => attempt.outcome)).toEqual(['missing_credential', 'ok']);
});

test('fallback: the failure of an exhausted list names every member', async () => {
  fake.script(status(401, {}), status(503, { error: { message: 'busy' } }));
  const { result } = await callFunction(program(FALLBACK('A, B') + generic('A') + generic('B')), 'F', {});
  expect(result).toMatchObject({
    ok: false,
    failure: {
      code: 'client_error',
      client: 'B',
      upstreamStatus: 503,
      attempts: [
        { client: 'A', upstreamStatus: 401 },
        { client: 'B', upstreamStatus: 503 },
      ],
    },
  });
});

test('fallback: a policy of the list repeats the whole list', async () => {
  fake.script(no, no, no);
  const runtime = program(FALLBACK('A, B', 'retry_policy Twice') + generic('A') + generic('B'));
  expect(valueOf(await callFunction(runtime, 'F', {}))).toEqual({ n: 1 });
  expect(models()).toEqual(['A', 'B', 'A', 'B']);
});

test('fallback: total_timeout_ms limits all members together', async () => {
  fake.answer(reply('{"n": 1}', { latencyMs: 600_000 }));
  const top =
    'client<llm> Top {\n  provider fallback\n  options {\n    strategy [A, B]\n    http {\n      total_timeout_ms 1000\n    }\n  }\n}\n';
  const { result } = await callFunction(program(top + generic('A') + generic('B')), 'F', {});
  expect(result).toMatchObject({ ok: false, failure: { code: 'timeout', timer: 'total' } });
  expect(models()).toEqual(['A']);
});

test('fallback: a stream that breaks in the first member is reset and continues with the second', async () => {
  fake.script(breaksMidway);
  const runtime = program(FALLBACK('A, B') + generic('A') + generic('B'));
  const { outcome, events } = await streamFunction(runtime, 'F', {});
  expect(valueOf(outcome)).toEqual({ n: 1 });
  expect(events.filter((event) => event.startsWith('reset'))).toHaveLength(1);
});

const ROBIN = (more = '', option = ''): string =>
  `client<llm> Top {\n  provider round-robin\n  ${more}\n  options {\n    strategy [A, B, C]\n    ${option}\n  }\n}\n`;
const THREE = generic('A') + generic('B') + generic('C');

test('round-robin: members take turns, beginning with start, without failover', async () => {
  const runtime = program(ROBIN('', 'start 1') + THREE);
  for (let call = 0; call < 4; call += 1) await callFunction(runtime, 'F', {});
  expect(models()).toEqual(['B', 'C', 'A', 'B']);
  fake.script(no);
  expect(valueOf(await callFunction(runtime, 'F', {}))).toBe('client_error');
});

test('round-robin: a retry goes to the next member', async () => {
  fake.script(no);
  expect(valueOf(await callFunction(program(ROBIN('retry_policy Twice') + THREE), 'F', {}))).toEqual({ n: 1 });
  expect(models()).toEqual(['A', 'B']);
});

test('round-robin: all processes can share one counter of turns', async () => {
  let turn = 5;
  const runtime = testRuntime(
    `${ROBIN()}${THREE}function F() -> string {\n  client Top\n  prompt #"x"#\n}`,
    { URL: fake.url },
    {
      roundRobinTurn: () => {
        turn += 1;
        return Promise.resolve(turn);
      },
    },
  );
  open.push(runtime);
  await callFunction(runtime, 'F', {});
  await callFunction(runtime, 'F', {});
  expect(models()).toEqual(['A', 'B']);
});

test.each<[string, () => Promise<number>]>([
  ['does not answer', () => new Promise(() => {})],
  ['fails', () => Promise.reject(new Error('gone'))],
])(
  'round-robin: while the counter of all processes %s, this process counts the turns',
  async (_name, roundRobinTurn) => {
    const runtime = testRuntime(
      `${ROBIN()}${THREE}function F() -> string {\n  client Top\n  prompt #"x"#\n}`,
      { URL: fake.url },
      { roundRobinTurn },
    );
    open.push(runtime);
    for (let call = 0; call < 4; call += 1) expect((await callFunction(runtime, 'F', {})).result.ok).toBe(true);
    expect(models()).toEqual(['A', 'B', 'C', 'A']);
    fake.answer(reply('late', { latencyMs: 600_000 }));
    const { result } = await callFunction(runtime, 'F', {}, callContext(50));
    expect(result).toMatchObject({ ok: false, failure: { code: 'timeout', timer: 'total' } });
  },
);

test('round-robin: weights share the turns, and a retry takes the next one', async () => {
  const runtime = program(ROBIN('retry_policy Twice', 'weights {\n      A 2\n      C env.SHARE\n    }') + THREE, {
    SHARE: '0',
  });
  for (let call = 0; call < 6; call += 1) await callFunction(runtime, 'F', {});
  expect(models()).toEqual(['A', 'B', 'A', 'A', 'B', 'A']);
  fake.clear();
  fake.script(no);
  expect(valueOf(await callFunction(runtime, 'F', {}))).toEqual({ n: 1 });
  expect(models()).toEqual(['A', 'B']);
});

test.each([
  ['a variable that is no number', { SHARE: 'much' }],
  ['a variable that is not set', {}],
])('round-robin: %s is a weight that fails the call', async (_name, env) => {
  const runtime = program(ROBIN('', 'weights {\n      A env.SHARE\n    }') + THREE, env);
  const { result } = await callFunction(runtime, 'F', {});
  expect(result).toMatchObject({ ok: false, failure: { code: 'invalid_options' } });
  expect(JSON.stringify(result)).toContain('options.weights.A');
});

test('round-robin: requests with options share the turns, and can set the variable of a weight', async () => {
  const runtime = program(ROBIN('', 'weights {\n      A env.SHARE\n      C 0\n    }') + THREE, { SHARE: '2' });
  const call = (options: object): Promise<unknown> => callFunction(runtime, 'F', { svc_options: options });
  for (let index = 0; index < 3; index += 1) await call({ tags: { team: 'blue' } });
  for (let index = 0; index < 3; index += 1) await callFunction(runtime, 'F', {});
  expect(models()).toEqual(['A', 'B', 'A', 'A', 'B', 'A']);
  fake.clear();
  for (let index = 0; index < 2; index += 1) await call({ env: { SHARE: '0' } });
  expect(models()).toEqual(['B', 'B']);
  await callFunction(runtime, 'F', {});
  await call({});
  await call({});
  await call({});
  expect(models().slice(2)).toEqual(['A', 'A', 'B', 'A']);
});

test('round-robin: calls with a route key stay with a member and take no turns', async () => {
  const runtime = program(ROBIN('', 'weights {\n      B 3\n    }') + THREE);
  const keys = Array.from({ length: 12 }, (_, index) => `user-${index}`);
  const routed = async (subject: FunctionRuntime): Promise<readonly unknown[]> => {
    fake.clear();
    for (const route_key of keys) await callFunction(subject, 'F', { svc_options: { route_key } });
    return models();
  };
  const first = await routed(runtime);
  expect(new Set(first)).toEqual(new Set(['A', 'B', 'C']));
  expect(await routed(runtime)).toEqual(first);
  expect(await routed(program(ROBIN('', 'start 2\n    weights {\n      B 3\n    }') + THREE))).toEqual(first);
  const prompts = keys.map((route_key) => {
    const prepared = runtime.prepare('F', { svc_options: { route_key } });
    return prepared.ok ? JSON.stringify(runtime.render(prepared.value)) : 'refused';
  });
  for (const [index, prompt] of prompts.entries()) expect(prompt).toContain(`"text":"${String(first[index])}"`);
  fake.clear();
  for (let call = 0; call < 5; call += 1) await callFunction(runtime, 'F', {});
  expect(models()).toEqual(['B', 'A', 'B', 'C', 'B']);
});

test('round-robin: a retry of a call with a route key goes to another member', async () => {
  const runtime = program(ROBIN('retry_policy Twice') + THREE);
  fake.answer(status(503, {}));
  await callFunction(runtime, 'F', { svc_options: { route_key: 'user-1' } });
  expect(models()).toHaveLength(3);
  expect(new Set(models())).toEqual(new Set(['A', 'B', 'C']));
});

test('round-robin: a client of the files keeps its turns below a client of the request', async () => {
  const runtime = program(ROBIN() + THREE);
  const clients = [{ name: 'Own', provider: 'round-robin', options: { strategy: ['Top'] } }];
  for (let call = 0; call < 3; call += 1) {
    await callFunction(runtime, 'F', { svc_options: { client_registry: { primary: 'Own', clients } } });
  }
  expect(models()).toEqual(['A', 'B', 'C']);
});

test('the failure of a model takes precedence over a missing key of a later member', async () => {
  fake.script(status(503, {}));
  const keyed = 'client<llm> B {\n  provider openai\n  options {\n    model "B"\n    api_key env.NOT_SET\n  }\n}\n';
  const { result } = await callFunction(program(FALLBACK('A, B') + generic('A') + keyed), 'F', {});
  expect(result).toMatchObject({ ok: false, failure: { code: 'client_error', upstreamStatus: 503 } });
});

const top = (kind: string, http: string, more = ''): string =>
  `client<llm> Top {\n  provider ${kind}\n  ${more}\n  options {\n    strategy [A, B]\n    http {\n      ${http}\n    }\n  }\n}\n`;

test('round-robin: total_timeout_ms limits all attempts together', async () => {
  fake.answer(reply('{"n": 1}', { latencyMs: 600_000 }));
  const runtime = program(
    top('round-robin', 'total_timeout_ms 1000', 'retry_policy Twice') + generic('A') + generic('B'),
  );
  const { result } = await callFunction(runtime, 'F', {});
  expect(result).toMatchObject({ ok: false, failure: { code: 'timeout', timer: 'total' } });
  expect(models()).toEqual(['A']);
});

test('a strategy inside another has its own share of the time, and the next member the rest', async () => {
  fake.script(async (_request, wire) => {
    while (!wire.gone) await sleep(5);
  });
  const inner = top('fallback', 'total_timeout_ms 80').replace('Top', 'Inner');
  const runtime = program(`${inner}${FALLBACK('Inner, C')}${THREE}`);
  const { result, report } = await callFunction(runtime, 'F', {});
  expect(result.ok).toBe(true);
  expect(models()).toEqual(['A', 'C']);
  expect(report.attempts.map((attempt) => attempt.outcome)).toEqual(['timeout', 'ok']);
});

const limited = (name: string): string =>
  `client<llm> ${name} {\n  provider openai-generic\n  options {\n    model "${name}"\n    base_url env.URL\n    http {\n      request_timeout_ms 80\n    }\n  }\n}\n`;

test.each(['fallback', 'round-robin'])('%s: the limits of its members apply', async (kind) => {
  fake.script(async (_request, wire) => {
    while (!wire.gone) await sleep(5);
  });
  const runtime = program(top(kind, 'total_timeout_ms 20000', 'retry_policy Twice') + limited('A') + generic('B'));
  const { result, report } = await callFunction(runtime, 'F', {});
  expect(result.ok).toBe(true);
  expect(models()).toEqual(['A', 'B']);
  expect(report.attempts[0]).toMatchObject({ client: 'A', outcome: 'timeout' });
});

test('one deadline applies to all attempts, and its error lists them', async () => {
  fake.script(no, no);
  fake.answer(async (_request, wire) => {
    while (!wire.gone) await sleep(5);
  });
  const runtime = program(FALLBACK('A, B', 'retry_policy Twice') + generic('A', 'retry_policy Twice') + generic('B'));
  const { result, report } = await callFunction(runtime, 'F', {}, callContext(1500));
  expect(result).toMatchObject({ ok: false, failure: { code: 'timeout', timer: 'total' } });
  const { attempts } = report;
  expect(attempts.map((attempt) => attempt.outcome)).toEqual(['client_error', 'client_error', 'timeout']);
  expect(!result.ok && 'attempts' in result.failure && result.failure.attempts).toEqual(attempts);
});

test('the failure of an exhausted chain of lists and policies lists every attempt', async () => {
  fake.answer(status(503, {}));
  const runtime = program(FALLBACK('A, B', 'retry_policy Twice') + generic('A', 'retry_policy Twice') + generic('B'));
  const { result } = await callFunction(runtime, 'F', {});
  const attempts = !result.ok && 'attempts' in result.failure ? result.failure.attempts : [];
  expect(attempts?.map((attempt) => attempt.client).join('')).toBe('AAAB'.repeat(3));
  expect(models()).toHaveLength(12);
});

test('svc waits for a retry-after that is a date', async () => {
  // Dates have no milliseconds: this one is between one and two seconds away.
  const date = new Date(Date.now() + 2000).toUTCString();
  fake.script(status(429, {}, { 'retry-after': date }));
  await callFunction(program(generic('Top', 'retry_policy Twice')), 'F', {});
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(date));
});

test('a stream whose whole reply does not match is reset and continues with the next member', async () => {
  fake.script(reply('{"n": "none"}'));
  const { outcome, events } = await streamFunction(program(FALLBACK('A, B') + generic('A') + generic('B')), 'F', {});
  expect(valueOf(outcome)).toEqual({ n: 1 });
  expect(events.filter((event) => event.startsWith('reset: '))).toHaveLength(1);
  expect(models()).toEqual(['A', 'B']);
});

test('a cancelled call does not call the rest of its chain', async () => {
  fake.answer(async (_request, wire) => {
    while (!wire.gone) await sleep(5);
  });
  const context = callContext();
  const run = callFunction(
    program(FALLBACK('A, B', 'retry_policy Twice') + generic('A') + generic('B')),
    'F',
    {},
    context,
  );
  while (fake.requests.length === 0) await sleep(5);
  context.cancellation.cancel('left');
  expect(valueOf(await run)).toBe('cancelled');
  await sleep(50);
  expect(models()).toEqual(['A']);
});
