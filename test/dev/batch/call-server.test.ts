import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { describeServer, ServerCaller, ServerClient } from '../../../src/dev/batch/call-server.ts';

type Reply = (request: IncomingMessage, response: ServerResponse) => void;

const VALUE: Reply = answer(200, '{"text":"a"}', { 'x-svc-input-tokens': '7', 'x-svc-cost': '0.00021' });

let replies: Reply[] = [];
let requests: Array<Pick<IncomingMessage, 'url' | 'headers'>> = [];
const server = createServer((request, response) => {
  requests.push({ url: request.url, headers: request.headers });
  request.resume();
  (replies.shift() ?? VALUE)(request, response);
});
beforeAll(() => new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve)));
afterAll(() => new Promise((resolve) => void server.close(resolve)));
beforeEach(() => {
  replies = [];
  requests = [];
});

function answer(status: number, body: string, headers: Readonly<Record<string, string>> = {}): Reply {
  return (_request, response) => void response.writeHead(status, headers).end(body);
}

function problem(status: number, error: string, headers: Readonly<Record<string, string>> = {}): Reply {
  return answer(status, JSON.stringify({ error, message: `It is ${error}.`, details: [] }), headers);
}

interface Setup {
  readonly caller: ServerCaller;
  readonly pauses: number[];
  readonly notes: string[];
}

/** A caller whose pauses end at once. */
function setUp(url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`): Setup {
  const pauses: number[] = [];
  const notes: string[] = [];
  const client = new ServerClient(new URL(url), 'secret', 60_000);
  const wait = async (ms: number): Promise<void> => void pauses.push(ms);
  const onPause = (sentence: string): void => void notes.push(sentence);
  const caller = new ServerCaller({ client, functionName: 'Read', run: 'run-0', onPause, wait });
  return { caller, pauses, notes };
}

test('a call has the key, an idempotency key of its row, and the facts of its headers', async () => {
  expect(await setUp().caller.call(7, { text: 'x' })).toEqual({
    value: '{"text":"a"}',
    usage: { inputTokens: 7 },
    cost: 0.000_21,
  });
  expect(requests).toMatchObject([
    { url: '/base/call/Read', headers: { 'x-svc-api-key': 'secret', 'idempotency-key': 'run-0-7' } },
  ]);
});

test('a value on several lines becomes one line', async () => {
  replies = [answer(200, '{\n  "text": "a"\n}')];
  expect(await setUp().caller.call(1, {})).toMatchObject({ value: '{"text":"a"}' });
});

test('a call that the server refuses waits as long as the server asks, and is sent again with the same key', async () => {
  const later = 'Fri, 31 Dec 9999 23:59:59 GMT';
  replies = [
    problem(503, 'overloaded', { 'retry-after': '1' }),
    problem(429, 'rate_limited', { 'retry-after': '90' }),
    answer(429, 'slow down', { 'retry-after': later }),
  ];
  const { caller, pauses, notes } = setUp();
  expect(await caller.call(1, {})).toMatchObject({ value: '{"text":"a"}' });
  expect(pauses.slice(0, 2)).toEqual([1000, 90_000]);
  expect(pauses[2]).toBeGreaterThan(1_000_000);
  expect(notes).toHaveLength(2);
  expect(notes[0]).toMatch(/^Waiting 90 s for http.*: it asks to wait \(status 429\)\.$/u);
  expect(new Set(requests.map(({ headers }) => headers['idempotency-key']))).toEqual(new Set(['run-0-1']));
});

test('an error of the call is its answer', async () => {
  replies = [problem(502, 'client_error'), problem(400, 'invalid_argument'), problem(422, 'idempotency_conflict')];
  const { caller } = setUp();
  for (const code of ['client_error', 'invalid_argument', 'idempotency_conflict']) {
    const failure = { code, message: `It is ${code}.`, details: [] };
    expect(await caller.call(1, {})).toMatchObject({ failure });
  }
});

test('an error that all rows would get stops the batch', async () => {
  replies = [problem(403, 'Unauthorized'), problem(404, 'function_not_found'), answer(404, 'no such page')];
  const { caller } = setUp();
  expect(await caller.call(1, {})).toMatchObject({ stop: expect.stringContaining('refuses the key') });
  expect(await caller.call(1, {})).toEqual({ stop: 'It is function_not_found.' });
  expect(await caller.call(1, {})).toMatchObject({ stop: expect.stringContaining('status 404') });
});

test('lost connections and errors of gateways are tried again', async () => {
  replies = [(request) => request.socket.destroy(), answer(502, '<html>'), answer(504, '')];
  const { caller, pauses } = setUp();
  expect(await caller.call(1, {})).toMatchObject({ value: '{"text":"a"}' });
  expect(pauses).toEqual([500, 1000, 2000]);
});

test('a server that stays out of reach stops the batch', async () => {
  const { caller, pauses } = setUp('http://127.0.0.1:1');
  expect(await caller.call(1, {})).toMatchObject({ stop: expect.stringMatching(/cannot be reached: .*ECONNREFUSED/u) });
  expect(pauses).toHaveLength(9);
});

test('rows that wait do not hold up an interrupt', async () => {
  replies = [problem(429, 'rate_limited', { 'retry-after': '86400' })];
  const client = new ServerClient(
    new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    undefined,
    60_000,
  );
  const paused = new Promise<void>((resolve) => {
    const caller = new ServerCaller({ client, functionName: 'Read', run: 'r', onPause: () => resolve() });
    void caller.call(1, {}).then(
      (outcome) => stopped.push(outcome),
      () => {},
    );
    interrupt = () => caller.interrupt();
  });
  await paused;
  interrupt();
  await expect.poll(() => stopped).toEqual([{ stop: 'interrupted' }]);
});

const stopped: unknown[] = [];
let interrupt = (): void => {};

test('the description of a server needs a server of svc, and a valid key', async () => {
  const client = new ServerClient(
    new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    'secret',
    60_000,
  );
  replies = [
    answer(200, '{}', { 'x-svc-program': 'h' }),
    answer(200, '{"paths":{}}'),
    problem(403, 'Unauthorized'),
    answer(200, '<html>'),
  ];
  expect(await describeServer(client)).toEqual({ ok: true, value: { openapi: { paths: {} }, hash: 'h' } });
  expect(await describeServer(client)).toMatchObject({ failure: expect.stringContaining('SVC_API_KEY') });
  expect(await describeServer(client)).toMatchObject({ failure: expect.stringContaining('is not a server of svc') });
  client.close();
});
