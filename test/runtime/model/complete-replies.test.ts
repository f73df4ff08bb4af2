import { expect, test } from 'vitest';
import { isComplete } from '../../../src/runtime/model/wire/reply-format.ts';

test.each([undefined, 'stop', 'STOP', 'end_turn', 'stop_sequence', 'tool_calls', 'tool_use', 'completed', 'eos'])(
  'a reply with the finish reason %s is complete',
  (finishReason) => {
    expect(isComplete({ text: '', ...(finishReason !== undefined && { finishReason }) })).toBe(true);
  },
);

test.each([
  'length',
  'max_tokens',
  'MAX_TOKENS',
  'max_output_tokens',
  'model_context_window_exceeded',
  'content_filter',
  'content_filtered',
  'guardrail_intervened',
  'refusal',
  'SAFETY',
  'RECITATION',
])('a reply with the finish reason %s was cut off or withheld', (finishReason) => {
  expect(isComplete({ text: '', finishReason })).toBe(false);
});
