import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ConnectionPools } from '../../../src/runtime/model/http/connection-pools.ts';
import type { OriginPool, ResponseListener } from '../../../src/runtime/model/http/origin-pool.ts';
import type { ModelAttempt } from '../../../src/runtime/model/model-client.ts';
import { clientDefinition, makeClient, testServices } from '../../support/ask-client.ts';

const REST_MS = 50;

function closed(): Promise<void> {
  return Promise.resolve();
}

/** Connections whose responses the test sends. */
class ScriptedPools extends ConnectionPools {
  listener: ResponseListener | undefined;
  readonly calls: string[] = [];

  override to(): OriginPool {
    const noted = (name: string) => () => {
      this.calls.push(name);
      return true;
    };
    const request = {
      pause: noted('pause'),
      rest: noted('rest'),
      resume: noted('resume'),
      finish: noted('finish'),
      cancel: noted('cancel'),
    };
    const send: OriginPool['send'] = (_call, listener) => {
      this.listener = listener;
      return request;
    };
    return { send, counts: [], close: closed, destroy: closed };
  }
}

let pools: ScriptedPools;
let attempt: ModelAttempt;
let texts: string[];

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  vi.advanceTimersByTime(1000);
  pools = new ScriptedPools();
  texts = [];
  const client = makeClient(
    clientDefinition('openai-generic', { base_url: 'http://127.0.0.1:1/v1', model: 'm', api_key: 'k' }),
    { ...testServices(), pools },
  );
  attempt = client.ask(
    {
      functionName: 'Fn',
      args: {},
      privateUrls: true,
      messages: [{ role: 'user', parts: [{ kind: 'text', text: 'x' }] }],
      streamed: true,
      deadlineAt: performance.now() + 60_000,
    },
    { text: (delta) => texts.push(delta), ended: () => texts.push('end') },
  );
  pools.listener?.onSent();
  pools.listener?.onHeaders(200, { 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked' });
});
afterEach(async () => {
  vi.useRealTimers();
  await pools.close();
});

/** The model's next read: one delta. Another connection reads into its memory afterwards. */
async function receive(text: string): Promise<void> {
  const event = { choices: [{ index: 0, delta: { content: text }, finish_reason: null }] };
  const bytes = Buffer.from(`data: ${JSON.stringify(event)}\n\n`);
  pools.listener?.onData(bytes);
  await nextTurn();
  bytes.fill(0);
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Two quick reads, of which the second is used: reading rests. */
async function rest(): Promise<void> {
  await receive('a');
  attempt.coalesceReads(REST_MS);
  await receive('b');
  await receive('c');
  attempt.coalesceReads(REST_MS);
  expect(texts).toEqual(['a', 'b', 'c']);
  expect(pools.calls).toEqual(['rest']);
}

test('deltas on their way while reading rests come together with those that follow', async () => {
  await rest();
  await receive('d');
  await receive('e');
  expect(texts).toEqual(['a', 'b', 'c']);
  vi.advanceTimersByTime(REST_MS);
  expect(pools.calls).toEqual(['rest', 'resume']);
  await receive('f');
  await nextTurn();
  expect(texts).toEqual(['a', 'b', 'c', 'def']);
});

test('deltas on their way come when the reader accepts text again, without another read', async () => {
  await rest();
  await receive('d');
  attempt.pause();
  vi.advanceTimersByTime(REST_MS);
  await nextTurn();
  expect(texts).toEqual(['a', 'b', 'c']);
  attempt.resume();
  await nextTurn();
  expect(texts).toEqual(['a', 'b', 'c', 'd']);
});

test('the end of a body does not wait for the end of a rest', async () => {
  await rest();
  await receive('d');
  pools.listener?.onEnd();
  await nextTurn();
  expect(texts).toEqual(['a', 'b', 'c', 'd', 'end']);
});
