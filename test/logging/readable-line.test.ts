import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLogger } from '../../src/logging/create-logger.ts';
import type { LogFields, Logger } from '../../src/logging/logger.ts';
import { terminalLine } from '../../src/logging/readable-line.ts';
import { assertProperty } from '../support/assert-property.ts';

const REQUEST = {
  level: 'info',
  time: '2026-01-02T03:04:05.678Z',
  pid: 7,
  worker: 1,
  requestId: 'r1',
  method: 'POST',
  path: '/stream/ExtractResume',
  function: 'ExtractResume',
  status: 200,
  ms: 1234.5,
  client: 'OpenAI',
  model: 'gpt-5-mini',
  attempts: 3,
  inputTokens: 812,
  outputTokens: 94,
  firstTextMs: 310.2,
  msg: 'request',
};

/** The lines for a terminal without colours. */
function lines(fields: Readonly<Record<string, unknown>> = {}): readonly string[] {
  return terminalLine(JSON.stringify({ ...REQUEST, ...fields }), false)
    .split('\n')
    .slice(0, -1);
}

test('a request is one line with outcome, function, time, client, attempts, tokens and first token', () => {
  expect(lines()).toEqual([
    '03:04:05 info  200 ok /stream/ExtractResume 1235 ms · OpenAI · 3 attempts · 812 in, 94 out · first 310 ms',
  ]);
});

test('the bodies are below the request line', () => {
  const bodies = { request: '{"resume":"Ada"}', response: '{"name":"Ada"}' };
  expect(lines(bodies).slice(1)).toEqual(['         request: {"resume":"Ada"}', '         response: {"name":"Ada"}']);
});

test('the id and the reason of a failure are below the request line', () => {
  const failure = { level: 'error', status: 504, error: 'timeout', reason: 'it took too long' };
  expect(lines(failure)).toEqual([
    expect.stringContaining('error 504 timeout /stream/ExtractResume 1235 ms'),
    '         id: r1',
    '         reason: it took too long',
  ]);
});

test('the times of a slow call are below the request line', () => {
  const attempts = [
    { client: 'OpenAI', outcome: 'client_error', ms: 400 },
    { client: 'Claude', outcome: 'ok', ms: 9000 },
  ];
  const times = { body: 1, queue: 200, render: 0.4, model: 9400, parse: 3, rest: 500, attempts };
  expect(lines({ level: 'warn', times })[2]).toBe(
    '         time: body 1.0 ms, queue 200 ms, render 0.4 ms, model 9400 ms, parse 3.0 ms, rest 500 ms, ' +
      'attempts (OpenAI client_error 400 ms, Claude ok 9000 ms)',
  );
});

test('the outcome states repairs and losses', () => {
  expect(lines({ flags: ['markdown'] })[0]).toContain(' 200 repaired /stream');
  expect(lines({ flags: ['x'], losses: { dropped: 1, defaulted: 0 } })[0]).toContain(' 200 lossy /stream');
});

test('a value that an offline client made up is neither ok nor repaired', () => {
  const repaired = lines({ level: 'warn', flags: ['made-up', 'markdown'] });
  expect(repaired[0]).toContain(' 200 made up /stream');
  expect(repaired).toContainEqual('         repaired: markdown');
  expect(lines({ level: 'warn', flags: ['made-up'] }).join('\n')).not.toContain('repaired');
});

test('a request line has at most 120 columns and no control characters, whatever names the request contains', () => {
  const name = fc.string({ maxLength: 300 });
  const count = fc.nat(10 ** 9);
  const fields = fc.record({
    path: name,
    client: name,
    error: name,
    ms: count,
    attempts: count,
    inputTokens: count,
    outputTokens: count,
    firstTextMs: count,
    partials: count,
    cost: fc.double({ min: 0, max: 1e12, noNaN: true }),
  });
  assertProperty(
    fc.property(fields, (of) => {
      const [line = ''] = lines(of);
      expect(line.length).toBeLessThanOrEqual(120);
      expect(line).toMatch(/^[^\p{Cc}]*$/u);
    }),
  );
});

test('other text stays unchanged, except for control characters', () => {
  expect(terminalLine('svc: listening on \u001B[2Jhttp://localhost\n', false)).toBe(
    'svc: listening on \\x1b[2Jhttp://localhost\n',
  );
  expect(terminalLine('null', false)).toBe('null\n');
});

/** The lines of the pretty format, without the time. */
function prettyText(
  fields: LogFields,
  message = 'request',
  level: 'info' | 'warn' | 'error' | 'debug' = 'info',
): string {
  let text = '';
  const config = { logLevel: 'debug', logFormat: 'pretty', secrets: [], env: {} } as const;
  const logger: Logger = createLogger(config, { write: (part) => (text += part) });
  logger[level](fields, message);
  return text.replace(/^\d\d:\d\d:\d\d /u, '');
}

const CALL = { requestId: 'r1', method: 'POST', path: '/call/F', function: 'F', status: 200, ms: 8.34, attempts: 1 };

test('a request line has the status, outcome and path, and the facts about the call', () => {
  const facts = { client: 'Main', inputTokens: 34, outputTokens: 5, request: '{"a":1}', response: '{}' };
  expect(prettyText({ ...CALL, ...facts })).toBe('200 ok /call/F 8.3 ms · Main · 34 in, 5 out\n');
  const trouble = {
    attempts: 3,
    partials: 7,
    flags: ['markdown', 'extra-key a'],
    losses: { dropped: 1, defaulted: 0 },
  };
  expect(prettyText({ ...CALL, ms: 12_345, ...trouble })).toBe(
    '200 lossy /call/F 12.3 s · 3 attempts · 7 partials\n' +
      '         repaired: markdown, extra-key a\n         lossy: dropped=1, defaulted=0\n',
  );
});

test('the reason of a failure is below the request; several details replace it', () => {
  const failed = { ...CALL, status: 400, error: 'invalid_argument', reason: 'wrong: a (and 1 more)' };
  expect(prettyText(failed, 'request', 'warn')).toBe(
    '400 invalid_argument /call/F 8.3 ms\n         wrong: a (and 1 more)\n',
  );
  const details = JSON.stringify([
    { path: 'a', message: 'missing' },
    { path: '', message: 'wrong' },
  ]);
  expect(prettyText({ ...failed, details }, 'request', 'warn')).toBe(
    '400 invalid_argument /call/F 8.3 ms\n         a: missing\n         wrong\n',
  );
});

test('the messages and the reply of a model are readable', () => {
  const prompt = JSON.stringify([
    { role: 'system', parts: [{ kind: 'text', text: 'Be\nbrief.' }] },
    { role: 'user', parts: [{ kind: 'media', media: 'image' }] },
  ]);
  const text = prettyText({ prompt, reply: '{"a":1}', failed: 'no' }, 'model', 'debug');
  const expected = ['model', 'system', 'Be', 'brief.', 'user', '[image]', 'reply', '{"a":1}', 'failed attempts', 'no'];
  expect(text).toBe(`${expected.join('\n         ')}\n`);
  expect(prettyText({ prompt: '[{"role": cut', reply: '' }, 'model', 'debug')).toContain('[{"role": cut');
});

test('other lines have their level unless it is info, and their fields', () => {
  expect(prettyText({ a: 1, requestId: 'r', inFlight: 0 }, 'hello')).toBe('hello a=1\n');
  expect(prettyText({ err: new Error('no') }, 'bad', 'error')).toMatch(/^error bad\n {9}Error: no\n {9} {4}at /u);
  expect(prettyText({ reason: 'reload' }, 'a worker is replaced')).toBe('');
});

test('control characters of a model do not reach the terminal', () => {
  expect(prettyText({ reply: 'a\u001B[2Jb' }, 'model', 'debug')).not.toContain('\u001B');
  expect(prettyText({ ...CALL, client: '\u001B]0;x\u0007' })).not.toContain('\u001B');
});
