import { EventEmitter, once } from 'node:events';
import { ok } from '../../src/base/result.ts';
import { createHash } from 'node:crypto';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterEach, describe, expect, it } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { silentLogger } from '../../src/logging/logger.ts';
import { McpDoor } from '../../src/server/doors/mcp/mcp-door.ts';
import { functionTools } from '../../src/server/doors/mcp/tools.ts';
import type { StreamLimits } from '../../src/server/http/event-stream.ts';
import { compileText } from '../support/test-runtime.ts';
import { turn } from '../support/fake-wire.ts';
import { RawConnection } from './support/raw-connection.ts';
import { failed, success } from './support/scripted-runtime.ts';
import { startServer, type TestServer } from './support/test-server.ts';
import { TRANSPORTS, type TransportName } from './support/transports.ts';
import { until } from './support/until.ts';

const DEFINITIONS = `
client Fast {
  provider openai
  options {
    model "small-1"
  }
}

class Greeting {
  text string
  mood ("warm" | "cold")
  next Greeting?
}

/// Greets someone.
function Greet(note: string, token: string?, sizes: map<"s" | "l", int>?) -> Greeting {
  client Fast
  prompt #"{{ note }} {{ token }} {{ sizes }} {{ ctx.output_format }}"#
}

function Sum() -> string {
  client Fast
  prompt #"Write a word."#
}
`;

const PROGRAM = compileText(DEFINITIONS);

const GREETING = { text: 'hello', mood: 'warm', next: null };

const opened: Array<{ close(): unknown }> = [];

afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close();
});

/** A server of the door on loopback, or, by its settings, anywhere. */
async function serve(
  name: TransportName,
  config: Partial<Config> = {},
  { hash = PROGRAM.hash, limits = {} }: { readonly hash?: string; readonly limits?: Partial<StreamLimits> } = {},
): Promise<Served> {
  const parts = { exposePrompts: true, features: [], host: '127.0.0.1', mcpFunctions: '*', playground: false };
  const all = { ...parts, title: 'Test', ...config };
  const door = new McpDoor({ ...PROGRAM, hash }, { config: all, version: '1.2.3', logger: silentLogger });
  const server = await startServer(name, { partialIntervalMs: 0, ...config }, limits, { doors: [door] });
  server.runtime.onCall = () => success(GREETING);
  opened.push(server);
  return { server, door, url: `${server.url}/mcp` };
}

interface Served {
  readonly server: TestServer;
  readonly door: McpDoor;
  readonly url: string;
}

async function connect(url: string, headers: Record<string, string> = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
  opened.push(client);
  return client;
}

const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

/** Sends one request without a client. */
function post(url: string, method: string, params: object = {}, headers: object = {}): Promise<Response> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params });
  return fetch(url, { method: 'POST', headers: { ...HEADERS, ...headers }, body });
}

async function resultOf(answer: Promise<Response>): Promise<unknown> {
  const { result } = (await (await answer).json()) as { readonly result: unknown };
  return result;
}

/** The event that reports another list. */
function event(list: string, hash: string): string {
  return `id: ${hash}\ndata: {"jsonrpc":"2.0","method":"notifications/${list}/list_changed"}\n\n`;
}

const GREET = { name: 'Greet', arguments: { note: 'Ann' } };

it('describes a function with schemas that contain all that they refer to', () => {
  const tool = functionTools(PROGRAM, '*').get('Greet')?.tool;
  const text = { type: 'string' };
  const properties = {
    text,
    mood: { type: 'string', enum: ['warm', 'cold'] },
    next: { anyOf: [{ $ref: '#/$defs/Greeting' }, { type: 'null' }] },
  };
  const greeting = { type: 'object', properties, required: ['text', 'mood', 'next'] };
  expect(tool).toMatchObject({
    name: 'Greet',
    description: 'Greets someone.',
    inputSchema: {
      type: 'object',
      properties: {
        note: text,
        sizes: { anyOf: [{ type: 'object', propertyNames: { enum: ['s', 'l'] } }, { type: 'null' }] },
      },
      required: ['note'],
      additionalProperties: false,
    },
    outputSchema: { ...greeting, $defs: { Greeting: greeting } },
    annotations: { readOnlyHint: true, openWorldHint: true },
  });
});

it('wraps a value that is not an object', () => {
  const { tool, wrapped } = functionTools(PROGRAM, '*').get('Sum') ?? {};
  expect(wrapped).toBe(true);
  expect(tool?.outputSchema).toEqual({
    type: 'object',
    properties: { result: { type: 'string' } },
    required: ['result'],
  });
});

it.each([
  ['*', ['Greet', 'Sum']],
  ['S*m', ['Sum']],
  ['S', []],
  ['Gr*,Sum', ['Greet', 'Sum']],
])('selects functions by the pattern %s', (pattern, names) => {
  expect([...functionTools(PROGRAM, pattern).keys()]).toEqual(names);
});

describe.each(TRANSPORTS)('over %s', (name) => {
  it('returns the value as data, which the client checks, and as text', async () => {
    const { url, server } = await serve(name);
    const client = await connect(url);
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual(['Greet', 'Sum']);
    const result = await client.callTool(GREET);
    expect(result.structuredContent).toEqual(GREETING);
    expect(result.content).toEqual([{ type: 'text', text: JSON.stringify(GREETING) }]);
    expect(result._meta).toMatchObject({ 'svc/call': { client: { name: 'Fast' }, usage: { input_tokens: 12 } } });
    expect(server.runtime.bodies).toEqual([{ note: 'Ann' }]);
  });

  it('returns a string as text without quotes', async () => {
    const { url, server } = await serve(name);
    server.runtime.onCall = () => success('a "word"');
    const result = await resultOf(post(url, 'tools/call', { name: 'Sum' }));
    expect(result).toMatchObject({
      structuredContent: { result: 'a "word"' },
      content: [{ type: 'text', text: 'a "word"' }],
    });
  });

  it('returns the failure of a call as a result, so that the model can correct it', async () => {
    const { url, server } = await serve(name);
    const details = [
      { path: 'note', message: 'is missing' },
      { path: 'sizes.s', message: 'expected int, got "x"' },
    ];
    server.runtime.onPrepare = () => ({
      ok: false,
      failure: { code: 'invalid_argument', message: 'note: is missing', details },
    });
    const result = await resultOf(post(url, 'tools/call', { name: 'Greet', arguments: {} }));
    const text = 'invalid_argument: note: is missing\n- sizes.s: expected int, got "x"';
    expect(result).toMatchObject({
      isError: true,
      content: [{ type: 'text', text }],
      _meta: { 'svc/error': { error: 'invalid_argument', details } },
    });
  });

  it('states when to try again', async () => {
    const { url, server } = await serve(name);
    const busy = { code: 'overloaded', message: 'The server is busy.', retryAfterSeconds: 3 } as const;
    server.runtime.onCall = () => failed(busy);
    const result = await resultOf(post(url, 'tools/call', GREET));
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: 'overloaded: The server is busy.\nTry again in 3 s.' }],
    });
  });

  it('counts calls towards the limits of the caller', async () => {
    const { url } = await serve(name, { keyFile: { defaultLimits: { requestsPerMinute: 1 } } });
    await resultOf(post(url, 'tools/call', GREET));
    const result = await resultOf(post(url, 'tools/call', GREET));
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^rate_limited: .*Try again in \d+ s\.$/su) }],
    });
  });

  it.each(['tools/call', 'prompts/get'])('refuses an unknown name (%s)', async (method) => {
    const { url } = await serve(name);
    const answer = await post(url, method, { name: 'Gret' });
    const kind = method.startsWith('tools') ? 'tool' : 'prompt';
    const message = `There is no ${kind} "Gret". Did you mean "Greet"?`;
    expect(await answer.json()).toEqual({ jsonrpc: '2.0', id: 7, error: { code: -32_602, message } });
  });

  it('accepts no options of calls from a model', async () => {
    const { url, server } = await serve(name);
    const args = { note: 'Ann', __baml_options__: { client: 'Other' } };
    const result = await resultOf(post(url, 'tools/call', { name: 'Greet', arguments: args }));
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('__baml_options__') }] });
    expect(server.runtime.bodies).toEqual([]);
  });

  it('sends partial values as progress, bounded in length', async () => {
    const { url, server } = await serve(name);
    const client = await connect(url);
    const seen: unknown[] = [];
    const result = client.callTool(GREET, undefined, { onprogress: (progress) => seen.push(progress) });
    await until(() => server.runtime.streams.length === 1);
    const [stream] = server.runtime.streams;
    stream?.grow({ text: 'he' });
    await until(() => seen.length === 1);
    stream?.grow({ text: 'x'.repeat(10_000) });
    await until(() => seen.length === 2);
    stream?.observer.ended(success(GREETING));
    expect(await result).toMatchObject({ structuredContent: GREETING });
    expect(seen[0]).toEqual({ progress: 1, message: '{"text":"he"}' });
    expect(seen[1]).toMatchObject({ progress: 2, message: expect.stringMatching(/^.{4095}…$/u) });
    await until(() => server.services.active.size === 0);
  });

  it('keeps the connection of a long call open', async () => {
    const { url, server } = await serve(name, {}, { limits: { statusWaitMs: 1, heartbeatMs: 1 } });
    const model = new EventEmitter();
    server.runtime.onCall = async () => {
      await once(model, 'answered');
      return success(GREETING);
    };
    const answer = await post(url, 'tools/call', GREET);
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    const texts: string[] = [];
    const read = (async () => {
      for await (const text of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) texts.push(text);
    })();
    await until(() => (texts.join('').match(/^:$/gmu) ?? []).length > 1);
    model.emit('answered');
    await read;
    const [data = ''] = texts.join('').match(/^data: .*$/gmu) ?? [];
    expect(JSON.parse(data.slice('data: '.length))).toMatchObject({ result: { structuredContent: GREETING } });
  });

  it('logs and counts a body that it cannot read', async () => {
    const { url, server } = await serve(name);
    const answer = await fetch(url, { method: 'POST', headers: HEADERS, body: '{' });
    expect(answer.status).toBe(400);
    expect(server.log.map(({ fields }) => fields['status'])).toContain(400);
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(metrics).toMatch(/svc_requests_total\{[^}]*status="400"\} 1/u);
  });

  it('returns a failure after progress', async () => {
    const { url, server } = await serve(name);
    const client = await connect(url);
    const seen: unknown[] = [];
    const result = client.callTool(GREET, undefined, { onprogress: (progress) => seen.push(progress) });
    await until(() => server.runtime.streams.length === 1);
    server.runtime.streams[0]?.grow('he');
    await until(() => seen.length === 1);
    server.runtime.streams[0]?.observer.ended(failed({ code: 'prompt_error', message: 'broken' }));
    expect(await result).toMatchObject({ isError: true, content: [{ text: 'prompt_error: broken' }] });
  });

  it.each([{}, { _meta: { progressToken: 1 } }])('cancels the call of a client that leaves (%j)', async (params) => {
    const { url, server } = await serve(name);
    server.runtime.onCall = () => new Promise(() => {});
    const controller = new AbortController();
    const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'tools/call', params: { ...GREET, ...params } });
    const answer = fetch(url, { method: 'POST', headers: HEADERS, body, signal: controller.signal });
    const contexts = () => [...server.runtime.calls, ...server.runtime.streams].map(({ context }) => context);
    await until(() => contexts().length === 1);
    controller.abort();
    await expect(answer).rejects.toThrow('aborted');
    await until(() => contexts()[0]?.cancellation.cancelled === true);
    await until(() => server.services.active.size === 0);
  });

  it('returns the messages of a prompt', async () => {
    const { url, server } = await serve(name);
    const client = await connect(url);
    const { prompts } = await client.listPrompts();
    expect(prompts[0]).toEqual({
      name: 'Greet',
      description: 'Greets someone.',
      arguments: [
        { name: 'note', required: true },
        { name: 'token', required: false },
        { name: 'sizes', required: false, description: 'JSON of type map<"s" | "l", int>?' },
      ],
    });
    const args = { note: '7', sizes: '{"s":1}' };
    const { messages } = await client.getPrompt({ name: 'Greet', arguments: args });
    expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'prompt of Greet' } }]);
    expect(server.runtime.bodies).toEqual([{ note: '7', sizes: { s: 1 } }]);
  });

  it('has no prompts where callers cannot see them', async () => {
    const { url } = await serve(name, { exposePrompts: false });
    const answer = await post(url, 'prompts/list');
    expect(await answer.json()).toMatchObject({ error: { code: -32_601 } });
  });

  it('asks for a key, and shows its holder the functions that it can call', async () => {
    const sha256 = createHash('sha256').update('key of few').digest('hex');
    const { url } = await serve(name, { keyFile: { keys: [{ name: 'few', sha256, functions: ['S*'] }] } });
    const refused = await post(url, 'tools/list');
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toBe('Bearer');
    expect(await refused.json()).toMatchObject({ error: 'Unauthorized' });
    expect((await post(url, 'tools/list', {}, { authorization: 'Bearer x' })).status).toBe(401);
    const listed = await resultOf(post(url, 'tools/list', {}, { 'x-svc-api-key': 'key of few' }));
    expect(listed).toMatchObject({ tools: [{ name: 'Sum' }] });
    const client = await connect(url, { authorization: 'Bearer key of few' });
    await expect(client.callTool(GREET)).rejects.toThrow('There is no tool "Greet"');
  });

  it.each([
    [{ origin: 'http://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ origin: 'http://evil.example', host: 'evil.example' }, 403],
    [{ host: 'evil.example' }, 403],
    [{ origin: 'https://app.example' }, 200],
    [{ origin: 'http://localhost:1', host: 'localhost:1' }, 200],
  ])('checks where a request comes from: %j', async (headers: Record<string, string>, status) => {
    const { server } = await serve(name, { corsOrigins: ['https://app.example'] });
    const connection = new RawConnection(server.port);
    opened.push({ close: () => connection.end() });
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    const all = { host: '127.0.0.1', ...HEADERS, ...headers, 'content-length': String(body.length) };
    const lines = Object.entries(all).map(([header, value]) => `${header}: ${value}\r\n`);
    connection.write(`POST /mcp HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
    await connection.until(() => connection.answers().length === 1);
    expect(connection.answers()[0]?.status).toBe(status);
  });

  it.each([
    ['DELETE', {}, undefined, 405],
    ['GET', { accept: 'text/html' }, undefined, 405],
    ['POST', {}, '{"jsonrpc":"2.0","method":"notifications/initialized"}', 202],
    ['POST', {}, '{"note":"Ann"}', 400],
    ['POST', {}, '{', 400],
    ['POST', { 'content-type': 'text/plain' }, '{}', 415],
    ['POST', { 'mcp-protocol-version': '1999-01-01' }, '{"jsonrpc":"2.0","id":1,"method":"ping"}', 400],
    ['POST', {}, '{"jsonrpc":"2.0","id":1,"method":"ping"}', 200],
    ['POST', {}, JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'x'.repeat(20_000) }), 413],
  ] as const)('answers %s %j %s', async (method, headers, body, status) => {
    const { url } = await serve(name);
    const init = { method, headers: { ...HEADERS, ...headers }, ...(body !== undefined && { body }) };
    expect((await fetch(url, init)).status).toBe(status);
  });

  it('suggests the path', async () => {
    const { server } = await serve(name);
    const answer = await fetch(`${server.url}/mcp/x`, { method: 'POST' });
    expect(await answer.json()).toMatchObject({ error: 'not_found', suggestions: ['/mcp'] });
  });

  it('reports changed lists when the worker drains, and to a client that knows other definitions', async () => {
    const { url, door } = await serve(name);
    const events = { accept: 'text/event-stream' };
    const first = await fetch(url, { headers: events });
    expect(first.headers.get('content-type')).toMatch('text/event-stream');
    door.drain();
    const text = await first.text();
    expect(text).toBe(`:\n${event('tools', PROGRAM.hash)}${event('prompts', PROGRAM.hash)}`);
    const later = await serve(name, {}, { hash: 'later' });
    const second = await fetch(later.url, { headers: { ...events, 'last-event-id': PROGRAM.hash } });
    const reader = second.body?.pipeThrough(new TextDecoderStream()).getReader();
    let seen = '';
    while (!seen.includes(event('prompts', 'later'))) seen += (await reader?.read())?.value ?? '';
    await reader?.cancel();
    const third = await fetch(later.url, { headers: { ...events, 'last-event-id': 'later' } });
    later.door.drain();
    expect((await third.text()).match(/tools\/list_changed/gu)).toHaveLength(1);
  });

  it('ends a call with a result when the server stops', async () => {
    const { url, server } = await serve(name);
    server.runtime.onCall = () => new Promise(() => {});
    const answer = resultOf(post(url, 'tools/call', GREET));
    await until(() => server.runtime.calls.length === 1);
    for (const request of server.services.active.list()) request.drain();
    expect(await answer).toMatchObject({
      isError: true,
      content: [{ text: 'draining: The server is stopping: try again.\nTry again in 1 s.' }],
    });
  });

  it('hides the reason of a bug, and logs it', async () => {
    const { url, server } = await serve(name);
    const { result, report } = success(GREETING);
    if (result.ok) server.runtime.onCall = () => ({ result: ok({ ...result.value, json: 'no JSON' }), report });
    const answer = await post(url, 'tools/call', GREET);
    expect(await answer.json()).toMatchObject({ error: { code: -32_603, message: 'The server failed.' } });
    expect(server.log.some(({ level }) => level === 'error')).toBe(true);
  });

  it('pauses the model for a reader that is behind, and cuts one that accepts nothing', async () => {
    const limits = { pauseModelMs: 50, stalledReaderMs: 10_000 };
    const { server } = await serve(name, { partialIntervalMs: 0 }, { limits });
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { ...GREET, _meta: { progressToken: 1 } },
    });
    const connection = new RawConnection(server.port);
    opened.push({ close: () => connection.end() });
    connection.socket.pause();
    const head = `POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: */*\r\n`;
    connection.write(`${head}content-length: ${body.length}\r\n\r\n${body}`);
    await until(() => server.runtime.streams.length === 1);
    const [stream] = server.runtime.streams;
    for (let sent = 0; stream?.paused === false; sent += 1) {
      stream.grow({ sent, text: 'x'.repeat(4_000) });
      await turn();
    }
    expect(stream?.paused).toBe(true);
    await until(() => stream?.context.cancellation.cancelled === true);
    await until(() => server.services.active.size === 0);
  });
});
