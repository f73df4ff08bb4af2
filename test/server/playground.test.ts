import { request } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import type { Config } from '../../src/config/config.ts';
import { ok } from '../../src/base/result.ts';
import { jsonDocument } from '../../src/server/http/static-asset.ts';
import { describeProgram, type Playground } from '../../src/server/http/playground/playground.ts';
import { NO_LOSSES } from '../../src/runtime/reply/reply-parser.ts';
import { compileText } from '../support/test-runtime.ts';
import { failed, REPORT, type ScriptedStream, success } from './support/scripted-runtime.ts';
import { startServer, type TestServer } from './support/test-server.ts';
import { TRANSPORTS } from './support/transports.ts';
import { until } from './support/until.ts';

const PROGRAM = compileText(`
enum Level {
  Low @description("can wait")
  High
}
class Note {
  text string @description("for the model") @assert(long, {{ this|length > 3 }})
  level Level?
}
type Nested = string | Nested[]
/// Counts.
function Count(note: Note, of: Nested) -> int @check(some, {{ this > 0 }}) {
  client Both
  prompt #"{{ note.text }}{{ of }}"#
}
client<llm> Main {
  provider openai
  options {
    model "m"
    api_key "sk-canary-1234567890"
  }
}
client<llm> Both {
  provider fallback
  options {
    strategy [Main, "openai/gpt-4o"]
  }
}
`);

const FACTS = {
  title: 'Mine',
  version: '1.2.3',
  clientRegistry: 'known',
  doors: [{ name: "OpenAI's interface", path: '/v1' }],
  missing: new Map([['Main', 'SOME_KEY']]),
  calls: { off: 'This server keeps no calls.' },
} as const;

const PLAYGROUND: Playground = {
  assets: new Map([
    [
      '/playground',
      {
        contentType: 'text/html',
        contentSecurityPolicy: "default-src 'none'",
        tag: 'page',
        encodings: [],
        bytes: () => Buffer.from('the page'),
      },
    ],
  ]),
  documentOf: () => jsonDocument(describeProgram(PROGRAM, FACTS)),
  showProblems: () => undefined,
};

test('the description of a program contains types, examples and clients, and no prompts, constraints or credentials', () => {
  const document = describeProgram(PROGRAM, FACTS);
  expect(document).toMatchObject({
    program: PROGRAM.hash,
    title: 'Mine',
    clientRegistry: 'known',
    calls: { off: 'This server keeps no calls.' },
    doors: [{ name: "OpenAI's interface", path: '/v1' }],
    functions: [
      {
        name: 'Count',
        documentation: 'Counts.',
        client: 'Both',
        parameters: [
          { name: 'note', type: { kind: 'class', name: 'Note' } },
          { name: 'of', type: { kind: 'alias', name: 'Nested' } },
        ],
        returns: { kind: 'int' },
        examples: [],
      },
    ],
    classes: [{ name: 'Note', fields: [{ name: 'text', description: 'for the model' }, { name: 'level' }] }],
    enums: [{ name: 'Level', values: [{ name: 'Low', description: 'can wait' }, { name: 'High' }] }],
    aliases: [{ name: 'Nested' }],
    clients: [
      { name: 'Main', provider: 'openai', model: 'm', missing: 'SOME_KEY' },
      { name: 'Both', provider: 'fallback', members: ['Main', 'openai/gpt-4o'] },
    ],
  });
  expect(document.providers).toContain('anthropic');
  expect(document.providers).not.toContain('fallback');
  expect(JSON.stringify(document)).not.toMatch(/constraints|expression|canary|prompt"/u);
});

const servers: TestServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

const KEY = 'the-key-of-this-test';
const REMOTE_NAME = { host: 'rebound.example:2024' };

/** Sends a request with headers that `fetch` does not allow. */
function send(
  { port }: TestServer,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body?: string,
): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST';
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const sent = request({ port, path, method, headers: { ...type, ...headers } }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
    });
    sent.on('error', reject).end(body);
  });
}

describe.each(TRANSPORTS)('over %s', (name) => {
  async function start(config: Partial<Config> = {}, playground: Playground | 'off' = PLAYGROUND): Promise<TestServer> {
    const served = playground === 'off' ? undefined : playground;
    const server = await startServer(name, { playground: served !== undefined, ...config }, {}, { playground: served });
    servers.push(server);
    return server;
  }

  test('without the playground, its paths do not exist', async () => {
    const server = await start({}, 'off');
    for (const path of ['/playground', '/playground/program.json']) expect((await send(server, path)).status).toBe(404);
    expect((await send(server, '/render/Greet', {}, '{}')).status).toBe(404);
  });

  test('the page is open, and the description of the program needs the key', async () => {
    const server = await start({ apiKey: KEY });
    expect(await send(server, '/playground')).toMatchObject({ status: 200, body: 'the page' });
    expect((await send(server, '/playground/program.json')).status).toBe(403);
    const answer = await send(server, '/playground/program.json', { 'x-svc-api-key': KEY });
    expect(JSON.parse(answer.body)).toMatchObject({ title: 'Mine' });
    expect((await send(server, '/render/Greet', {}, '{}')).status).toBe(403);
  });

  test('the description has an etag, and the root leads to the page', async () => {
    const { url } = await start();
    const first = await fetch(`${url}/playground/program.json`);
    const etag = first.headers.get('etag') ?? '';
    expect(first.status).toBe(200);
    const again = await fetch(`${url}/playground/program.json`, { headers: { 'if-none-match': etag } });
    expect(again.status).toBe(304);
    const root = await fetch(url, { redirect: 'manual' });
    expect(root.headers.get('location')).toBe('/playground');
  });

  test('prompts are rendered and replies parsed', async () => {
    const server = await start();
    const rendered = await send(server, '/render/Greet', {}, '{}');
    expect(JSON.parse(rendered.body)).toMatchObject({ messages: [{ role: 'user' }] });
    expect((await send(server, '/parse/Greet', {}, '{"text": "a"}')).status).toBe(200);
  });

  test('without a key, a playground on a loopback address serves no one who names another host', async () => {
    const server = await start();
    for (const path of ['/playground/program.json', '/openapi.json', '/metrics']) {
      expect(await send(server, path, REMOTE_NAME)).toMatchObject({ status: 403 });
      expect((await send(server, path)).status).toBe(200);
    }
    const call = await send(server, '/call/Greet', REMOTE_NAME, '{}');
    expect(call.status).toBe(403);
    expect(JSON.parse(call.body)).toMatchObject({
      error: 'not_local',
      message: expect.stringContaining('SVC_PASSWORD'),
    });
    expect((await send(server, '/call/Greet', { origin: 'https://evil.example' }, '{}')).status).toBe(403);
    expect(server.runtime.calls).toEqual([]);
    expect((await send(server, '/livez', REMOTE_NAME)).status).toBe(200);
  });

  test.each<readonly [string, Partial<Config>, Playground | 'off']>([
    ['with a key', { apiKey: KEY }, PLAYGROUND],
    ['on every interface', { host: '0.0.0.0' }, PLAYGROUND],
    ['without the playground', {}, 'off'],
  ])('%s, a server serves callers who name another host', async (_, config, playground) => {
    const server = await start(config, playground);
    const headers = { ...REMOTE_NAME, 'x-svc-api-key': KEY };
    expect((await send(server, '/call/Greet', headers, '{}')).status).toBe(200);
  });

  const TRACE = {
    client: 'Fast',
    model: 'small-1',
    attempts: [{ client: 'Fast', outcome: 'ok', duration_ms: 3 }],
    input_tokens: 12,
    output_tokens: 7,
    cost: 0.000021,
    model_ms: 3,
    reply: 'the reply with [redacted]',
  };

  /** The report of a call whose model repeats a secret of the server. */
  const REPORTED = { ...REPORT, cost: 0.000021, rawReply: `the reply with ${KEY}` };

  test('a call that asks for it has its trace beside the value, without secrets', async () => {
    const server = await start({ apiKey: KEY, secrets: [KEY] });
    server.runtime.include = new Set(['trace']);
    server.runtime.onCall = () => ({ ...success('hello'), report: REPORTED });
    const answer = await send(server, '/call/Greet', { 'x-svc-api-key': KEY }, '{}');
    expect(JSON.parse(answer.body)).toMatchObject({ value: 'hello', trace: TRACE });
  });

  test('the facts that a call or stream asks for contain no secrets', async () => {
    const server = await start({ apiKey: KEY, secrets: [KEY] });
    server.runtime.include = new Set(['raw', 'reasoning', 'usage']);
    const reported = `${REPORTED.rawReply} and own-key`;
    const outcome = { ...success('hello'), report: { ...REPORTED, rawReply: reported, reasoning: reported } };
    server.runtime.onCall = () => outcome;
    const body = JSON.stringify({ svc_options: { env: { OWN: 'own-key' } } });
    const usage = { input_tokens: 12, output_tokens: 7 };
    const masked = 'the reply with [redacted] and [redacted]';
    const meta = { usage, raw: masked, reasoning: masked, cost: 0.000021 };
    const answer = await send(server, '/call/Greet', { 'x-svc-api-key': KEY }, body);
    expect(JSON.parse(answer.body)).toEqual({ result: 'hello', meta });
    const streamed = send(server, '/stream/Greet', { 'x-svc-api-key': KEY }, body);
    const stream = await firstStream(server);
    stream.observer.reasoning(reported);
    stream.observer.ended(outcome);
    expect((await streamed).body).toContain(JSON.stringify({ reasoning: masked }));
    expect((await streamed).body).toContain(JSON.stringify({ final_result: 'hello', meta }));
    // More credentials than svc searches for.
    const env = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`OWN_${index}`, `own-key-${index}`]));
    const many = await send(server, '/call/Greet', { 'x-svc-api-key': KEY }, JSON.stringify({ svc_options: { env } }));
    expect(JSON.parse(many.body)).toEqual({ result: 'hello', meta: { usage, cost: 0.000021 } });
  });

  test('a reply that repeats arguments is returned as the model wrote it, whatever the arguments are called', async () => {
    const server = await start({ apiKey: KEY, secrets: [KEY] });
    server.runtime.include = new Set(['raw', 'trace']);
    const letter = { signatures: 'Kind regards', cookies: ['oatmeal'], credentials: { token: 'M.D., Ph.D.' } };
    const body = JSON.stringify({ note: letter, token: 'a subway token', svc_options: { env: { OWN: 'own-key' } } });
    const rawReply = 'Kind regards, oatmeal, M.D., Ph.D., a subway token';
    const report = { ...REPORT, rawReply };
    const call = async (): Promise<string> =>
      (await send(server, '/call/Greet', { 'x-svc-api-key': KEY }, body)).body.replaceAll('own-key', '');
    server.runtime.onCall = () => ({ ...success('hello'), report });
    expect(JSON.parse(await call())).toMatchObject({ meta: { raw: rawReply }, trace: { reply: rawReply } });
    const details = [{ path: 'token', message: rawReply }];
    const fault = { code: 'validation_failure', message: rawReply, details, rawOutput: rawReply } as const;
    server.runtime.onCall = () => ({ ...failed(fault), report });
    expect(JSON.parse(await call())).toMatchObject({ message: rawReply, details, raw_output: rawReply });
  });

  test('a failed call that asks for it has its trace in the error', async () => {
    const server = await start();
    server.runtime.include = new Set(['trace']);
    server.runtime.onCall = () => failed({ code: 'client_error', message: 'down', client: 'Fast', attempts: [] });
    const answer = await send(server, '/call/Greet', {}, '{}');
    expect(JSON.parse(answer.body)).toMatchObject({ error: 'client_error', trace: { client: 'Fast', attempts: [] } });
    server.runtime.include = new Set();
    expect(JSON.parse((await send(server, '/call/Greet', {}, '{}')).body)).not.toHaveProperty('trace');
  });

  test('a stream that asks for it sends the text of the model between the partials, and its trace at the end', async () => {
    const server = await start({ partialIntervalMs: 0 });
    server.runtime.include = new Set(['trace']);
    const answer = send(server, '/stream/Greet', {}, '{}');
    const stream = await firstStream(server);
    stream.grow('a', 'te');
    stream.observer.text('xt');
    stream.observer.reset('again');
    stream.grow('b', 'new');
    stream.observer.ended({ result: ok({ json: '"b"', value: 'b', flags: [], losses: NO_LOSSES }), report: REPORTED });
    const events = (await answer).body.split('\n').filter((line) => line.startsWith('data: '));
    const [last, ...others] = events.map((line) => JSON.parse(line.slice(6)) as unknown).toReversed();
    expect(others.toReversed()).toEqual([
      { text: 'te' },
      { partial_result: 'a' },
      { text: 'xt' },
      { reset: { reason: 'again' } },
      { text: 'new' },
      { partial_result: 'b' },
    ]);
    expect(last).toMatchObject({ final_result: 'b', trace: { client: 'Fast' } });
  });

  test('a stream that does not ask for it has neither text nor trace', async () => {
    const server = await start({ partialIntervalMs: 0 });
    const answer = send(server, '/stream/Greet', {}, '{}');
    const stream = await firstStream(server);
    stream.grow('a', 'te');
    stream.observer.ended(success('a'));
    expect((await answer).body).not.toMatch(/"text"|"trace"/u);
  });
});

async function firstStream(server: TestServer): Promise<ScriptedStream> {
  await until(() => server.runtime.streams.length === 1);
  const [stream] = server.runtime.streams;
  if (stream === undefined) throw new Error('no stream');
  return stream;
}
