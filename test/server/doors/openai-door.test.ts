import { hash } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import type { Config } from '../../../src/config/config.ts';
import type { Type } from '../../../src/schema/type.ts';
import type { ModelProgram } from '../../../src/server/doors/openai/function-model.ts';
import { OpenAiDoor } from '../../../src/server/doors/openai/openai-door.ts';
import { CHAT_FIELDS, RESPONSES_FIELDS } from '../../../src/server/doors/openai/request-fields.ts';
import { CHAT } from '../../../src/server/doors/openai/chat.ts';
import { TranslatedAnswer } from '../../../src/server/doors/openai/answer.ts';
import { COMMENT } from '../../../src/server/http/event-stream.ts';
import type { HttpResponse } from '../../../src/server/http/transport.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { failed, REPORT, success, type ScriptedStream } from '../support/scripted-runtime.ts';
import { startServer, type TestServer } from '../support/test-server.ts';
import { TRANSPORTS } from '../support/transports.ts';
import { until } from '../support/until.ts';

const STRING: Type = { kind: 'string' };
const OPTIONAL: Type = { kind: 'union', members: [STRING, { kind: 'null' }] };
const IMAGE: Type = { kind: 'media', media: 'image' };
const MESSAGES: Type = { kind: 'list', element: { kind: 'class', name: 'Message' } };

function declared(
  name: string,
  parameters: Readonly<Record<string, Type>>,
  returns: Type,
): ModelProgram['functions'][number] {
  return {
    name,
    parameters: Object.entries(parameters).map(([each, type]) => ({ name: each, type })),
    returns,
    client: 'Fast',
    prompt: { parts: [] } as never,
    examples: [],
  };
}

function field(name: string, type: Type) {
  return { name, type, skip: false, streamNotNull: false };
}

const PROGRAM: ModelProgram = {
  functions: [
    declared('Greet', { note: STRING, tone: OPTIONAL }, STRING),
    declared('Größe', { width: { kind: 'int' }, token: OPTIONAL }, { kind: 'class', name: 'Message' }),
    declared('Sum', {}, { kind: 'int' }),
    declared('Talk', { turns: MESSAGES }, { kind: 'union', members: [{ kind: 'class', name: 'Message' }, STRING] }),
    declared(
      'Look',
      {
        question: STRING,
        first: IMAGE,
        others: { kind: 'list', element: IMAGE },
        sound: { kind: 'media', media: 'audio' },
        paper: { kind: 'media', media: 'pdf' },
      },
      STRING,
    ),
  ],
  classes: [
    {
      name: 'Message',
      fields: [field('role', STRING), field('content', STRING)],
      constraints: [],
      streamDone: false,
      dynamic: false,
    },
  ],
  aliases: [],
};

const servers: TestServer[] = [];
const connections: RawConnection[] = [];

afterEach(() => {
  for (const connection of connections.splice(0)) connection.end();
  for (const server of servers.splice(0)) server.close();
});

type Members = Record<string, unknown>;

const USER = [{ role: 'user', content: 'Hello' }];

function post(
  server: TestServer,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return fetch(server.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: text,
  });
}

const model = (id: string) => ({ id, object: 'model', created: expect.any(Number) as number, owned_by: 'svc' });

const image = (url: string) => ({ type: 'image_url', image_url: { url } });

const ended = (reader: RawConnection) => reader.until(() => reader.text.endsWith('\r\n0\r\n\r\n'));

describe.each(TRANSPORTS)('over %s', (name) => {
  async function start(config: Partial<Config> = {}): Promise<TestServer> {
    const server = await startServer(name, config, {}, { doors: [new OpenAiDoor(PROGRAM)] });
    servers.push(server);
    server.runtime.functionNames.push('Talk', 'Look');
    return server;
  }

  const chat = (server: TestServer, body: Members, headers = {}) =>
    post(server, '/v1/chat/completions', { model: 'Greet', messages: USER, ...body }, headers);
  const respond = (server: TestServer, body: Members) =>
    post(server, '/v1/responses', { model: 'Greet', input: 'Hello', ...body });

  async function errorOf(response: Response): Promise<Members> {
    return ((await response.json()) as { error: Members }).error;
  }

  it('lists the functions that the key can call as models', async () => {
    const keys = [{ name: 'a', sha256: hash('sha256', 'secret'), functions: ['Gr*'] }];
    const server = await start({ keyFile: { keys } });
    const get = async (path: string): Promise<[number, Members]> => {
      const response = await fetch(server.url + path, { headers: { authorization: 'Bearer secret' } });
      return [response.status, (await response.json()) as Members];
    };
    expect(await get('/v1/models')).toEqual([200, { object: 'list', data: [model('Greet'), model('Größe')] }]);
    expect(await get('/v1/models/Gr%C3%B6%C3%9Fe')).toEqual([200, model('Größe')]);
    const [status, { error }] = await get('/v1/models/Gret');
    expect([status, error]).toMatchObject([
      404,
      { code: 'model_not_found', type: 'invalid_request_error', param: null },
    ]);
    expect((error as Members)['message']).toBe('There is no function "Gret". Did you mean "Greet"?');
    expect((await get('/v1/models/Sum'))[0]).toBe(404);
  });

  it('answers chat completions with the value, its counts, and the headers of a call', async () => {
    const server = await start();
    const report = {
      ...REPORT,
      finishReason: 'MAX_TOKENS',
      cost: 0.5,
      usage: { inputTokens: 12, outputTokens: 7, cachedInputTokens: 2, reasoningTokens: 3 },
    };
    server.runtime.onCall = () => ({ ...success('hi'), report });
    const response = await chat(server, { temperature: 0, new_field: 1, top_p: null }, { 'x-request-id': 'my-id' });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-request-id': 'my-id',
      'x-svc-client': 'Fast',
      'x-svc-input-tokens': '12',
      'x-svc-ignored': 'temperature, new_field',
    });
    expect(await response.json()).toEqual({
      id: 'chatcmpl-my-id',
      object: 'chat.completion',
      created: expect.any(Number),
      model: 'Greet',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'hi', refusal: null },
          logprobs: null,
          finish_reason: 'length',
        },
      ],
      usage: {
        prompt_tokens: 12,
        completion_tokens: 7,
        total_tokens: 19,
        prompt_tokens_details: { cached_tokens: 2, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 3, audio_tokens: 0 },
      },
      svc: { client: 'Fast', model: 'small-1', cost: 0.5, warnings: [] },
    });
    expect(server.runtime.bodies).toEqual([{ note: 'Hello' }]);
  });

  it('answers responses with one message', async () => {
    const server = await start();
    server.runtime.onCall = () => success({ a: 1, meta: '"' });
    const response = await respond(server, { model: 'Größe', input: '{"width": 2}', instructions: 'x' });
    expect(response.headers.get('x-svc-ignored')).toBe('instructions, input');
    expect(await response.json()).toMatchObject({
      object: 'response',
      status: 'completed',
      model: 'Größe',
      output: [
        {
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: '{"a":1,"meta":"\\""}', annotations: [] }],
        },
      ],
      usage: { input_tokens: 12, output_tokens: 7, total_tokens: 19 },
      svc: { client: 'Fast' },
    });
    expect(server.runtime.bodies).toEqual([{ width: 2 }]);
  });

  const PNG = 'data:image/png;base64,aGk=';

  it.each<[string, Members, Members]>([
    ['svc_args', { svc_args: { note: 'x' }, messages: undefined }, { note: 'x' }],
    [
      'options',
      { svc_options: { tags: { a: 'b' }, include: ['timing', 'usage'] } },
      { note: 'Hello', svc_options: { tags: { a: 'b' }, include: ['timing', 'usage'] } },
    ],
    [
      'the last user message',
      {
        messages: [
          { role: 'system', content: 's' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'a' },
              { type: 'text', text: 'b' },
            ],
          },
          { role: 'assistant', content: null },
        ],
      },
      { note: 'ab' },
    ],
    ['a JSON object', { model: 'Größe', messages: [{ role: 'user', content: ' {"width": 5}' }] }, { width: 5 }],
    ['no arguments', { model: 'Sum', messages: [{ role: 'user', content: '' }] }, {}],
    [
      'a conversation',
      { model: 'Talk', messages: [{ role: 'developer', content: 'd' }, ...USER] },
      {
        turns: [
          { role: 'developer', content: 'd' },
          { role: 'user', content: 'Hello' },
        ],
      },
    ],
    [
      'media',
      {
        model: 'Look',
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What?' },
              image('https://example.org/1.png'),
              image(PNG),
              { type: 'input_audio', input_audio: { data: 'aGk=', format: 'mp3' } },
              { type: 'file', file: { file_data: PNG } },
              { type: 'file', file: { file_data: 'data:application/pdf;name=a.pdf;base64,aGk=' } },
            ],
          },
        ],
      },
      {
        question: 'What?',
        first: { url: 'https://example.org/1.png' },
        others: [
          { base64: 'aGk=', media_type: 'image/png' },
          { base64: 'aGk=', media_type: 'image/png' },
        ],
        sound: { base64: 'aGk=', media_type: 'audio/mpeg' },
        paper: { base64: 'aGk=', media_type: 'application/pdf' },
      },
    ],
  ])('takes arguments from %s', async (_, request, args) => {
    const server = await start();
    expect((await chat(server, request)).status).toBe(200);
    expect(server.runtime.bodies).toEqual([{ ...args }]);
  });

  it('takes arguments from the items of responses', async () => {
    const server = await start();
    const content = [
      { type: 'input_text', text: 'What?' },
      { type: 'input_image', image_url: PNG },
      { type: 'input_file', file_url: 'https://example.org/a.pdf' },
    ];
    await respond(server, { model: 'Look', input: [{ role: 'user', content }] });
    await respond(server, { model: 'Talk', instructions: 'Be brief.', input: 'Hi' });
    expect(server.runtime.bodies).toEqual([
      {
        question: 'What?',
        first: { base64: 'aGk=', media_type: 'image/png' },
        paper: { url: 'https://example.org/a.pdf' },
      },
      {
        turns: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Hi' },
        ],
      },
    ]);
  });

  it.each<[string, Members, string, RegExp]>([
    ['no model', { model: 5 }, 'model', /name of a function/],
    ['no messages', { messages: 'Hello' }, 'messages', /list of messages/],
    ['a message without a role', { messages: [...USER, {}] }, 'messages[1]', /"role"/],
    ['no user message', { messages: [{ role: 'system', content: 'x' }] }, 'messages', /there is none/],
    [
      'a content of another type',
      { messages: [{ role: 'user', content: 5 }] },
      'messages[0].content',
      /string or a list/,
    ],
    [
      'a file without its content',
      { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'f' } }] }] },
      'messages[0].content[0]',
      /of type "file"/,
    ],
    [
      'an image for a function without one',
      { messages: [{ role: 'user', content: [image(PNG)] }] },
      'messages',
      /no parameter for this part: image/,
    ],
    ['prose instead of arguments', { model: 'Größe' }, 'messages', /JSON object in the last user message/],
    [
      'arguments that are too deep',
      { model: 'Größe', messages: [{ role: 'user', content: '{"a":'.repeat(500) }] },
      'messages',
      /levels/,
    ],
    [
      'options in a message',
      { model: 'Größe', messages: [{ role: 'user', content: '{"svc_options":{}}' }] },
      'messages',
      /"svc_options"/,
    ],
    ['options in the arguments', { svc_args: { __baml_options__: {} } }, 'svc_args', /"svc_options"/],
    ['a list of arguments', { svc_args: [] }, 'svc_args', /has to be an object/],
    ['a stream that is a word', { stream: 'yes' }, 'stream', /true or false/],
  ])('refuses %s, and logs and counts it', async (_, request, param, message) => {
    const server = await start();
    const response = await chat(server, request);
    const error = await errorOf(response);
    expect([response.status, error['type'], error['code'], error['param']]).toEqual([
      400,
      'invalid_request_error',
      'invalid_argument',
      param,
    ]);
    expect(error['message']).toMatch(message);
    expect(server.runtime.bodies).toEqual([]);
    expect(server.log.filter(({ fields }) => fields['error'] === 'invalid_argument')).toHaveLength(1);
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(metrics).toMatch(/svc_failures_total\{[^}]*error="invalid_argument"[^}]*\} 1/);
    expect(server.services.active.size).toBe(0);
  });

  it('refuses a number that JSON.parse makes infinite', async () => {
    const server = await start();
    const response = await post(server, '/v1/chat/completions', '{"model":"Größe","svc_args":{"width":1e999}}');
    expect([response.status, (await errorOf(response))['param']]).toEqual([400, 'svc_args']);
  });

  it('treats each field as its table states', async () => {
    const server = await start();
    for (const [fields, send] of [
      [CHAT_FIELDS, chat],
      [RESPONSES_FIELDS, respond],
    ] as const) {
      expect(Object.keys(fields).length).toBeGreaterThan(25);
      for (const [key, { use }] of Object.entries(fields)) {
        if (use === 'used') continue;
        const response = await send(server, { [key]: 'x' });
        if (use === 'ignored')
          expect([key, response.status, response.headers.get('x-svc-ignored')]).toEqual([key, 200, key]);
        else expect([key, response.status, (await errorOf(response))['param']]).toEqual([key, 400, key]);
        expect((await send(server, { [key]: null })).headers.get('x-svc-ignored')).toBeNull();
      }
    }
  });

  it.each<[Members, string | null]>([
    [
      {
        n: 1,
        tools: [],
        tool_choice: 'auto',
        functions: [],
        function_call: 'none',
        logprobs: false,
        top_logprobs: 0,
        modalities: ['text'],
      },
      null,
    ],
    [{ response_format: { type: 'text' } }, null],
    [{ response_format: { type: 'json_object' } }, 'response_format'],
    [{ model: 'Sum', svc_args: {}, response_format: { type: 'json_schema' } }, null],
    [{ model: 'Sum', svc_args: {}, response_format: { type: 'text' } }, 'response_format'],
  ])('accepts %j', async (request, ignored) => {
    const server = await start();
    const response = await chat(server, request);
    expect([response.status, response.headers.get('x-svc-ignored')]).toEqual([200, ignored]);
  });

  it('limits the header that lists ignored fields', async () => {
    const server = await start();
    const fields = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`${at}é\n${'x'.repeat(100)}`, 1]));
    const response = await chat(server, fields);
    const listed = response.headers.get('x-svc-ignored') ?? '';
    expect([response.status, listed.split(', ').length]).toEqual([200, 31]);
    expect(listed).toMatch(/^0\?\?x{54}\.\.\., .*, and 20 more$/u);
  });

  it('answers every error in the shape and with the status that clients know', async () => {
    const server = await start({ apiKey: 'secret', maxBodyBytes: 1_000 });
    const key = { authorization: 'Bearer secret' };
    const missing = await chat(server, {});
    expect([missing.status, missing.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect(await errorOf(missing)).toMatchObject({
      type: 'invalid_request_error',
      code: 'invalid_api_key',
      param: null,
    });
    const rows: Array<[Response, number, string]> = [
      [await chat(server, { model: 'Gret' }, key), 404, 'model_not_found'],
      [await post(server, '/v1/chat/completions', '{', key), 400, 'invalid_json'],
      [await post(server, '/v1/chat/completions', '[]', key), 400, 'invalid_argument'],
      [await post(server, '/v1/chat/completions', ' '.repeat(2_000), key), 413, 'payload_too_large'],
      [
        await post(server, '/v1/chat/completions', '{}', { ...key, 'content-type': 'text/plain' }),
        415,
        'unsupported_media_type',
      ],
      [await post(server, '/v1/completions', '{}', key), 404, 'not_found'],
      [await post(server, '/v1/models', '{}', key), 405, 'method_not_allowed'],
      [await fetch(`${server.url}/v1/responses`, { headers: key }), 405, 'method_not_allowed'],
    ];
    for (const [response, status, code] of rows) {
      const error = await errorOf(response);
      expect([response.status, error['code'], error['type']]).toEqual([status, code, 'invalid_request_error']);
      expect(response.headers.get('x-request-id')).toBe((error['svc'] as Members)['request_id']);
    }
    expect(server.services.active.size).toBe(0);
  });

  it('states no parameter of a function that the key cannot call', async () => {
    const keys = [{ name: 'a', sha256: hash('sha256', 'secret'), functions: ['Greet'] }];
    const server = await start({ keyFile: { keys } });
    const response = await chat(server, { model: 'Größe' }, { authorization: 'Bearer secret' });
    expect([response.status, (await errorOf(response))['code']]).toEqual([403, 'Forbidden']);
  });

  it('does not return the kept answer of a call, which lacks parts', async () => {
    const server = await start();
    const headers = { 'idempotency-key': 'one' };
    expect((await post(server, '/call/Greet', { note: 'Hello' }, headers)).status).toBe(200);
    expect((await chat(server, {}, headers)).status).toBe(422);
    const again = { 'idempotency-key': 'two' };
    const answers = [await chat(server, {}, again), await chat(server, {}, again)];
    const [first, second] = await Promise.all(answers.map((answer) => answer.json() as Promise<Members>));
    expect(second?.['choices']).toEqual(first?.['choices']);
    expect(server.runtime.calls).toHaveLength(2);
  });

  it('counts the limits of a key, and asks for a pause', async () => {
    const keys = [{ name: 'a', sha256: hash('sha256', 'secret'), limits: { requestsPerMinute: 1 } }];
    const server = await start({ keyFile: { keys } });
    const headers = { authorization: 'Bearer secret' };
    const first = await chat(server, {}, headers);
    expect([first.status, first.headers.has('ratelimit')]).toEqual([200, true]);
    const second = await chat(server, {}, headers);
    expect([second.status, second.headers.has('retry-after')]).toEqual([429, true]);
    expect(await errorOf(second)).toMatchObject({ type: 'rate_limit_error', code: 'rate_limited' });
  });

  it('asks clients not to repeat what svc has repeated', async () => {
    const server = await start();
    server.runtime.onCall = () =>
      failed({ code: 'validation_failure', message: 'no', rawOutput: 'x', details: [{ path: 'a.b', message: 'm' }] });
    const response = await chat(server, {});
    expect([response.status, response.headers.get('x-should-retry')]).toEqual([500, 'false']);
    expect(await errorOf(response)).toMatchObject({
      type: 'server_error',
      code: 'validation_failure',
      param: 'a.b',
      svc: { raw_output: 'x' },
    });
    server.runtime.onCall = () => failed({ code: 'overloaded', message: 'full', retryAfterSeconds: 1 });
    const full = await chat(server, {});
    expect([full.status, full.headers.get('x-should-retry'), full.headers.get('retry-after')]).toEqual([
      503,
      null,
      '1',
    ]);
  });

  // --- streams ---------------------------------------------------------------------------------------------------------

  async function open(
    path: string,
    body: Members,
    config: Partial<Config> = {},
  ): Promise<{ server: TestServer; reader: RawConnection; stream: ScriptedStream }> {
    const server = await start({ partialIntervalMs: 0, ...config });
    const reader = new RawConnection(server.port);
    connections.push(reader);
    const text = JSON.stringify({ model: 'Greet', stream: true, ...body });
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}`;
    reader.write(`${head}\r\n\r\n${text}`);
    await until(() => server.runtime.streams.length === 1);
    const [stream] = server.runtime.streams;
    if (stream === undefined) throw new Error('no stream');
    return { server, reader, stream };
  }

  const openChat = (body: Members = {}) => open('/v1/chat/completions', { messages: USER, ...body });

  it('streams chunks whose deltas are the content', async () => {
    const { reader, stream, server } = await openChat({ stream_options: { include_usage: true } });
    for (const text of ['Hel', 'Hello\u2028', 'Hello\u2028']) stream.grow(text);
    stream.observer.ended(success('Hello\u2028!'));
    await ended(reader);
    const all = events(reader);
    expect(all.at(-1)).toBe('[DONE]');
    const chunks = all.slice(0, -1).map(
      (each) =>
        JSON.parse(each) as {
          choices: Array<{ delta: Members; finish_reason: string | null }>;
          usage?: Members;
          svc?: Members;
        },
    );
    expect(chunks.map(({ choices: [choice] }) => [choice?.delta, choice?.finish_reason])).toEqual([
      [{ role: 'assistant', content: '', refusal: null }, null],
      [{ content: 'Hel' }, null],
      [{ content: 'lo\u2028' }, null],
      [{ content: '!' }, null],
      [{}, 'stop'],
      [undefined, undefined],
    ]);
    expect(chunks.map(({ usage }) => usage?.['total_tokens'])).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      19,
    ]);
    expect(chunks[4]?.svc).toMatchObject({ client: 'Fast', model: 'small-1' });
    expect(reader.text).not.toContain('\u00e2\u0080\u00a8');
    expect(server.services.active.size).toBe(0);
  });

  it('streams a value that is not a string as JSON, in parts that cannot change', async () => {
    const { reader, stream } = await openChat({ model: 'Größe', svc_args: { width: 1 } });
    stream.grow({ role: null, content: null });
    stream.grow({ role: 'a', content: null });
    stream.grow({ role: 'ab', content: 'x' });
    stream.grow({ role: 'ab', content: 'xyz' });
    stream.observer.ended(success({ role: 'ab', content: 'xyz.' }));
    await ended(reader);
    expect(deltas(reader)).toEqual(['', '{"role":"a', 'b', '","content":"xyz', '."}']);
  });

  it('sends a value of several kinds when it is complete', async () => {
    const { reader, stream } = await openChat({ model: 'Talk' });
    stream.grow('I will call');
    stream.observer.ended(success({ role: 'a', content: 'b' }));
    await ended(reader);
    expect(deltas(reader)).toEqual(['', '{"role":"a","content":"b"}']);
  });

  it.each(['/v1/chat/completions', '/v1/responses'])(
    '%s ends with an error if the value does not continue what was sent',
    async (path) => {
      const { reader, stream } = await open(path, { messages: USER, input: 'Hello' });
      stream.grow('Hello');
      stream.observer.reset('an attempt failed');
      stream.grow('Hi');
      stream.observer.ended(success('Hi.'));
      await ended(reader);
      const last = JSON.parse(events(reader).at(-1) ?? '') as Members;
      expect(last['error']).toMatchObject({ type: 'server_error', code: 'answer_changed' });
      expect(deltas(reader).join('')).toBe('Hello');
    },
  );

  it.each(['/v1/chat/completions', '/v1/responses'])(
    '%s ends with the error of a failure after its start, and before has its status',
    async (path) => {
      const down = { code: 'client_error', message: 'down', client: 'Fast', attempts: [] } as const;
      const { reader, stream } = await open(path, { messages: USER, input: 'Hello' });
      stream.grow('a');
      stream.observer.ended(failed(down));
      await ended(reader);
      expect(JSON.parse(events(reader).at(-1) ?? '')).toMatchObject({
        error: { code: 'client_error', type: 'server_error', message: 'down' },
      });
      const early = await open(path, { messages: USER, input: 'Hello' });
      early.stream.observer.ended(failed(down));
      await early.reader.until(() => early.reader.answers().length === 1);
      const [answer] = early.reader.answers();
      expect([answer?.status, (JSON.parse(answer?.body ?? '') as { error: Members }).error['code']]).toEqual([
        502,
        'client_error',
      ]);
    },
  );

  it('streams the typed events of a response', async () => {
    const { reader, stream } = await open('/v1/responses', { input: 'Hello' });
    stream.grow('He');
    stream.observer.ended({ ...success('Hey'), report: { ...REPORT, finishReason: 'length' } });
    await ended(reader);
    const all = events(reader).map((each) => JSON.parse(each) as Members);
    expect(all.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.incomplete',
    ]);
    expect(all.map((each) => each['sequence_number'])).toEqual(all.map((_, index) => index));
    expect(all[6]).toMatchObject({ text: 'Hey' });
    expect(all[9]).toMatchObject({
      response: {
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
        usage: { total_tokens: 19 },
      },
    });
  });

  it('cancels the call when its caller leaves', async () => {
    const { reader, server, stream } = await openChat();
    stream.grow('Hello');
    await reader.until(() => deltas(reader).length === 2);
    reader.socket.destroy();
    await until(() => server.services.active.size === 0);
    expect(stream.context.cancellation.cancelled).toBe(true);
  });

  it('exists only if it is on', async () => {
    const server = await startServer(name);
    servers.push(server);
    expect((await post(server, '/v1/chat/completions', {})).status).toBe(404);
  });
});

/** The data of the events so far, in their order. */
function events(reader: RawConnection): readonly string[] {
  const text = reader.received.toString();
  return text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []));
}

/** The texts of the deltas so far. */
function deltas(reader: RawConnection): readonly string[] {
  return events(reader).flatMap((each) => {
    if (each === '[DONE]') return [];
    const { choices, delta } = JSON.parse(each) as { choices?: Array<{ delta: { content?: string } }>; delta?: string };
    const content = choices?.[0]?.delta.content ?? delta;
    return content === undefined ? [] : [content];
  });
}

it('reports to the stream whether its reader accepts events', () => {
  const written: string[] = [];
  let accepts = true;
  let drain: ((empty: boolean) => void) | undefined;
  const outer = {
    start: () => undefined,
    write: (text: string) => {
      written.push(text);
      return accepts;
    },
    onDrain: (listener: (empty: boolean) => void) => {
      drain = listener;
    },
  } as Partial<HttpResponse> as HttpResponse;
  const format = CHAT.format({ id: 'a', created: 0, model: 'Greet' }, {});
  const answer = new TranslatedAnswer(outer, format, { flows: true, more: [] });
  const drained: boolean[] = [];
  answer.start(200, [], COMMENT);
  answer.onDrain((empty) => drained.push(empty));
  expect(answer.write('data: {"partial_result":"a"}\n\n')).toBe(true);
  accepts = false;
  expect(answer.write(COMMENT)).toBe(false);
  // The event has no new text.
  expect(answer.write('data: {"partial_result":"a"}\n\n')).toBe(false);
  expect(['data: ', '{"partial_result":', '"ab"'].map((part) => answer.write(part))).toEqual([false, false, false]);
  drain?.(true);
  expect(drained).toEqual([true]);
  expect(answer.write('')).toBe(true);
  expect(answer.write('}\n\n')).toBe(false);
  expect(written).toHaveLength(4);
  expect(written[2]).toBe(COMMENT);
});
