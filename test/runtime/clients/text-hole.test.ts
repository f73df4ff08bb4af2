import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anthropicFormat } from '../../../src/runtime/clients/formats/anthropic-format.ts';
import { bedrockFormat } from '../../../src/runtime/clients/formats/bedrock-format.ts';
import { openAiChatFormat } from '../../../src/runtime/clients/formats/openai-chat-format.ts';
import type { ReplyFormat } from '../../../src/runtime/clients/formats/reply-format.ts';
import { SseReader } from '../../../src/runtime/clients/http/sse-reader.ts';

/** The text that a format reads from a stream, given whole or event by event. */
function read(format: ReplyFormat, chunks: readonly string[]): string {
  const reply = format.openStream();
  const reader = new SseReader((text, start, end) => reply.event(text, start, end));
  let text = '';
  for (const chunk of chunks) {
    reader.push(Buffer.from(chunk));
    text += reply.takeText();
  }
  expect(reply.fault).toBeUndefined();
  return text;
}

const chat = (piece: string, more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta: { content: piece }, finish_reason: null }], ...more })}\n\n`;
const message = (piece: string): string =>
  `data: ${JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: piece } })}\n\n`;

const PIECES = fc.array(
  fc.oneof(
    fc.string(),
    fc.constantFrom('"', '\\', '\\"', '"}', '\n', 'content', '"content":"', '\u0001', '', 'é€😀', 'data: '),
  ),
);

test.each<[string, ReplyFormat, (piece: string) => string]>([
  ['openai', openAiChatFormat, chat],
  ['anthropic', anthropicFormat, message],
])('%s: whatever the pieces are, their text is read as it was written', (_name, format, event) => {
  fc.assert(
    fc.property(PIECES, (pieces) => {
      const events = pieces.map(event);
      expect(read(format, events)).toBe(pieces.join(''));
      expect(read(format, [events.join('')])).toBe(pieces.join(''));
      expect(read(format, [events.slice(0, 2).join(''), events.slice(2).join('')])).toBe(pieces.join(''));
    }),
  );
});

test('aws-bedrock: pieces with padding that differs are read as they were written', () => {
  const padded = fc.tuple(fc.string(), fc.stringMatching(/^[a-zA-Z0-9]{0,36}$/u));
  fc.assert(
    fc.property(fc.array(padded), (pieces) => {
      const reply = bedrockFormat.openStream();
      let whole = '';
      for (const [text, p] of pieces) {
        const event = JSON.stringify({ contentBlockDelta: { contentBlockIndex: 0, delta: { text }, p } });
        reply.event(event, 0, event.length);
        whole += reply.takeText();
      }
      expect(reply.fault).toBeUndefined();
      expect(whole).toBe(pieces.map(([text]) => text).join(''));
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
  fc.assert(
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

test('a finish reason is never taken for a usual event', () => {
  const reply = openAiChatFormat.openStream();
  const reader = new SseReader((text, start, end) => reply.event(text, start, end));
  const last = chat('c').replace('"finish_reason":null', '"finish_reason":"stop"');
  reader.push(Buffer.from(chat('a') + chat('b')));
  reader.push(Buffer.from(chat('b') + chat('b') + last));
  expect(reply.takeText()).toBe('abbbc');
  expect(reply.details.finishReason).toBe('stop');
});
