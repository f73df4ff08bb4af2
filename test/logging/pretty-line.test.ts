import { expect, test } from 'vitest';
import { createLogger } from '../../src/logging/create-logger.ts';
import type { LogFields, Logger } from '../../src/logging/logger.ts';

/** The line that a logger writes, without its time. */
function line(fields: LogFields, message = 'request', level: 'info' | 'warn' | 'error' | 'debug' = 'info'): string {
  let text = '';
  const config = { logLevel: 'debug', logFormat: 'pretty', secrets: [], env: {} } as const;
  const logger: Logger = createLogger(config, { write: (part) => (text += part) });
  logger[level](fields, message);
  return text.replace(/^\d\d:\d\d:\d\d /u, '');
}

const REQUEST = { requestId: 'r1', method: 'POST', path: '/call/F', function: 'F', status: 200, ms: 8.34, attempts: 1 };

test('a request line has the status, outcome and path, and the facts about the call', () => {
  const facts = { client: 'Main', inputTokens: 34, outputTokens: 5, request: '{"a":1}', response: '{}' };
  expect(line({ ...REQUEST, ...facts })).toBe('200 ok /call/F 8.3 ms · Main · 34 in, 5 out\n');
  const trouble = {
    attempts: 3,
    partials: 7,
    flags: ['markdown', 'extra-key a'],
    losses: { dropped: 1, defaulted: 0 },
  };
  expect(line({ ...REQUEST, ms: 12_345, ...trouble })).toBe(
    '200 lossy /call/F 12.3 s · 3 attempts · 7 partials\n' +
      '         repaired: markdown, extra-key a\n         lossy: dropped=1, defaulted=0\n',
  );
});

test('the reason of a failure is below the request; several details replace it', () => {
  const failed = { ...REQUEST, status: 400, error: 'invalid_argument', reason: 'wrong: a (and 1 more)' };
  expect(line(failed, 'request', 'warn')).toBe('400 invalid_argument /call/F 8.3 ms\n         wrong: a (and 1 more)\n');
  const details = JSON.stringify([
    { path: 'a', message: 'missing' },
    { path: '', message: 'wrong' },
  ]);
  expect(line({ ...failed, details }, 'request', 'warn')).toBe(
    '400 invalid_argument /call/F 8.3 ms\n         a: missing\n         wrong\n',
  );
});

test('the messages and the reply of a model are readable', () => {
  const prompt = JSON.stringify([
    { role: 'system', parts: [{ kind: 'text', text: 'Be\nbrief.' }] },
    { role: 'user', parts: [{ kind: 'media', media: 'image' }] },
  ]);
  const text = line({ prompt, reply: '{"a":1}', failed: 'no' }, 'model', 'debug');
  const expected = ['model', 'system', 'Be', 'brief.', 'user', '[image]', 'reply', '{"a":1}', 'failed attempts', 'no'];
  expect(text).toBe(`${expected.join('\n         ')}\n`);
  expect(line({ prompt: '[{"role": cut', reply: '' }, 'model', 'debug')).toContain('[{"role": cut');
});

test('other lines have their level unless it is info, and their fields', () => {
  expect(line({ a: 1, requestId: 'r', inFlight: 0 }, 'hello')).toBe('hello a=1\n');
  expect(line({ err: new Error('no') }, 'bad', 'error')).toMatch(/^error bad\n {9}Error: no\n {9} {4}at /u);
  expect(line({ reason: 'reload' }, 'a worker is replaced')).toBe('');
});

test('control characters of a model do not reach the terminal', () => {
  expect(line({ reply: 'a\u001B[2Jb' }, 'model', 'debug')).not.toContain('\u001B');
  expect(line({ ...REQUEST, client: '\u001B]0;x\u0007' })).not.toContain('\u001B');
});
