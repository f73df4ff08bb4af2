import { expect, test } from 'vitest';
import { reaskMessages } from '../../../src/runtime/prompt/build-messages.ts';
import type { Message, PromptClient } from '../../../src/schema/message.ts';

const CLIENT: PromptClient = {
  name: 'Fast',
  provider: 'openai',
  defaultRole: 'system',
  allowedRoles: ['system', 'user', 'assistant'],
  remapRoles: {},
  options: {},
};

const FAULTS = [{ path: 'jobs[0].title', message: 'the required field "title" is missing' }];
const REQUEST = `Your answer does not fit the requested format:
- jobs[0].title: the required field "title" is missing
Answer the request again with the corrected answer. Give the complete answer in the requested format.`;

function message(role: string, ...texts: readonly string[]): Message {
  return { role, parts: texts.map((text) => ({ kind: 'text', text })) };
}

const PROMPT = [message('system', 'Read the resume.'), message('user', 'Ada, poet')];

function textOf(messages: readonly Message[], at: number): string {
  const part = messages.at(at)?.parts.at(-1);
  return part?.kind === 'text' ? part.text : '';
}

test('the reply follows the prompt, then the faults with their paths', () => {
  const messages = reaskMessages({ prompt: PROMPT, text: '{"jobs": [{}]}', faults: FAULTS }, CLIENT);
  expect(messages).toEqual([...PROMPT, message('assistant', '{"jobs": [{}]}'), message('user', REQUEST)]);
});

test('the prompt itself is not changed', () => {
  const prompt = [message('user', 'Ada'), message('assistant', '{"name":')];
  reaskMessages({ prompt, text: ' 1}', faults: FAULTS }, CLIENT);
  expect(prompt).toEqual([message('user', 'Ada'), message('assistant', '{"name":')]);
});

test('a reply to a prompt that ends with the beginning of the answer joins it: no two messages in turn have one role', () => {
  const prompt = [message('user', 'Ada'), message('assistant', '{"name":')];
  const messages = reaskMessages({ prompt, text: ' 1}', faults: FAULTS }, CLIENT);
  expect(messages).toEqual([message('user', 'Ada'), message('assistant', '{"name":', ' 1}'), message('user', REQUEST)]);
});

test('a reply of white space is left out, because providers refuse messages without text', () => {
  const prompt = [message('user', 'Ada')];
  expect(reaskMessages({ prompt, text: ' \n', faults: FAULTS }, CLIENT)).toEqual([message('user', 'Ada', REQUEST)]);
});

test('a role that the client does not accept becomes its default role, as in prompts', () => {
  const client = { ...CLIENT, defaultRole: 'user', allowedRoles: ['user'] };
  const messages = reaskMessages({ prompt: [message('user', 'Ada')], text: 'No.', faults: FAULTS }, client);
  expect(messages).toEqual([message('user', 'Ada', 'No.', REQUEST)]);
});

test('roles are renamed before messages are joined, as in prompts', () => {
  const client = { ...CLIENT, remapRoles: { assistant: 'model', user: 'human' } };
  const messages = reaskMessages({ prompt: [message('human', 'Ada')], text: 'No.', faults: FAULTS }, client);
  expect(messages).toEqual([message('human', 'Ada'), message('model', 'No.'), message('human', REQUEST)]);
});

test('a fault of the whole reply has no path', () => {
  const faults = [{ path: '', message: 'expected an object, got 1' }];
  expect(textOf(reaskMessages({ prompt: PROMPT, text: '1', faults }, CLIENT), -1)).toContain(
    'format:\n- expected an object, got 1\nAnswer',
  );
});

test('a long reply is sent back up to its first 65,536 characters, and the request states so', () => {
  const text = 'x'.repeat(65_537);
  const messages = reaskMessages({ prompt: PROMPT, text, faults: FAULTS }, CLIENT);
  expect(textOf(messages, -2)).toBe(`${'x'.repeat(65_536)}…`);
  expect(textOf(messages, -1)).toContain('\nOnly the beginning of your answer is repeated above.\n');
  const whole = reaskMessages({ prompt: PROMPT, text: text.slice(1), faults: FAULTS }, CLIENT);
  expect(textOf(whole, -2)).toBe(text.slice(1));
  expect(textOf(whole, -1)).toBe(REQUEST);
});

test('no message contains half a character', () => {
  const faults = [{ path: 'a', message: `${'y'.repeat(496)}😀` }];
  const messages = reaskMessages({ prompt: PROMPT, text: `${'x'.repeat(65_535)}😀`, faults }, CLIENT);
  expect(JSON.stringify(messages)).not.toContain(String.raw`\ud`);
  expect(textOf(messages, -2).slice(-3)).toBe('x\ufffd…');
  const reply = reaskMessages({ prompt: PROMPT, text: 'half \ud83d', faults: FAULTS }, CLIENT);
  expect(textOf(reply, -2)).toBe('half \ufffd');
});

test('the request lists the first 20 faults, each with at most 500 characters', () => {
  const faults = Array.from({ length: 50 }, (_, at) => ({ path: `list[${at}]`, message: 'm'.repeat(2000) }));
  const lines = textOf(reaskMessages({ prompt: PROMPT, text: '[]', faults }, CLIENT), -1).split('\n');
  expect(lines).toHaveLength(23);
  expect(lines[1]).toBe(`- list[0]: ${'m'.repeat(489)}…`);
  expect(lines[21]).toBe('- and 30 more');
});
