import { expect, test } from 'vitest';
import { type Result, ok } from '../../../src/base/result.ts';
import type { AttemptFailure } from '../../../src/runtime/model/attempt-failure.ts';
import { openAiChatFormat } from '../../../src/runtime/model/providers/openai.ts';
import { LARGE } from '../../../src/base/own-turn.ts';
import { Redactor } from '../../../src/logging/redactor.ts';
import { DEFAULT_LIMITS } from '../../../src/runtime/model/http/exchange-clock.ts';
import type { ModelClient } from '../../../src/runtime/model/model-client.ts';
import { httpModelClient, type WireProtocol } from '../../../src/runtime/model/http-model-client.ts';
import type { Message } from '../../../src/schema/message.ts';
import type { ModelReply, ReplyFormat } from '../../../src/runtime/model/wire/reply-format.ts';
import { countTurns } from '../../support/count-turns.ts';
import { FedPools } from '../../support/fed-pools.ts';

const READY: WireProtocol['call'] = () => ok({ path: '/', headers: [], body: '{}' });

/** A client whose responses the test feeds. */
function clientWith(protocol: WireProtocol, pools = new FedPools()): ModelClient {
  return httpModelClient({
    name: 'Tested',
    provider: 'openai-generic',
    model: undefined,
    prompt: {
      name: 'Tested',
      provider: 'openai-generic',
      defaultRole: 'user',
      allowedRoles: ['user'],
      remapRoles: {},
      options: {},
    },
    finishReasons: { kind: 'any' },
    supportsStreaming: true,
    propagateTrace: false,
    destination: { origin: 'http://127.0.0.1:1', guard: 'none' },
    limits: DEFAULT_LIMITS,
    mediaHandling: () => 'send_base64',
    isSelfHosted: false,
    redactor: new Redactor(['canary-key']),
    protocol,
    pools,
  });
}

type Ended = Result<ModelReply, AttemptFailure>;

/** Requests a reply; returns the promise of its end, and the pools that feed it. */
function asked(
  client: ModelClient,
  { streamed = false, messages = [] as readonly Message[], text = (_delta: string): void => {} } = {},
): Promise<Ended> {
  const request = { functionName: 'Fn', args: {}, privateUrls: true, messages, streamed };
  return new Promise((resolve) => {
    client.ask({ ...request, deadlineAt: performance.now() + 60_000 }, { text, ended: resolve });
  });
}

function described(ended: Ended): string {
  return ended.ok ? ended.value.text : ended.failure.failure.message;
}

/** Throws like JSON.stringify for a string that V8 cannot hold. */
function tooLong(): never {
  throw new RangeError('Invalid string length, canary-key');
}

const WITH_MEDIA: readonly Message[] = [
  {
    role: 'user',
    parts: [{ kind: 'media', media: 'image', source: { kind: 'url', url: 'data:image/png;base64,aGk=' } }],
  },
];
const MESSAGE = 'The client "Tested" could not be called: Invalid string length, [redacted]';

test('media that cannot be encoded in a request end the call', async () => {
  const client = clientWith({ call: tooLong, format: openAiChatFormat });
  expect(described(await asked(client, { messages: WITH_MEDIA }))).toBe(MESSAGE);
});

test('a failure to prepare the request ends the call', async () => {
  const client = clientWith({ call: () => Promise.resolve().then(tooLong), format: openAiChatFormat });
  expect(described(await asked(client))).toBe(MESSAGE);
});

test('large prompts are encoded and sent in turns of their own', async () => {
  const message = { role: 'user', parts: [{ kind: 'text', text: 'x'.repeat(LARGE) }] } as const;
  const turn = countTurns();
  const turns: number[] = [];
  const call: WireProtocol['call'] = () => {
    turns.push(turn());
    return ok({ path: '/', headers: [], body: '{}' });
  };
  const pools = new FedPools(() => turns.push(turn()));
  for (let each = 0; each < 4; each += 1)
    void asked(clientWith({ call, format: openAiChatFormat }, pools), { messages: [message] });
  await expect.poll(() => pools.log).toHaveLength(4);
  expect(new Set(turns).size).toBe(8);
  expect(turns).not.toContain(0);
});

/** Requests a reply, and feeds a body as one chunk. */
function fed(format: ReplyFormat, streamed: boolean, body: string): Promise<Ended> {
  const pools = new FedPools();
  const ended = asked(clientWith({ call: READY, format }, pools), { streamed });
  pools.listener?.onSent();
  pools.listener?.onHeaders(200, { 'transfer-encoding': 'chunked' });
  pools.listener?.onData(Buffer.from(body));
  pools.listener?.onEnd();
  return ended;
}

/** JSON that JSON.parse reads, but that has too many levels for JSON.stringify before Node 26. */
const DEEP_ERROR = `{"error":${'{"a":'.repeat(6000)}1${'}'.repeat(6000)}}`;

test('an error too deeply nested to quote ends a call and a stream', async () => {
  const message = /^The client "Tested" reported an error: (?:no message$|\{"a":)/u;
  expect(described(await fed(openAiChatFormat, false, DEEP_ERROR))).toMatch(message);
  expect(described(await fed(openAiChatFormat, true, `data: ${DEEP_ERROR}\n\n`))).toMatch(message);
});

function failing(): never {
  throw new RangeError('too much');
}

/** A format that throws for the reply. */
const FAILING: ReplyFormat = {
  facts: openAiChatFormat.facts,
  readReply: failing,
  reasoningIn: failing,
  readEvent: failing,
};

test.each([false, true])(
  'a reply that the format cannot decode ends the call with a failure (stream: %s)',
  async (streamed) => {
    const message = 'The client "Tested" sent a reply that could not be read: too much';
    expect(described(await fed(FAILING, streamed, streamed ? 'data: {}\n\n' : '{}'))).toBe(message);
  },
);

test('an error of the listener at the end is not reported as an error of the reply', () => {
  const pools = new FedPools();
  const client = clientWith({ call: READY, format: openAiChatFormat }, pools);
  const request = { functionName: 'Fn', args: {}, privateUrls: true, messages: [], streamed: false };
  client.ask({ ...request, deadlineAt: performance.now() + 60_000 }, { text: () => {}, ended: failing });
  pools.listener?.onHeaders(200, {});
  pools.listener?.onData(Buffer.from('{}'));
  expect(() => pools.listener?.onEnd()).toThrow('too much');
});

test('the chunks of one read make one delta, and the end follows it', async () => {
  const pools = new FedPools();
  const deltas: string[] = [];
  const client = clientWith({ call: READY, format: openAiChatFormat }, pools);
  const ended = asked(client, { streamed: true, text: (delta) => deltas.push(delta) });
  pools.listener?.onSent();
  pools.listener?.onHeaders(200, {});
  for (const content of ['one ', 'two', ' three']) {
    pools.listener?.onData(Buffer.from(`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`));
  }
  pools.listener?.onData(Buffer.from('data: [DONE]\n\n'));
  expect(described(await ended)).toBe('one two three');
  expect(deltas).toEqual(['one two three']);
  expect(pools.log).toEqual(['send /', 'finish']);
});
