import fc from 'fast-check';
import { expect, test } from 'vitest';
import { terminalLine } from '../../src/logging/terminal-line.ts';
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
