import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertProperty } from '../../support/assert-property.ts';
import { anthropicFormat } from '../../../src/runtime/model/providers/anthropic.ts';
import { bedrockFormat } from '../../../src/runtime/model/providers/aws-bedrock.ts';
import { googleFormat } from '../../../src/runtime/model/providers/google-ai.ts';
import { openAiChatFormat, openAiResponsesFormat } from '../../../src/runtime/model/providers/openai.ts';
import type { ReplyFormat } from '../../../src/runtime/model/wire/reply-format.ts';
import { SseReader } from '../../../src/runtime/model/http/sse-reader.ts';
import { TextShape, WireStream } from '../../../src/runtime/model/wire/wire-stream.ts';

/** The text that a format reads from a stream, whole or event by event. */
function read(format: ReplyFormat, chunks: readonly string[]): string {
  const { text, fault } = readAll(format, chunks, true);
  expect(fault).toBeUndefined();
  return text;
}

/** All results of a format for a stream. `inRuns`: the format can read events of one shape together. */
function readAll(format: ReplyFormat, chunks: readonly (string | Buffer)[], inRuns: boolean) {
  const reply = new WireStream(format);
  const reader = new SseReader(
    (text, start, end) => reply.event(text, start, end),
    inRuns ? (bytes, from, to, head) => reply.run(bytes, from, to, head) : undefined,
  );
  let text = '';
  for (const chunk of chunks) {
    reader.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk);
    text += reply.takeText();
  }
  return { ...reply.reply(text), done: reply.done, fault: reply.fault };
}

const chat = (delta: string, more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta: { content: delta }, finish_reason: null }], ...more })}\n\n`;
const message = (delta: string): string =>
  `data: ${JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: delta } })}\n\n`;

const DELTAS = fc.array(
  fc.oneof(
    fc.string(),
    fc.constantFrom('"', '\\', '\\"', '"}', '\n', 'content', '"content":"', '\u0001', '', 'é€😀', 'data: '),
  ),
);

test.each<[string, ReplyFormat, (delta: string) => string]>([
  ['openai', openAiChatFormat, chat],
  ['anthropic', anthropicFormat, message],
])('%s: the text of any deltas is read as it was written', (_name, format, event) => {
  assertProperty(
    fc.property(DELTAS, (deltas) => {
      const events = deltas.map(event);
      expect(read(format, events)).toBe(deltas.join(''));
      expect(read(format, [events.join('')])).toBe(deltas.join(''));
      expect(read(format, [events.slice(0, 2).join(''), events.slice(2).join('')])).toBe(deltas.join(''));
    }),
  );
});

/** Well-formed events, and others: with more content, without text, broken inside or at the end of their text. */
const EVENTS = fc.array(
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.oneof(fc.string(), fc.constantFrom('\\', '"', '\\"', 'x\\')).map((delta) => chat(delta)),
    },
    { weight: 2, arbitrary: fc.constantFrom('plain', 'text', ' of', ' many').map((delta) => chat(delta)) },
    fc.string().map((delta) => chat(delta, { usage: { prompt_tokens: 1, completion_tokens: 2 } })),
    fc.constantFrom(
      chat('last').replace('null', '"stop"'),
      chat('broken').replace('broken"', String.raw`broken\"`),
      chat('broken').replace('broken"', 'bro"ken"'),
      chat('broken').replace('broken', String.raw`a\u12`),
      chat('broken').replace('broken', String.raw`a\x`),
      chat('broken').replace('broken', 'a\tb'),
      chat('é€😀'),
      chat('spaced').replace('}\n', '}  \n'),
      chat('named').replace('data: ', 'event: message\ndata: '),
      chat('close').replace('data: ', 'data:'),
      ': a comment\n\n',
      'data: [DONE]\n\n',
      'data: {}\n\n',
      'data: {\n\n',
      '\n',
    ),
  ),
  { maxLength: 30 },
);

test('a run of events has the same text as the single events', () => {
  assertProperty(
    fc.property(EVENTS, fc.nat(1), (events, cut) => {
      const first = chat('first');
      const chunks =
        cut === 0 ? [first, events.join('')] : [first, events.slice(0, 5).join(''), events.slice(5).join('')];
      expect(readAll(openAiChatFormat, chunks, true)).toEqual(readAll(openAiChatFormat, chunks, false));
    }),
    { numRuns: 600 },
  );
});

test('a run of events with a sequence number and a random string has the same text as the single events', () => {
  const delta = fc.oneof(fc.string(), fc.constantFrom('\\', '"', 'é€😀', 'x\\'));
  const more = fc.record({ seq: fc.nat(20_000), o: fc.stringMatching(/^[a-zA-Z0-9"\\]{0,36}$/u) });
  const event = fc.tuple(delta, more, fc.nat(2)).map(([text, { seq, o }, index]) => {
    const padding = ' '.repeat(index);
    const data = { type: 'content_block_delta', index, delta: { type: 'text_delta', text }, seq, o };
    return `event: content_block_delta\ndata: ${JSON.stringify(data)}${padding}\n\n`;
  });
  assertProperty(
    fc.property(fc.array(event), fc.nat(300), (events, cut) => {
      const all = events.join('');
      const chunks = [...events.slice(0, 3), all.slice(0, cut), all.slice(cut)];
      expect(readAll(anthropicFormat, chunks, true)).toEqual(readAll(anthropicFormat, chunks, false));
    }),
    { numRuns: 300 },
  );
});

test('bytes that are no UTF-8 are read as in single events', () => {
  const head = Buffer.from(chat('').slice(0, chat('').indexOf('""') + 1));
  const tail = Buffer.from(chat('').slice(chat('').indexOf('""') + 1));
  const byte = fc.constantFrom(
    0x20,
    0x61,
    0x80,
    0xbf,
    0xc2,
    0xe2,
    0x82,
    0xac,
    0xed,
    0xa0,
    0xf0,
    0x9f,
    0x98,
    0xf5,
    0xff,
  );
  assertProperty(
    fc.property(fc.array(fc.array(byte, { maxLength: 4 })), (texts) => {
      const bytes = Buffer.concat(texts.flatMap((text) => [head, Buffer.from(text), tail]));
      const [runs, single] = [true, false].map((inRuns) => readAll(openAiChatFormat, [chat('first'), bytes], inRuns));
      expect(runs).toEqual(single);
    }),
    { numRuns: 300 },
  );
});

test('a run of events is read together', () => {
  const reply = new WireStream(openAiChatFormat);
  const events = Array.from({ length: 100 }, (_, index) => chat(`say "${index}"\n`));
  let single = 0;
  const reader = new SseReader(
    (text, start, end) => {
      single += 1;
      reply.event(text, start, end);
    },
    (bytes, from, to, head) => reply.run(bytes, from, to, head),
  );
  reader.push(Buffer.from(chat('learned')));
  reader.push(Buffer.from(events.join('')));
  expect(single).toBe(1);
  expect(reply.takeText()).toBe(`learned${events.map((_, index) => `say "${index}"\n`).join('')}`);
});

test('aws-bedrock: deltas with different padding are read as they were written', () => {
  const padded = fc.tuple(fc.string(), fc.stringMatching(/^[a-zA-Z0-9]{0,36}$/u));
  assertProperty(
    fc.property(fc.array(padded), (deltas) => {
      const reply = new WireStream(bedrockFormat);
      let whole = '';
      for (const [text, p] of deltas) {
        const event = JSON.stringify({ contentBlockDelta: { contentBlockIndex: 0, delta: { text }, p } });
        reply.event(event, 0, event.length);
        whole += reply.takeText();
      }
      expect(reply.fault).toBeUndefined();
      expect(whole).toBe(deltas.map(([text]) => text).join(''));
    }),
  );
});

test('events of another shape among the usual ones are read too', () => {
  const other = fc.constantFrom(
    chat('o', { usage: null }),
    chat('p', { created: 7 }),
    'data: {"choices":[]}\n\n',
    ': comment\n\n',
    'data: {"choices":[{"index":0,"delta":{},"finish_reason":null}]}\n\n',
    chat('q', { obfuscation: 'abcDEF1' }),
    chat('r', { obfuscation: 'x' }),
  );
  assertProperty(
    fc.property(fc.array(fc.oneof(fc.string({ minLength: 1 }).map(chat), other)), (events) => {
      const whole = read(openAiChatFormat, [events.join('')]);
      expect(whole).toBe(read(openAiChatFormat, events));
      const literal = events.map((each) => textOf(each)).join('');
      expect(whole).toBe(literal);
    }),
  );
});

function textOf(event: string): string {
  if (!event.startsWith('data: ')) return '';
  const chunk = JSON.parse(event.slice(6)) as {
    readonly choices: ReadonlyArray<{ readonly delta: { readonly content?: string } }>;
  };
  return chunk.choices[0]?.delta.content ?? '';
}

test('a finish reason never counts as a usual event', () => {
  const reply = new WireStream(openAiChatFormat);
  const reader = new SseReader((text, start, end) => reply.event(text, start, end));
  const last = chat('c').replace('"finish_reason":null', '"finish_reason":"stop"');
  reader.push(Buffer.from(chat('a') + chat('b')));
  reader.push(Buffer.from(chat('b') + chat('b') + last));
  expect(reply.takeText()).toBe('abbbc');
  expect(reply.reply('').finishReason).toBe('stop');
});

/** What a stream of these events says, with the shape that earlier streams have taught. */
function readWith(shape: TextShape, format: ReplyFormat, events: readonly object[]): object {
  const stream = new WireStream(format, {}, shape);
  for (const event of events) {
    const data = JSON.stringify(event);
    stream.event(data, 0, data.length);
  }
  const { responseModel, outputTokens } = stream.reply('');
  return { text: stream.takeText(), responseModel, outputTokens };
}

function textOfPart(part: number, text: string, number: number): object {
  return { type: 'response.output_text.delta', output_index: part, delta: text, sequence_number: number };
}

test('a shape that an earlier stream of the client has taught is used only where it means the same', () => {
  const shape = new TextShape();
  const answer = [textOfPart(1, 'a', 1), textOfPart(1, 'b', 2), textOfPart(1, 'c', 3)];
  expect(readWith(shape, openAiResponsesFormat, answer)).toMatchObject({ text: 'abc' });
  const comment = { type: 'response.output_item.added', output_index: 1, item: { phase: 'commentary' } };
  expect(readWith(shape, openAiResponsesFormat, [comment, ...answer])).toMatchObject({ text: '' });
  expect(readWith(shape, openAiResponsesFormat, answer)).toMatchObject({ text: 'abc' });
  const parts = [comment, textOfPart(1, 'no', 4), textOfPart(2, 'yes', 5), textOfPart(1, 'no', 6)];
  expect(readWith(shape, openAiResponsesFormat, parts)).toMatchObject({ text: 'yes' });
});

function googleEvent(text: string, model: string, tokens: number): object {
  return {
    candidates: [{ content: { parts: [{ text }] }, index: 0 }],
    usageMetadata: { candidatesTokenCount: tokens },
    modelVersion: model,
  };
}

test('the model and the usage of events that are not parsed are those of their stream', () => {
  const shape = new TextShape();
  const first = [googleEvent('a', 'one', 1), googleEvent('b', 'one', 2), googleEvent('c', 'one', 3)];
  expect(readWith(shape, googleFormat, first)).toEqual({ text: 'abc', responseModel: 'one', outputTokens: 3 });
  const second = [googleEvent('d', 'one', 4)];
  expect(readWith(shape, googleFormat, second)).toEqual({ text: 'd', responseModel: 'one', outputTokens: 4 });
  const third = [googleEvent('e', 'two', 5), googleEvent('f', 'two', 6)];
  expect(readWith(shape, googleFormat, third)).toEqual({ text: 'ef', responseModel: 'two', outputTokens: 6 });
});
