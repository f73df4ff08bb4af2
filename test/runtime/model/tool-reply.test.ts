import { expect, test } from 'vitest';
import { anthropicFormat } from '../../../src/runtime/model/providers/anthropic.ts';
import { bedrockFormat } from '../../../src/runtime/model/providers/aws-bedrock.ts';
import { readWhole, type ReplyFormat } from '../../../src/runtime/model/wire/reply-format.ts';
import { WireStream } from '../../../src/runtime/model/wire/wire-stream.ts';

const INPUT = '{"b": 9007199254740993, "1": 1.0, "text": "\\u0041 } ]"}';

function textOf(format: ReplyFormat, body: string): string | undefined {
  const reply = readWhole(format, body, { asTool: true });
  return reply.ok ? reply.value.text : undefined;
}

/** The part of the reply after each of the events. */
function deltasOf(format: ReplyFormat, events: readonly object[]): readonly string[] {
  const stream = new WireStream(format, { asTool: true });
  return events.map((each) => {
    const event = JSON.stringify(each);
    stream.event(event, 0, event.length);
    return stream.takeText();
  });
}

function streamedText(format: ReplyFormat, events: readonly object[]): string {
  return deltasOf(format, events).join('');
}

const textOfModel = (delta: string): object => ({
  type: 'content_block_delta',
  delta: { type: 'text_delta', text: delta },
});
const inputOf = (delta: string): object => ({
  type: 'content_block_delta',
  delta: { type: 'input_json_delta', partial_json: delta },
});
const TOOL = { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', input: {} } };
const END = { type: 'message_delta', delta: { stop_reason: 'end_turn' } };
const STOP = { type: 'message_stop' };

test.each<[string, readonly object[], readonly string[]]>([
  [
    'the input of the tool, without the words around it',
    [textOfModel('I call '), TOOL, inputOf(''), inputOf('{"a'), inputOf('":1}'), textOfModel('Done.'), END],
    ['', '', '', '{"a', '":1}', '', ''],
  ],
  [
    'the text if the model calls no tool',
    [textOfModel('I will '), textOfModel('not.'), END, STOP],
    ['', '', 'I will not.', ''],
  ],
  ['an empty object if the tool gets no input', [TOOL, inputOf(''), END, STOP], ['', '', '{}', '']],
])('a streamed reply is %s', (_, events, deltas) => {
  expect(deltasOf(anthropicFormat, events)).toEqual(deltas);
});

test('a stream holds back only so much text', () => {
  const part = textOfModel('x'.repeat(10_000));
  const lengths = deltasOf(anthropicFormat, [part, part, part, END]).map((delta) => delta.length);
  expect(lengths).toEqual([0, 20_000, 10_000, 0]);
});

test('the end of a tool call is a normal end, and no other reason changes', () => {
  const reasons = ['tool_use', 'max_tokens', 'end_turn'].map((reason) => {
    const reply = readWhole(anthropicFormat, JSON.stringify({ content: [], stop_reason: reason }), { asTool: true });
    return reply.ok ? reply.value.finishReason : undefined;
  });
  expect(reasons).toEqual(['end_turn', 'max_tokens', 'end_turn']);
});

test('the input in a whole reply keeps all digits and the order of keys', () => {
  const anthropic = `{"content": [{"type": "text", "text": "\\"input\\": ["}, {"input": ${INPUT} , "type": "tool_use"}]}`;
  expect(textOf(anthropicFormat, anthropic)).toBe(INPUT);
  const bedrock = `{"output": {"message": {"content": [{"text": "x"}, {"toolUse": {"name": "F", "input": ${INPUT}}}]}}}`;
  expect(textOf(bedrockFormat, bedrock)).toBe(INPUT);
});

test('the first of several calls is the reply, in whole replies and in streams', () => {
  const calls = [{ a: 1 }, { a: 2 }];
  const whole = { content: calls.map((input) => ({ type: 'tool_use', input })) };
  expect(textOf(anthropicFormat, JSON.stringify(whole))).toBe('{"a":1}');
  const anthropic = calls.flatMap((input, index) => [
    { type: 'content_block_start', index, content_block: { type: 'tool_use', input: {} } },
    ...['{"a":', `${input.a}`, '}'].map((partial) => ({
      type: 'content_block_delta',
      index,
      delta: { type: 'input_json_delta', partial_json: partial },
    })),
  ]);
  expect(streamedText(anthropicFormat, [...anthropic, { type: 'message_stop' }])).toBe('{"a":1}');
  const bedrock = calls.flatMap((input, contentBlockIndex) => [
    { contentBlockStart: { contentBlockIndex, start: { toolUse: { name: 'F' } } } },
    ...['{"a":', `${input.a}`, '}'].map((part) => ({
      contentBlockDelta: { contentBlockIndex, delta: { toolUse: { input: part } } },
    })),
  ]);
  expect(streamedText(bedrockFormat, [...bedrock, { messageStop: { stopReason: 'tool_use' } }])).toBe('{"a":1}');
});
