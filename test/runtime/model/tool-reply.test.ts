import { expect, test } from 'vitest';
import { answeredByTool, ToolReply, toolText } from '../../../src/runtime/model/wire/tool-reply.ts';

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
  expect(toolText(undefined)).toBe('{}');
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
