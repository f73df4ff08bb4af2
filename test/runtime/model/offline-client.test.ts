import { expect, test } from 'vitest';
import type { JsonValue } from '../../../src/base/json.ts';
import { createOfflineClient } from '../../../src/runtime/model/providers/offline.ts';
import { OFFLINE } from '../../../src/schema/providers/offline.ts';
import { silentLogger } from '../../../src/logging/logger.ts';
import { callContext, callFunction, testRuntime } from '../../support/test-runtime.ts';
import { warningsOf } from '../../../src/runtime/call/losses.ts';
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
      ended: (result) => (result.ok ? resolve(result.value.text) : reject(new Error(result.failure.failure.message))),
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

test('with make_up false, a call without a canned answer fails, and the others do not', async () => {
  const exact = { make_up: false, replies: REPLIES };
  expect(await replyTo(exact, 'Sort', 'Ada')).toBe('{"name":"Ada"}');
  expect(await replyTo({ make_up: false, reply: 'the same' }, 'Sort', 'Alan')).toBe('the same');
  const reason =
    'The client "Offline" reported an error: it has no reply for this call of Sort, and `make_up false` forbids it to make one up: add one to "replies"';
  await expect(replyTo(exact, 'Sort', 'Alan')).rejects.toThrow(reason);
  await expect(replyTo({ make_up: false }, 'Sort', 'Alan')).rejects.toThrow(reason);
});

const DEFINITIONS = `
client<llm> Canned {
  provider offline
  options {
    replies [{ contains "Ada", reply "Lovelace" }]
  }
}
client<llm> Exact {
  provider offline
  options {
    make_up false
    replies [{ contains "Ada", reply "Lovelace" }]
  }
}
client<llm> Both {
  provider fallback
  options { strategy [Exact, Canned] }
}
client<llm> Free {
  provider offline
}
function Surname(text: string) -> string {
  client Canned
  prompt #"{{ text }}"#
}
`;

test('a made-up value has a flag, a warning and one line in the log; a canned one has none', async () => {
  const lines: unknown[] = [];
  const logger = {
    ...silentLogger,
    warn: (fields: object, message: string) => void lines.push({ ...fields, message }),
  };
  const runtime = testRuntime(DEFINITIONS, {}, { logger });
  const canned = await callFunction(runtime, 'Surname', { text: 'Ada' });
  expect(canned.report.flags).toEqual([]);
  expect(lines).toEqual([]);
  for (const client of ['Canned', 'Both']) {
    const { result, report } = await callFunction(runtime, 'Surname', { text: 'Alan', svc_options: { client } });
    if (!result.ok) throw new Error(result.failure.message);
    expect(report).toMatchObject({ client: 'Canned', flags: [{ flag: 'made-up', path: '' }] });
    const message = 'The offline client "Canned" made up the value: none of its replies is for this call.';
    expect(warningsOf(result.value)).toEqual({ list: [{ path: '', message, kind: 'made_up' }], more: 0 });
  }
  const message = 'an offline client made up a value: none of its replies is for this call';
  expect(lines).toEqual([{ requestId: 'test', function: 'Surname', client: 'Canned', message }]);
});

test('a value of a client without replies is marked too, and with make_up false the call fails', async () => {
  const runtime = testRuntime(DEFINITIONS);
  const free = await callFunction(runtime, 'Surname', { text: 'Alan', svc_options: { client: 'Free' } });
  const detail = 'The offline client "Free" made up the value: it has no replies.';
  expect(free.report.flags).toEqual([{ flag: 'made-up', path: '', detail }]);
  const exact = await callFunction(runtime, 'Surname', { text: 'Alan', svc_options: { client: 'Exact' } });
  expect(exact.result).toMatchObject({ ok: false, failure: { code: 'client_error', client: 'Exact' } });
});

test.each([
  ['Canned', 'Ada', false],
  ['Canned', 'Alan', true],
  ['Free', 'Ada', true],
])(
  'a stream of the client %s for %s states before its first text whether it is made up: %s',
  async (client, text, made) => {
    const runtime = testRuntime(DEFINITIONS);
    const prepared = runtime.prepare('Surname', { text, svc_options: { client } });
    if (!prepared.ok) throw new Error(prepared.failure.message);
    const first = await new Promise((resolve) => {
      const stream = runtime.stream(prepared.value, callContext(), {
        text: () => resolve(stream.isMadeUp()),
        reasoning: () => {},
        reset: () => {},
        ended: () => {},
      });
    });
    expect(first).toBe(made);
  },
);
