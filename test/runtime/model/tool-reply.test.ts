import { expect, test } from 'vitest';
import { anthropicToolFormat } from '../../../src/runtime/model/providers/anthropic.ts';
import { bedrockToolFormat } from '../../../src/runtime/model/providers/aws-bedrock.ts';
import { readWhole, type ReplyFormat } from '../../../src/runtime/model/wire/reply-format.ts';
import { answeredByTool, ToolReply, toolText } from '../../../src/runtime/model/wire/tool-reply.ts';

const INPUT = '{"b": 9007199254740993, "1": 1.0, "text": "\\u0041 } ]"}';

function textOf(format: ReplyFormat, body: string): string | undefined {
  const reply = readWhole(format, body, false);
  return reply.ok ? reply.value.text : undefined;
}

function streamedText(format: ReplyFormat, events: readonly object[]): string {
  const stream = format.openStream(false);
  for (const event of events.map((each) => JSON.stringify(each))) stream.event(event, 0, event.length);
  return stream.takeText();
}

test('the input of the tool is the reply, without the words before and after it', () => {
  const reply = new ToolReply();
  const parts = [reply.text('I call '), reply.text('it.'), reply.input(''), reply.input('{"a'), reply.input('":1}')];
  expect([...parts, reply.text('Done.'), reply.end()]).toEqual(['', '', '', '{"a', '":1}', '', '']);
});

test('the text is the reply if the model calls no tool', () => {
  const reply = new ToolReply();
  expect([reply.text('I will '), reply.text('not.'), reply.end()]).toEqual(['', '', 'I will not.']);
});

test('a tool without input is an empty object', () => {
  const reply = new ToolReply();
  expect([reply.input(''), reply.end()]).toEqual(['', '{}']);
  expect(toolText('{"a": {}}', ['a', 'input'])).toBe('{}');
});

test('a stream holds back only so much text', () => {
  const reply = new ToolReply();
  const part = 'x'.repeat(10_000);
  expect(reply.text(part)).toBe('');
  expect(reply.text(part)).toHaveLength(20_000);
  expect(reply.text(part)).toHaveLength(10_000);
  expect(reply.end()).toBe('');
});

test('the end of a tool call is a normal end, and no other reason changes', () => {
  const reasons = ['tool_use', 'max_tokens', 'end_turn'].map((finishReason) => answeredByTool({ finishReason }));
  expect(reasons.map(({ finishReason }) => finishReason)).toEqual(['end_turn', 'max_tokens', 'end_turn']);
  expect(answeredByTool({})).toEqual({});
});

test('the input in a whole reply keeps all digits and the order of keys', () => {
  const anthropic = `{"content": [{"type": "text", "text": "\\"input\\": ["}, {"input": ${INPUT} , "type": "tool_use"}]}`;
  expect(textOf(anthropicToolFormat, anthropic)).toBe(INPUT);
  const bedrock = `{"output": {"message": {"content": [{"text": "x"}, {"toolUse": {"name": "F", "input": ${INPUT}}}]}}}`;
  expect(textOf(bedrockToolFormat, bedrock)).toBe(INPUT);
});

test('the first of several calls is the reply, in whole replies and in streams', () => {
  const calls = [{ a: 1 }, { a: 2 }];
  const whole = { content: calls.map((input) => ({ type: 'tool_use', input })) };
  expect(textOf(anthropicToolFormat, JSON.stringify(whole))).toBe('{"a":1}');
  const anthropic = calls.flatMap((input, index) => [
    { type: 'content_block_start', index, content_block: { type: 'tool_use', input: {} } },
    ...['{"a":', `${input.a}`, '}'].map((partial) => ({
      type: 'content_block_delta',
      index,
      delta: { type: 'input_json_delta', partial_json: partial },
    })),
  ]);
  expect(streamedText(anthropicToolFormat, [...anthropic, { type: 'message_stop' }])).toBe('{"a":1}');
  const bedrock = calls.flatMap((input, contentBlockIndex) => [
    { contentBlockStart: { contentBlockIndex, start: { toolUse: { name: 'F' } } } },
    ...['{"a":', `${input.a}`, '}'].map((part) => ({
      contentBlockDelta: { contentBlockIndex, delta: { toolUse: { input: part } } },
    })),
  ]);
  expect(streamedText(bedrockToolFormat, [...bedrock, { messageStop: { stopReason: 'tool_use' } }])).toBe('{"a":1}');
});

test('a stream of Anthropic that ends with its finish reason is complete', () => {
  const text = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'I will not.' } };
  const tool = { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', input: {} } };
  const end = { type: 'message_delta', delta: { stop_reason: 'end_turn' } };
  const stop = { type: 'message_stop' };
  expect(streamedText(anthropicToolFormat, [text, end])).toBe('I will not.');
  expect(streamedText(anthropicToolFormat, [text, end, stop])).toBe('I will not.');
  expect(streamedText(anthropicToolFormat, [tool, end, stop])).toBe('{}');
});
