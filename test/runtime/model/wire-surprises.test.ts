import { expect, test } from 'vitest';
import { attemptFailure } from '../../../src/runtime/model/attempt-failure.ts';
import { anthropicFormat } from '../../../src/runtime/model/providers/anthropic.ts';
import { bedrockFormat } from '../../../src/runtime/model/providers/aws-bedrock.ts';
import { googleFormat } from '../../../src/runtime/model/providers/google-ai.ts';
import { openAiChatFormat, openAiResponsesFormat } from '../../../src/runtime/model/providers/openai.ts';
import { readWhole, type Expected, type ReplyFormat } from '../../../src/runtime/model/wire/reply-format.ts';
import { WireStream } from '../../../src/runtime/model/wire/wire-stream.ts';

/*
 * What recorded exchanges of providers showed, in the shortest form: parts that are no answer, and errors where no
 * documentation places them.
 */

const ALL: Expected = { wantsReasoning: true };

function whole(format: ReplyFormat, reply: object, expected = ALL): object {
  const read = readWhole(format, JSON.stringify(reply), expected);
  return read.ok ? read.value : { failure: read.failure };
}

function streamed(format: ReplyFormat, events: readonly unknown[], expected = ALL): object {
  const stream = new WireStream(format, expected);
  for (const event of events) {
    const data = JSON.stringify(event);
    stream.event(data, 0, data.length);
  }
  if (stream.fault !== undefined) return { failure: stream.fault };
  return { ...stream.reply(stream.takeText()), reasoning: stream.takeReasoning() };
}

const message = (phase: string, text: string): object => ({
  type: 'message',
  phase,
  content: [{ type: 'output_text', text }],
});

test('openai-responses: comments before the answer are reasoning', () => {
  const response = { status: 'completed', output: [message('commentary', 'I look.'), message('final_answer', 'Yes.')] };
  expect(whole(openAiResponsesFormat, response)).toMatchObject({ text: 'Yes.', reasoning: 'I look.' });
  const events = [
    { type: 'response.output_item.added', output_index: 0, item: { type: 'message', phase: 'commentary' } },
    { type: 'response.output_text.delta', output_index: 0, delta: 'I ' },
    { type: 'response.output_text.delta', output_index: 0, delta: 'look.' },
    { type: 'response.output_item.added', output_index: 1, item: { type: 'message', phase: 'final_answer' } },
    { type: 'response.output_text.delta', output_index: 1, delta: 'Ye' },
    { type: 'response.output_text.delta', output_index: 1, delta: 's.' },
    { type: 'response.completed', response },
  ];
  expect(streamed(openAiResponsesFormat, events)).toMatchObject({
    text: 'Yes.',
    reasoning: 'I look.',
    ending: 'whole',
  });
});

test('openai-responses: a refusal, a call of a tool, and a response that waits', () => {
  const refusal = { type: 'message', content: [{ type: 'refusal', refusal: 'No.' }] };
  expect(whole(openAiResponsesFormat, { status: 'completed', output: [refusal] })).toMatchObject({
    text: '',
    refusal: 'No.',
  });
  const call = { type: 'function_call', name: 'search' };
  expect(whole(openAiResponsesFormat, { status: 'completed', output: [call] })).toMatchObject({ tool: 'search' });
  expect(whole(openAiResponsesFormat, { status: 'queued', output: [] })).toMatchObject({ ending: 'unfinished' });
  const incomplete = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, output: [] };
  expect(whole(openAiResponsesFormat, incomplete)).toMatchObject({ ending: 'cut', finishReason: 'max_output_tokens' });
});

const TOOL: Expected = { asTool: true };

function blockStart(index: number, block: object): object {
  return { type: 'content_block_start', index, content_block: { ...block, input: {} } };
}

function toolInput(index: number, json: string): object {
  return { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: json } };
}

test('anthropic: a tool of the server is not the tool that the caller asks for', () => {
  const own = { type: 'server_tool_use', name: 'web_search', input: { query: 'x' } };
  const asked = { type: 'tool_use', name: 'reply', input: { city: 'Oslo' } };
  const reply = { content: [own, asked], stop_reason: 'tool_use' };
  expect(whole(anthropicFormat, reply, TOOL)).toMatchObject({ text: '{"city":"Oslo"}', finishReason: 'end_turn' });
  const events = [
    blockStart(0, own),
    toolInput(0, '{"query":"x"}'),
    blockStart(1, asked),
    blockStart(2, { type: 'tool_use', name: 'second' }),
    toolInput(2, '{"other":1}'),
    toolInput(1, '{"city":'),
    toolInput(1, '"Oslo"}'),
    { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
    { type: 'message_stop' },
  ];
  expect(streamed(anthropicFormat, events, TOOL)).toMatchObject({ text: '{"city":"Oslo"}', tool: 'reply' });
});

test('anthropic: a message whose content is in its first event', () => {
  const content = [
    { type: 'text', text: 'I roll.' },
    { type: 'tool_use', name: 'roll', input: { player: 'two' } },
  ];
  const events = [{ type: 'message_start', message: { content, stop_reason: 'tool_use' } }, { type: 'message_stop' }];
  expect(streamed(anthropicFormat, events)).toMatchObject({ text: 'I roll.', tool: 'roll', finishReason: 'tool_use' });
  expect(streamed(anthropicFormat, events, TOOL)).toMatchObject({ text: '{"player":"two"}' });
});

test('anthropic: usage that comes in parts, of which later ones lack some', () => {
  const events = [
    { type: 'message_start', message: { usage: { input_tokens: 5, cache_read_input_tokens: 10, output_tokens: 1 } } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { input_tokens: null, output_tokens: 7 } },
  ];
  expect(streamed(anthropicFormat, events)).toMatchObject({ inputTokens: 15, outputTokens: 7 });
});

test('aws-bedrock: the tools of Bedrock itself are not the tool that the caller asks for', () => {
  const own = { toolUse: { type: 'server_tool_use', name: 'interpreter', input: { code: '1' } } };
  const asked = { toolUse: { type: 'tool_use', name: 'reply', input: { x: 1 } } };
  const reply = { output: { message: { content: [own, asked] } }, stopReason: 'tool_use' };
  expect(whole(bedrockFormat, reply, TOOL)).toMatchObject({ text: '{"x":1}', tool: 'reply' });
});

function candidate(...parts: readonly object[]): object {
  return { candidates: [{ content: { parts }, finishReason: 'STOP' }] };
}

function counting(usageMetadata: object): object {
  return { candidates: [{ index: 0 }], usageMetadata };
}

test('google-ai: a blocked prompt, a call of a tool, and an image alone', () => {
  const blocked = { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 8 } };
  expect(whole(googleFormat, blocked)).toMatchObject({ text: '', blocked: 'SAFETY', inputTokens: 8 });
  expect(streamed(googleFormat, [blocked])).toMatchObject({ text: '', blocked: 'SAFETY' });
  expect(whole(googleFormat, candidate({ functionCall: { name: 'search' } }))).toMatchObject({
    text: '',
    tool: 'search',
  });
  expect(whole(googleFormat, candidate({ inlineData: { data: 'x' } }))).toEqual({
    text: '',
    finishReason: 'STOP',
    ending: 'whole',
  });
});

test('google-ai: the usage of the last event counts, whatever the others state', () => {
  const events = [
    counting({ candidatesTokenCount: 2, thoughtsTokenCount: 21 }),
    counting({ candidatesTokenCount: 78 }),
  ];
  expect(streamed(googleFormat, events)).toMatchObject({ outputTokens: 78 });
});

const CHUNK = { choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: '' }] };
const LAST = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };

test('chat: null between chunks, an empty finish reason, and usage in a member of the service', () => {
  const events = [CHUNK, null, { ...LAST, x_groq: { usage: { prompt_tokens: 4, completion_tokens: 2 } } }];
  expect(streamed(openAiChatFormat, events)).toMatchObject({
    text: 'Hi',
    finishReason: 'stop',
    inputTokens: 4,
    outputTokens: 2,
  });
  expect(streamed(openAiChatFormat, [CHUNK])).not.toHaveProperty('finishReason');
});

test.each([
  [{ code: 'data_inspection_failed', message: 'Bad words.' }, 'data_inspection_failed: Bad words.'],
  [{ choices: null, error_type: 'overloaded', error_message: 'Later.' }, 'overloaded: Later.'],
])('chat: an error without "error": %j', (error, text) => {
  expect(streamed(openAiChatFormat, [CHUNK, error])).toMatchObject({ failure: { kind: 'reported', message: text } });
  expect(whole(openAiChatFormat, error)).toMatchObject({ failure: { kind: 'reported', message: text } });
});

test('chat: no choices, and an error as the finish reason, are failures that a retry can mend', () => {
  expect(whole(openAiChatFormat, { choices: [] })).toMatchObject({ failure: { kind: 'reported', retryable: true } });
  const failed = { choices: [{ message: { content: 'Half' }, finish_reason: 'network_error' }] };
  expect(whole(openAiChatFormat, failed)).toMatchObject({ failure: { kind: 'reported', retryable: true } });
  const events = [CHUNK, { choices: [{ delta: {}, finish_reason: 'error' }] }];
  expect(streamed(openAiChatFormat, events)).toMatchObject({ failure: { message: 'the reply ended with "error"' } });
});

function failureOf(body: object): object {
  return attemptFailure('C', { kind: 'status', status: 429, body: JSON.stringify(body) });
}

test('an error body with the words of the provider behind a router, and one with a wait', () => {
  const routed = { error: { message: 'Provider returned error', metadata: { provider_name: 'Google', raw: 'Slow.' } } };
  expect(failureOf(routed)).toMatchObject({
    failure: { message: 'The client "C" answered 429: Provider returned error (Google: Slow.)' },
  });
  const details = [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.07s' }];
  expect(failureOf({ error: { message: 'Quota.', details } })).toMatchObject({
    retryAfterMs: 34_070,
    failure: { retryAfterSeconds: 34.07 },
  });
  expect(failureOf({ error: { message: 'Quota.', details: [{ retryDelay: 'soon' }] } })).not.toHaveProperty(
    'retryAfterMs',
  );
});
