import { expect, test } from 'vitest';
import type { JsonValue } from '../../../src/base/json.ts';
import { createOfflineClient } from '../../../src/runtime/model/providers/offline.ts';
import { OFFLINE } from '../../../src/schema/providers/offline.ts';
import { readOptions } from '../../../src/schema/providers/provider-description.ts';

const REPLIES = [
  { function: 'Read', contains: 'Ada', reply: 'Ada in Read' },
  { contains: 'Ada', reply: { name: 'Ada' } },
  { function: 'Read', reply: 'Read' },
];

/** Returns the reply to a call of a client with these options; `made up` if no option decides. */
function replyTo(options: Readonly<Record<string, JsonValue>>, functionName: string, text: string): Promise<string> {
  const { values } = readOptions(OFFLINE, new Map(Object.entries(options)));
  const client = createOfflineClient('Offline', values, { answer: () => 'made up' });
  const request = {
    functionName,
    args: { text },
    messages: [],
    streamed: false,
    deadlineAt: performance.now() + 60_000,
    privateUrls: false,
  };
  return new Promise((resolve, reject) => {
    client.ask(request, {
      text: () => {},
      ended: (result) => (result.ok ? resolve(result.value.text) : reject(new Error('the offline client failed'))),
    });
  });
}

test('the first canned answer whose function is called and whose text occurs in the arguments is the reply', async () => {
  expect(await replyTo({ replies: REPLIES }, 'Read', 'Ada')).toBe('Ada in Read');
  expect(await replyTo({ replies: REPLIES }, 'Sort', 'Ada')).toBe('{"name":"Ada"}');
  expect(await replyTo({ replies: REPLIES }, 'Read', 'Alan')).toBe('Read');
});

test('without a canned answer for the call, the reply is the one of all calls, or made up', async () => {
  expect(await replyTo({ replies: REPLIES, reply: 'the same' }, 'Sort', 'Alan')).toBe('the same');
  expect(await replyTo({ replies: REPLIES }, 'Sort', 'Alan')).toBe('made up');
  expect(await replyTo({ replies: [] }, 'Sort', 'Alan')).toBe('made up');
});
