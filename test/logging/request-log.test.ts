import { expect, test } from 'vitest';
import { countSteps } from '../support/count-steps.ts';
import { OPTIONS_KEYS } from '../../src/base/json.ts';
import type { Config } from '../../src/config/config.ts';
import { createLogger } from '../../src/logging/create-logger.ts';
import { Redactor } from '../../src/logging/redactor.ts';
import { createRequestLog, type RequestEntry } from '../../src/logging/request-log.ts';

const CANARY = 'canary-0123456789-value';

const CALL: RequestEntry = {
  requestId: 'r1',
  method: 'POST',
  path: '/call/Extract',
  functionName: 'Extract',
  status: 200,
  ms: 12.3456,
  client: 'OpenAI',
  model: 'gpt-4o-mini',
  attempts: 2,
  inputTokens: 100,
  outputTokens: 20,
  requestText: '{"text":"hello"}',
  requestBody: { text: 'hello' },
  responseText: '"world"',
};

type Settings = Partial<Pick<Config, 'logContent' | 'logLevel' | 'logSample' | 'slowMs'>>;

/** The lines of a request; `drawn` decides whether a sample contains it. */
function logged(entry: RequestEntry, settings: Settings = {}, drawn = 0.5): readonly Record<string, unknown>[] {
  const lines: string[] = [];
  const common = { logLevel: 'info', logContent: 'short', logSample: 1, slowMs: 0 } as const;
  const config = { ...common, secrets: [CANARY], env: {}, ...settings };
  const write = (line: string) => {
    lines.push(line);
  };
  const redactor = new Redactor(config.secrets);
  const logger = createLogger(config, { write, terminal: false, redactor });
  const log = createRequestLog(logger, config, { redactor, random: () => drawn });
  const level = log.levelOf(entry.status, entry.ms);
  if (level !== undefined) log.write(level, entry);
  return lines.map((line) => JSON.parse(line));
}

function loggedLine(entry: RequestEntry, settings: Settings = {}): Record<string, unknown> {
  const entries = logged(entry, settings);
  expect(entries).toHaveLength(1);
  return entries[0] ?? {};
}

test('a call is one line with function, status, time, client, tokens and both bodies', () => {
  expect(loggedLine(CALL)).toMatchObject({
    level: 'info',
    msg: 'request',
    requestId: 'r1',
    method: 'POST',
    path: '/call/Extract',
    function: 'Extract',
    status: 200,
    ms: 12.3,
    client: 'OpenAI',
    model: 'gpt-4o-mini',
    attempts: 2,
    inputTokens: 100,
    outputTokens: 20,
    request: '{"text":"hello"}',
    response: '"world"',
  });
});

test('a line has up to 20 tags of the call, all with content full, and none with content none', () => {
  const tags = new Map([
    ['team', 'billing'],
    ['__proto__', CANARY],
  ]);
  const line = loggedLine({ ...CALL, tags });
  expect(Object.entries(line['tags'] ?? {})).toEqual([
    ['team', 'billing'],
    ['__proto__', expect.not.stringContaining(CANARY)],
  ]);
  expect(loggedLine({ ...CALL, tags }, { logContent: 'none' })).not.toHaveProperty('tags');
  expect(loggedLine({ ...CALL, tags: new Map() })).not.toHaveProperty('tags');
  const many = new Map(Array.from({ length: 30 }, (_, index) => [`t${index}`, 'x']));
  const names = (settings?: Settings) => Object.keys(loggedLine({ ...CALL, tags: many }, settings)['tags'] ?? {});
  expect(names()).toHaveLength(20);
  expect(names({ logContent: 'full' })).toHaveLength(30);
});

test('a line omits unknown facts', () => {
  const { path: _path, ...line } = loggedLine({ requestId: 'r', method: 'GET', path: '/x', status: 404, ms: 1 });
  expect(Object.keys(line).toSorted()).toEqual(['level', 'method', 'ms', 'msg', 'pid', 'requestId', 'status', 'time']);
});

test.each([
  [200, 1, 'info'],
  [404, 1, 'warn'],
  [502, 1, 'error'],
  [200, 9_999, 'info'],
  [200, 10_000, 'warn'],
  [502, 10_000, 'error'],
])('with --slow 10s, a call with status %i and %i ms is logged at %s', (status, ms, level) => {
  expect(loggedLine({ ...CALL, status, ms }, { slowMs: 10_000 })['level']).toBe(level);
});

test('a sample leaves out lines of successful calls only, and its lines state their share', () => {
  expect(logged(CALL, { logSample: 0.01 }, 0.009)).toMatchObject([{ sample: 0.01 }]);
  expect(logged(CALL, { logSample: 0.01 }, 0.01)).toEqual([]);
  for (const status of [400, 502])
    expect(loggedLine({ ...CALL, status }, { logSample: 0.01 })).not.toHaveProperty('sample');
  expect(loggedLine({ ...CALL, ms: 5 }, { logSample: 0.01, slowMs: 5 })['level']).toBe('warn');
  expect(loggedLine(CALL)).not.toHaveProperty('sample');
});

test('a long body is cut to 2 KB, and its length is stated', () => {
  const line = loggedLine({ ...CALL, requestText: 'x'.repeat(5000) });
  expect(line['request']).toBe(`${'x'.repeat(2048)}… (5000 characters)`);
});

test('no part remains of an unknown key that crosses the cut', () => {
  const text = `${'x'.repeat(2030)} sk-${'k9'.repeat(24)} ${'y'.repeat(1000)}`;
  expect(String(loggedLine({ ...CALL, responseText: text })['response'])).not.toContain('k9');
});

test('content none omits bodies, prompts, and messages that quote them', () => {
  const error = { code: 'validation_failure', message: 'private text does not fit', details: ['private'] };
  const entries = logged(
    { ...CALL, error, prompt: [{ role: 'user', content: 'private' }], rawReply: 'private', responseText: 'private' },
    { logContent: 'none', logLevel: 'debug' },
  );
  expect(JSON.stringify(entries)).not.toContain('private');
  expect(entries[0]).toMatchObject({ error: 'validation_failure', status: 200 });
  const plain = { code: 'timeout', message: 'no reply after 60 s' };
  expect(loggedLine({ ...CALL, error: plain }, { logContent: 'none' })['reason']).toBe('no reply after 60 s');
});

test('at debug, a second line has the prompt and the reply, in full with content full', () => {
  const prompt = [{ role: 'user', content: 'p'.repeat(9000) }];
  const entries = logged({ ...CALL, prompt, rawReply: 'the reply' }, { logLevel: 'debug', logContent: 'full' });
  expect(entries).toHaveLength(2);
  expect(entries[1]).toMatchObject({ level: 'debug', requestId: 'r1', reply: 'the reply' });
  expect(JSON.parse(String(entries[1]?.['prompt']))).toEqual(prompt);
});

const REQUEST_KEY = 'caller-key-0123456789';

test.each(OPTIONS_KEYS)('credentials that a caller sends in %s are hidden', (name) => {
  const body = {
    text: 'hello',
    [name]: {
      env: { SOME_VARIABLE: REQUEST_KEY },
      client_registry: {
        clients: [
          {
            name: 'Mine',
            provider: 'openai',
            options: { api_key: 'other-key-0123456789', model: 'gpt-4o', headers: { 'x-team': 'header-0123456789' } },
          },
        ],
      },
    },
  };
  const error = { code: 'client_error', message: `bad key ${REQUEST_KEY}`, details: ['other-key-0123456789'] };
  const entry = { ...CALL, requestText: JSON.stringify(body), requestBody: body, error, rawReply: REQUEST_KEY };
  const text = JSON.stringify(logged({ ...entry, prompt: [REQUEST_KEY] }, { logLevel: 'debug' }));
  expect(text).not.toMatch(/(?:caller-key|other-key|header)-0123456789/u);
  expect(text).toContain('gpt-4o');
  expect(text).toContain('hello');
});

test('tags and the options for warnings and losses are not credentials: the log shows them', () => {
  const plain = { tags: { team: 'the-blue-team' }, include: ['warnings'], on_loss: 'refuse' };
  const body = { text: 'hello', __baml_options__: { ...plain, env: { KEY: REQUEST_KEY } } };
  const { request } = loggedLine({ ...CALL, requestText: JSON.stringify(body), requestBody: body });
  expect(JSON.parse(String(request))).toMatchObject({ __baml_options__: plain });
  expect(request).not.toContain(REQUEST_KEY);
});

const KEY = 'wJalrXUtnFEMI/K7MDENG';

test.each([
  ['escaped in another way', `{"svc_options": {"env": {"AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI\\/K7MDENG"}}}`],
  ['repeated', `{"svc_options": {"env": {"A": "${KEY}"}}, "svc_options": {"env": {}}}`],
  ['beside the options', `{"svc_options": {"client_registry": {"clients": [{"name": "M", "api_key": "${KEY}"}]}}}`],
  ['where a list should be', `{"svc_options": {"client_registry": {"clients": {"M": {"api_key": "${KEY}"}}}}}`],
])('a credential of the request that is %s is in no line', (_, requestText) => {
  const requestBody: unknown = JSON.parse(requestText);
  const line = JSON.stringify(loggedLine({ ...CALL, requestText, requestBody }, { logContent: 'full' }));
  expect(line).not.toMatch(/wJalrXUtnFEMI/u);
});

test('a request with thousands of credentials is logged in few steps, without content', () => {
  const env = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`A${index}`, `value-${index}`]));
  const requestBody = { text: 'hello', svc_options: { env } };
  const entry = { ...CALL, requestText: JSON.stringify(requestBody), requestBody };
  let line: ReturnType<typeof loggedLine> = {};
  const steps = countSteps(() => {
    line = loggedLine(entry);
  });
  expect(steps).toBeLessThan(100 * 20_000);
  expect(line['request']).toBe('[not logged: the request contains 20000 credentials]');
});

test('the log builds nothing for a level that is off', () => {
  const entry = {
    ...CALL,
    get requestText(): string {
      throw new Error('it was read');
    },
  };
  expect(logged(entry, { logLevel: 'error' })).toEqual([]);
});

const FLAGS = [
  { flag: 'markdown', path: '' },
  { flag: 'dropped-item', path: 'people[2]' },
  { flag: 'dropped-item', path: 'people[3]' },
];

function flagsOf(flags: RequestEntry['flags'], settings?: Settings): readonly string[] | undefined {
  return loggedLine({ ...CALL, flags }, settings)['flags'] as readonly string[] | undefined;
}

test('the first repairs of a reply are logged with their paths, cut, and with content none without them', () => {
  expect(flagsOf(FLAGS)).toEqual(['markdown', 'dropped-item people[2]', 'dropped-item people[3]']);
  expect(flagsOf([])).toBeUndefined();
  // A path can contain keys that a model wrote.
  expect(flagsOf(FLAGS, { logContent: 'none' })).toEqual(['markdown', 'dropped-item']);
  const many = Array.from({ length: 100 }, (_, index) => ({ flag: 'extra-key', path: `${'k'.repeat(500)}${index}` }));
  const short = flagsOf(many) ?? [];
  expect(short).toHaveLength(21);
  expect(short.at(-1)).toBe('… (100 flags)');
  expect(Math.max(...short.map((text) => text.length))).toBe(121);
  expect(flagsOf(many, { logContent: 'full' })).toHaveLength(100);
});

test('losses are two counts on the same line, at every amount of content', () => {
  const losses = { dropped: 2, defaulted: 1 };
  for (const logContent of ['none', 'short', 'full'] as const) {
    expect(loggedLine({ ...CALL, losses }, { logContent })).toMatchObject({ level: 'info', losses });
  }
  expect(loggedLine({ ...CALL, losses: { dropped: 0, defaulted: 0 } })).not.toHaveProperty('losses');
});

const KEY_OF_CALLER = 'zq81-vv72-mm40-pp19';

/** Each body contains the key at a place that is not that of the options, and gets 400. */
const MISPLACED: ReadonlyArray<readonly [place: string, body: unknown]> = [
  ['options under a misspelled name', { svc_option: { env: { PLAIN: KEY_OF_CALLER } } }],
  ['options under the name of BAML with one underscore', { __baml_options: { env: { PLAIN: KEY_OF_CALLER } } }],
  ['a registry beside the arguments', { client_registry: { clients: [{ name: 'A', options: { x: KEY_OF_CALLER } }] } }],
  ['clients beside the arguments', { clients: [{ name: 'A', options: { headers: { 'x-a': KEY_OF_CALLER } } }] }],
  ['variables beside the arguments', { env: { ANY: KEY_OF_CALLER } }],
  ['a key beside the arguments', { api_key: KEY_OF_CALLER }],
  ['a key in a list', { text: [{ accessToken: [KEY_OF_CALLER] }] }],
  ['an unknown key of the options', { svc_options: { whatever: { deep: [KEY_OF_CALLER] } } }],
  [
    'a URL',
    {
      svc_options: {
        client_registry: { clients: [{ options: { base_url: `https://u:${KEY_OF_CALLER}@h/?key=${KEY_OF_CALLER}` } }] },
      },
    },
  ],
];

test.each(MISPLACED)('a refused request with a key in %s is logged without it', (_, requestBody) => {
  const requestText = JSON.stringify(requestBody);
  for (const text of [requestText, requestText.replaceAll('e', String.raw`\u0065`)]) {
    const entry = { ...CALL, status: 400, requestBody, requestText: text };
    const lines = JSON.stringify(logged(entry, { logLevel: 'debug', logContent: 'full' }));
    expect(lines).not.toContain(KEY_OF_CALLER);
    expect(lines).not.toContain('zq81');
  }
});

test('a value beside the arguments whose name looks like a credential is hidden, even where the model repeats it', () => {
  const requestBody = { user: { password: KEY_OF_CALLER }, max_tokens: 'many', author: 'Ada Lovelace' };
  const entry = {
    ...CALL,
    requestBody,
    requestText: JSON.stringify(requestBody),
    responseText: JSON.stringify({ greeting: `Your password is ${KEY_OF_CALLER}` }),
    prompt: [{ role: 'user', content: Buffer.from(KEY_OF_CALLER).toString('base64') }],
    rawReply: encodeURIComponent(KEY_OF_CALLER),
    failedAttempts: [{ client: 'A', message: KEY_OF_CALLER }],
    finishReason: `stopped at ${KEY_OF_CALLER}`,
    flags: [{ flag: 'extra-key', path: KEY_OF_CALLER }],
  };
  const lines = JSON.stringify(logged(entry, { logLevel: 'debug', logContent: 'full' }));
  expect(lines).not.toContain(KEY_OF_CALLER);
  expect(lines).not.toContain(Buffer.from(KEY_OF_CALLER).toString('base64').slice(2, 20));
  expect(lines).toContain('Ada Lovelace');
  expect(lines).toContain('many');
});

/** Words that a business uses for its own data, and that also name credentials. */
const BUSINESS_NAMES = ['signatures', 'credentials', 'token', 'cookies', 'passwordHint', 'api_key', 'secret', 'env'];

test.each(BUSINESS_NAMES)('an argument, or a field of one, with the name "%s" is data: every text shows it', (name) => {
  const value = 'oatmeal and raisin';
  const options = { env: { ANY: KEY_OF_CALLER } };
  for (const argument of [value, [{ [name]: value, deep: { [name]: [value] } }]]) {
    const requestBody = { [name]: argument, svc_options: options };
    const entry = {
      ...CALL,
      parameters: new Set([name]),
      requestBody,
      requestText: JSON.stringify(requestBody),
      responseText: JSON.stringify({ [name]: value, also: KEY_OF_CALLER }),
      prompt: [{ role: 'user', content: value }],
      rawReply: value,
      error: { code: 'validation_failure', message: value, details: [{ path: name, message: value }] },
    };
    for (const status of [200, 400, 500]) {
      const lines = logged({ ...entry, status }, { logLevel: 'debug', logContent: 'full' });
      const shown = {
        request: expect.stringContaining(JSON.stringify(argument)),
        details: expect.stringContaining(value),
      };
      expect(lines).toMatchObject([
        { ...shown, reason: value, response: JSON.stringify({ [name]: value, also: '[redacted]' }) },
        { prompt: expect.stringContaining(value), reply: value },
      ]);
      expect(JSON.stringify(lines)).not.toContain(KEY_OF_CALLER);
    }
  }
});

test('options that a caller puts inside an argument are not data', () => {
  for (const key of OPTIONS_KEYS) {
    const requestBody = { order: { text: 'hello', [key]: { env: { ANY: KEY_OF_CALLER } } } };
    for (const text of [JSON.stringify(requestBody), JSON.stringify(requestBody).replaceAll('_', String.raw`\u005f`)]) {
      const entry = {
        ...CALL,
        parameters: new Set(['order']),
        requestBody,
        requestText: text,
        rawReply: KEY_OF_CALLER,
      };
      expect(JSON.stringify(logged(entry, { logLevel: 'debug', logContent: 'full' }))).not.toContain(KEY_OF_CALLER);
    }
  }
});

test('the reply of an offline client that a request defines is not a credential', () => {
  const reply = '{"token": "oatmeal and raisin"}';
  const clients = [{ name: 'Canned', provider: 'offline', options: { reply, replies: [{ reply }] } }];
  const requestBody = { svc_options: { client_registry: { primary: 'Canned', clients } } };
  const line = loggedLine({ ...CALL, requestBody, requestText: JSON.stringify(requestBody), responseText: reply });
  expect(line['response']).toBe(reply);
});

test('many masks before the cut do not expose a credential that the cut splits', () => {
  const short = `{"text":"sk-${'p9'.repeat(30)}"}`;
  for (let shift = 0; shift < 80; shift += 1) {
    const text = `${short.repeat(35)}${'x'.repeat(shift)}${CANARY.repeat(60)}${'y'.repeat(3000)}`;
    expect(String(loggedLine({ ...CALL, responseText: text })['response'])).not.toMatch(/canar|p9p9/u);
  }
});

test('no part of a credential that crosses the cut is logged, in any form', () => {
  // The last digit of base64 has only two bits of the credential.
  const digits = Buffer.from(CANARY).toString('base64').slice(0, 30);
  for (const encoded of [CANARY, encodeURIComponent(CANARY), digits]) {
    for (let at = 2048 - encoded.length; at <= 2048; at += 1) {
      const text = `${'x'.repeat(at)}${encoded}${'y'.repeat(4000)}`;
      const shown = String(loggedLine({ ...CALL, responseText: text })['response']).split('…')[0] ?? '';
      expect(shown.slice(at).replace(/^\[redacted\]y*$/u, '')).toMatch(/^[[redacted\]]{0,10}$/u);
    }
  }
});
