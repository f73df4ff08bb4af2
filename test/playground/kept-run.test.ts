import { expect, test } from 'vitest';
import { timeText } from '../../src/playground/data/amount-texts.ts';
import { argumentsOf, messagesOf, runOfCall, textsOfCall } from '../../src/playground/data/kept-run.ts';
import { keptCall } from '../support/kept-calls.ts';

test('a kept call is shown as a run that has ended', () => {
  const call = keptCall({ seq: 7 });
  expect(runOfCall(call)).toMatchObject({
    id: 7,
    functionName: 'Repaired',
    args: { about: 'tea' },
    state: 'done',
    value: { title: 'Tea' },
    reply: '{"title": "Tea"}',
    trace: {
      client: 'Chatty',
      model: 'small-1',
      input_tokens: 12,
      cost: 0.0021,
      total_ms: 1500,
      attempts: [{ outcome: 'ok' }],
    },
  });
  expect(messagesOf(call)?.map(({ role }) => role)).toEqual(['user']);
});

test('a failure has its code, its text and its details', () => {
  const content = { message: 'It does not match.', details: [{ path: 'a', message: 'missing' }, 'of another form'] };
  const failed = keptCall({ error: 'validation_failure', status: 422, content });
  expect(runOfCall(failed)).toMatchObject({
    state: 'failed',
    problem: {
      error: 'validation_failure',
      message: 'It does not match.',
      details: [{ path: 'a', message: 'missing' }],
    },
  });
  const withoutText = keptCall({ error: 'timeout', status: 504, content: null });
  expect(runOfCall(withoutText).problem?.message).toBe('The call failed with status 504.');
});

test('texts that are not kept, or have another form, are left out', () => {
  const call = keptCall({ content: { args: [1], prompt: [{ role: 'user' }] } });
  expect(argumentsOf(call)).toBeUndefined();
  expect(messagesOf(call)).toBeUndefined();
  expect([...textsOfCall(keptCall({ content: null })).values()]).toEqual(['', '', '', '']);
});

test('a comparison has the texts of arguments, prompt, reply, and value or failure', () => {
  const { content } = keptCall();
  expect(Object.fromEntries(textsOfCall(keptCall()))).toEqual({
    Arguments: '{\n  "about": "tea"\n}',
    Prompt: 'user:\nRate tea.',
    'Reply of the model': content?.reply,
    'Value or failure': '{\n  "title": "Tea"\n}',
  });
  const failed = keptCall({ error: 'refusal', content: { message: 'It refuses.' } });
  expect(textsOfCall(failed).get('Value or failure')).toBe('refusal\nIt refuses.');
});

test('a time of another day has its date', () => {
  const noon = new Date(2026, 10, 30, 12).getTime();
  expect(timeText(noon, noon + 1000)).not.toMatch(/30/u);
  expect(timeText(noon, noon + 86_400_000)).toMatch(/30/u);
});
