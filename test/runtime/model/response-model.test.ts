import { expect, test } from 'vitest';
import { anthropicFormat } from '../../../src/runtime/model/providers/anthropic.ts';
import { bedrockFormat } from '../../../src/runtime/model/providers/aws-bedrock.ts';
import { googleFormat } from '../../../src/runtime/model/providers/google-ai.ts';
import { openAiChatFormat, openAiResponsesFormat } from '../../../src/runtime/model/providers/openai.ts';
import { readWhole, type ReplyFormat } from '../../../src/runtime/model/wire/reply-format.ts';
import { WireStream } from '../../../src/runtime/model/wire/wire-stream.ts';

interface Sample {
  readonly format: ReplyFormat;
  readonly whole: object;
  readonly events: readonly object[];
}

const SAMPLES: Readonly<Record<string, Sample>> = {
  'chat completions': {
    format: openAiChatFormat,
    whole: { model: 'm-1', choices: [{ message: { content: 'a' } }] },
    events: [{ model: 'm-1', choices: [{ delta: { content: 'a' } }] }],
  },
  responses: {
    format: openAiResponsesFormat,
    whole: { model: 'm-1', output: [] },
    events: [{ type: 'response.completed', response: { model: 'm-1' } }],
  },
  Anthropic: {
    format: anthropicFormat,
    whole: { model: 'm-1', content: [] },
    events: [{ type: 'message_start', message: { model: 'm-1' } }],
  },
  Gemini: {
    format: googleFormat,
    whole: { modelVersion: 'm-1', candidates: [{}] },
    events: [{ modelVersion: 'm-1', candidates: [{}] }],
  },
};

test.each(Object.entries(SAMPLES))('the model of a reply is known: %s', (_, { format, whole, events }) => {
  const reply = readWhole(format, JSON.stringify(whole));
  expect(reply).toMatchObject({ ok: true, value: { responseModel: 'm-1' } });
  const stream = new WireStream(format);
  for (const event of events) {
    const text = JSON.stringify(event);
    stream.event(text, 0, text.length);
  }
  expect(stream.reply('').responseModel).toBe('m-1');
});

test('the model is unknown if the provider does not report it', () => {
  const reply = readWhole(bedrockFormat, JSON.stringify({ output: { message: { content: [] } } }));
  expect(reply.ok && reply.value.responseModel).toBeUndefined();
});
