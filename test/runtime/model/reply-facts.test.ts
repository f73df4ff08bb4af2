import { expect, test } from 'vitest';
import { countName } from '../../support/count-name.ts';
import { countsIn, usageIn } from '../../../src/runtime/model/wire/token-counts.ts';
import { endingOf } from '../../../src/runtime/model/wire/reply-format.ts';
import {
  ANTHROPIC_REPLIES,
  BEDROCK_REPLIES,
  CHAT_REPLIES,
  GOOGLE_REPLIES,
  RESPONSES_REPLIES,
  type Ending,
  type ReplyFacts,
} from '../../../src/schema/providers/replies.ts';

test.each<[string, ReplyFacts, Ending]>([
  ['stop', CHAT_REPLIES, 'whole'],
  ['STOP', GOOGLE_REPLIES, 'whole'],
  ['a word of next year', CHAT_REPLIES, 'whole'],
  ['length', CHAT_REPLIES, 'cut'],
  ['MAX_TOKENS', GOOGLE_REPLIES, 'cut'],
  ['max_tokens', ANTHROPIC_REPLIES, 'cut'],
  ['max_output_tokens', RESPONSES_REPLIES, 'cut'],
  ['incomplete', RESPONSES_REPLIES, 'cut'],
  ['model_context_window_exceeded', BEDROCK_REPLIES, 'cut'],
  ['content_filter', CHAT_REPLIES, 'filtered'],
  ['guardrail_intervened', BEDROCK_REPLIES, 'filtered'],
  ['MODEL_ARMOR', GOOGLE_REPLIES, 'filtered'],
  ['refusal', ANTHROPIC_REPLIES, 'refused'],
  ['pause_turn', ANTHROPIC_REPLIES, 'unfinished'],
  ['UNEXPECTED_TOOL_CALL', GOOGLE_REPLIES, 'unfinished'],
  ['queued', RESPONSES_REPLIES, 'unfinished'],
  ['network_error', CHAT_REPLIES, 'failed'],
])('the finish reason %s', (finishReason, facts, ending) => {
  expect(endingOf(finishReason, facts)).toBe(ending);
});

test('a reply without a finish reason has no ending', () => {
  expect(endingOf(undefined, CHAT_REPLIES)).toBeUndefined();
});

test.each<[string, ReplyFacts, object, object]>([
  [
    'chat',
    CHAT_REPLIES,
    { usage: { prompt_tokens: 9, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 4, audio_tokens: 0 } } },
    { input_tokens: 9, output_tokens: 3, cached_input_tokens: 4, audio_input_tokens: 0 },
  ],
  [
    'xAI, whose total shows that the reasoning is missing',
    CHAT_REPLIES,
    {
      usage: {
        prompt_tokens: 12,
        completion_tokens: 2,
        total_tokens: 334,
        completion_tokens_details: { reasoning_tokens: 320 },
      },
    },
    { input_tokens: 12, output_tokens: 322, reasoning_tokens: 320 },
  ],
  ['Mistral', CHAT_REPLIES, { usage: { num_cached_tokens: 32 } }, { cached_input_tokens: 32 }],
  ['Moonshot', CHAT_REPLIES, { usage: { cached_tokens: 10 } }, { cached_input_tokens: 10 }],
  ['DeepSeek', CHAT_REPLIES, { usage: { prompt_cache_hit_tokens: 7 } }, { cached_input_tokens: 7 }],
  ['Groq', CHAT_REPLIES, { x_groq: { usage: { prompt_tokens: 5 } } }, { input_tokens: 5 }],
  [
    'responses',
    RESPONSES_REPLIES,
    { usage: { input_tokens: 114, input_tokens_details: { cache_write_tokens: 107 } } },
    { input_tokens: 114, cache_written_input_tokens: 107 },
  ],
  [
    'Anthropic, which counts its cache apart',
    ANTHROPIC_REPLIES,
    {
      usage: {
        input_tokens: 5,
        cache_read_input_tokens: 100,
        cache_creation_input_tokens: 20,
        output_tokens: 9,
        output_tokens_details: { thinking_tokens: 4 },
      },
    },
    {
      input_tokens: 125,
      output_tokens: 9,
      cached_input_tokens: 100,
      cache_written_input_tokens: 20,
      reasoning_tokens: 4,
    },
  ],
  [
    'Anthropic after a compaction',
    ANTHROPIC_REPLIES,
    {
      usage: {
        input_tokens: 220,
        output_tokens: 8,
        iterations: [
          { type: 'compaction', input_tokens: 1000, output_tokens: 125 },
          { type: 'message', input_tokens: 220, output_tokens: 8 },
        ],
      },
    },
    { input_tokens: 1220, output_tokens: 133 },
  ],
  [
    'Anthropic with the iterations of another model, which the totals contain',
    ANTHROPIC_REPLIES,
    { usage: { input_tokens: 7, output_tokens: 8, iterations: [{ type: 'advisor', input_tokens: 1000 }] } },
    { input_tokens: 7, output_tokens: 8 },
  ],
  [
    'Bedrock',
    BEDROCK_REPLIES,
    { usage: { inputTokens: 1, cacheReadInputTokens: 2 } },
    {
      input_tokens: 3,
      cached_input_tokens: 2,
    },
  ],
  [
    'Gemini, with tools of its own and thoughts',
    GOOGLE_REPLIES,
    {
      usageMetadata: {
        promptTokenCount: 17,
        toolUsePromptTokenCount: 102,
        candidatesTokenCount: 5,
        thoughtsTokenCount: 6,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 10 },
          { modality: 'AUDIO', tokenCount: 7 },
        ],
      },
    },
    { input_tokens: 119, output_tokens: 11, reasoning_tokens: 6, audio_input_tokens: 7 },
  ],
  [
    'Gemini, before its first word',
    GOOGLE_REPLIES,
    { usageMetadata: { thoughtsTokenCount: 6 } },
    {
      output_tokens: 6,
      reasoning_tokens: 6,
    },
  ],
])('the token counts of %s', (_, facts, reply, counts) => {
  const read = Object.entries(countsIn(usageIn({ ...reply }, facts) ?? {}, facts));
  expect(Object.fromEntries(read.map(([name, count]) => [countName(name), count]))).toEqual(counts);
});

test.each([{}, { usage: null }, { usage: 5 }, { usage: { prompt_tokens: -1, completion_tokens: 'many' } }])(
  'a usage that states nothing: %j',
  (reply) => {
    expect(countsIn(usageIn(reply, CHAT_REPLIES) ?? {}, CHAT_REPLIES)).toEqual({});
  },
);
