import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SseReader } from '../../../src/runtime/model/http/sse-reader.ts';
import { openAiChatFormat, openAiResponsesFormat } from '../../../src/runtime/model/providers/openai.ts';
import { readWhole } from '../../../src/runtime/model/wire/reply-format.ts';
import { assertProperty } from '../../support/assert-property.ts';
import { WireStream } from '../../../src/runtime/model/wire/wire-stream.ts';

interface Delta {
  readonly content?: string | null;
  readonly reasoning_content?: string | null;
}

/** The text and the reasoning that a stream has after these chunks of its body. */
function read(chunks: readonly string[], wantsReasoning: boolean): { text: string; reasoning: string } {
  const reply = new WireStream(openAiChatFormat, { wantsReasoning });
  const reader = new SseReader(
    (source, start, end) => reply.event(source, start, end),
    (bytes, from, to, head) => reply.run(bytes, from, to, head),
  );
  let text = '';
  let reasoning = '';
  for (const chunk of chunks) {
    reader.push(Buffer.from(chunk));
    text += reply.takeText();
    reasoning += reply.takeReasoning();
  }
  expect(reply.fault).toBeUndefined();
  return { text, reasoning };
}

function event(delta: Delta): string {
  return `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
}

/** Deltas of text, of reasoning, and of both; many repeat each other's shape. */
const TEXTS = fc.oneof(fc.string(), fc.constantFrom('plain', ' of', '"', '\\', '', 'é€😀'), fc.constant(null));
const DELTAS = fc.array(
  fc.oneof(
    TEXTS.map((content): Delta => ({ content })),
    TEXTS.map((content): Delta => ({ content, reasoning_content: null })),
    TEXTS.map((content): Delta => ({ content, reasoning_content: 'again' })),
    TEXTS.map((reasoning): Delta => ({ content: 'again', reasoning_content: reasoning })),
    TEXTS.map((reasoning): Delta => ({ reasoning_content: reasoning })),
  ),
);

test('text and reasoning of any deltas are read as they were written, and never mixed', () => {
  assertProperty(
    fc.property(DELTAS, (deltas) => {
      const events = deltas.map(event);
      const text = deltas.map(({ content }) => content ?? '').join('');
      const reasoning = deltas.map(({ reasoning_content: delta }) => delta ?? '').join('');
      expect(read(events, true)).toEqual({ text, reasoning });
      expect(read([events.join('')], true)).toEqual({ text, reasoning });
      expect(read(events, false)).toEqual({ text, reasoning: '' });
    }),
  );
});

test('of two members for the reasoning, an empty one does not hide the other', () => {
  const message = { content: 'Hello', reasoning_content: '', reasoning: 'Hm.' };
  const choices = [{ index: 0, message, finish_reason: 'stop' }];
  const whole = readWhole(openAiChatFormat, JSON.stringify({ choices }), { wantsReasoning: true });
  expect(whole).toMatchObject({ ok: true, value: { text: 'Hello', reasoning: 'Hm.' } });
  const events = [message, { ...message, reasoning: '' }].map(
    (delta) => `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`,
  );
  expect(read(events, true)).toEqual({ text: 'HelloHello', reasoning: 'Hm.' });
});

test('the reasoning that Mistral sends as parts of the content is read too', () => {
  const thinking = [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }];
  const message = { role: 'assistant', content: [...thinking, { type: 'text', text: 'Hello' }] };
  const choices = [{ index: 0, message, finish_reason: 'stop' }];
  const whole = readWhole(openAiChatFormat, JSON.stringify({ choices }), { wantsReasoning: true });
  expect(whole).toMatchObject({ ok: true, value: { text: 'Hello', reasoning: 'Hm.' } });
  const events = [{ content: thinking }, { content: 'Hello' }].map(
    (delta) => `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`,
  );
  expect(read(events, true)).toEqual({ text: 'Hello', reasoning: 'Hm.' });
  expect(read(events, false)).toEqual({ text: 'Hello', reasoning: '' });
});

test('the reasoning that an open model sends through the Responses API is read too', () => {
  const content = [
    { type: 'reasoning_text', text: 'One.' },
    { type: 'reasoning_text', text: 'Two.' },
  ];
  const message = { type: 'message', content: [{ type: 'output_text', text: 'Hello' }] };
  const output = [{ type: 'reasoning', summary: [], content }, message];
  const whole = readWhole(openAiResponsesFormat, JSON.stringify({ output }), { wantsReasoning: true });
  expect(whole).toMatchObject({ ok: true, value: { text: 'Hello', reasoning: 'One.\n\nTwo.' } });
  const stream = new WireStream(openAiResponsesFormat, { wantsReasoning: true });
  for (const [index, { text }] of content.entries()) {
    const delta = { type: 'response.reasoning_text.delta', output_index: 0, content_index: index, delta: text };
    const data = JSON.stringify(delta);
    stream.event(data, 0, data.length);
  }
  expect([stream.takeText(), stream.takeReasoning(), stream.takeReasoning()]).toEqual(['', 'One.\n\nTwo.', '']);
});
