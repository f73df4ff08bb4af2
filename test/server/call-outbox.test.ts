import { expect, test, vi } from 'vitest';
import { unpackedRows } from '../../src/calls/call-rows.ts';
import { CallOutbox } from '../../src/server/call-outbox.ts';
import type { WorkerMessage } from '../../src/server/protocol.ts';

function rowOf(length: number): readonly (string | null)[] {
  return ['id', 'x'.repeat(length)];
}

function outbox() {
  const messages: Extract<WorkerMessage, { type: 'keep-calls' }>[] = [];
  const sent: (() => void)[] = [];
  const box = new CallOutbox((message, done) => {
    if (message.type === 'keep-calls') messages.push(message);
    sent.push(done);
  });
  return { box, messages, sent };
}

test('the calls of 200 ms leave together', () => {
  vi.useFakeTimers();
  const { box, messages } = outbox();
  box.add(rowOf(10));
  box.add(rowOf(20));
  box.add(['id', null]);
  expect(messages).toEqual([]);
  vi.advanceTimersByTime(200);
  const [message] = messages;
  expect(message).toMatchObject({ type: 'keep-calls', dropped: 0 });
  expect(message && unpackedRows(message.calls)).toEqual([rowOf(10), rowOf(20), ['id', null]]);
  vi.advanceTimersByTime(1000);
  expect(messages).toHaveLength(1);
  vi.useRealTimers();
});

test('many bytes leave at once, and a channel that is full drops and counts', () => {
  const { box, messages, sent } = outbox();
  const large = rowOf(2 ** 20);
  for (let call = 0; call < 20; call += 1) box.add(large);
  const count = messages.reduce((sum, { calls }) => sum + calls.count, 0);
  expect(count).toBe(15);
  for (const done of sent) done();
  box.add(large);
  expect(messages.at(-1)).toMatchObject({ calls: { count: 1 }, dropped: 5 });
});
