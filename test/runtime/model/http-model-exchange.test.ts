import { expect, test } from 'vitest';
import type { Result } from '../../../src/base/result.ts';
import type { ModelReply, ReplyFormat } from '../../../src/runtime/model/wire/reply-format.ts';
import { openAiChatFormat } from '../../../src/runtime/model/wire/openai-chat-format.ts';
import { DEFAULT_LIMITS } from '../../../src/runtime/model/http/exchange-clock.ts';
import { HttpModelExchange } from '../../../src/runtime/model/http-model-exchange.ts';
import { attemptFailure } from '../../../src/runtime/model/attempt-failure.ts';
import type { AttemptFailure } from '../../../src/runtime/model/attempt-failure.ts';
import { sleep } from '../../support/fake-provider.ts';

type Ended = Result<ModelReply, AttemptFailure>;

/** An exchange that is fed by hand, and how it ended. */
function fed(format: ReplyFormat, streamed: boolean): { readonly exchange: HttpModelExchange; readonly ends: Ended[] } {
  const ends: Ended[] = [];
  const exchange = new HttpModelExchange({
    format,
    endsWithBody: false,
    streamed,
    tellsText: streamed,
    limits: DEFAULT_LIMITS,
    deadlineAt: performance.now() + 10_000,
    listener: { text: () => {}, ended: (result) => ends.push(result) },
    fault: (fault) => attemptFailure('Tested', fault, []),
  });
  exchange.accepted({ 'transfer-encoding': 'chunked' });
  return { exchange, ends };
}

function messages(ends: readonly Ended[]): readonly string[] {
  return ends.map((end) => (end.ok ? end.value.text : end.failure.failure.message));
}

/** Read by JSON.parse, too deep for JSON.stringify. */
const DEEP_ERROR = `{"error":${'{"a":'.repeat(6000)}1${'}'.repeat(6000)}}`;

test('an error that is nested too deeply to be told ends a call', () => {
  const { exchange, ends } = fed(openAiChatFormat, false);
  exchange.data(Buffer.from(DEEP_ERROR));
  exchange.ended();
  expect(messages(ends)).toEqual(['The client "Tested" reported an error: no message']);
});

test('an error that is nested too deeply to be told ends a stream', async () => {
  const { exchange, ends } = fed(openAiChatFormat, true);
  exchange.data(Buffer.from(`data: ${DEEP_ERROR}\n\n`));
  await sleep(1);
  expect(messages(ends)).toEqual(['The client "Tested" reported an error: no message']);
});

/** A format that is not prepared for what comes. */
function failing(): never {
  throw new RangeError('too much');
}

const FAILING: ReplyFormat = {
  readWhole: failing,
  openStream: () => ({ ...openAiChatFormat.openStream(), event: failing, run: failing }),
};

test.each([false, true])('what cannot be read ends the call with a failure (stream: %s)', async (streamed) => {
  const { exchange, ends } = fed(FAILING, streamed);
  exchange.data(Buffer.from('data: {}\n\n'));
  await sleep(1);
  exchange.ended();
  expect(messages(ends)).toEqual(['The client "Tested" sent a reply that could not be read: too much']);
});

test('what the listener throws at the end is not taken for the reply', () => {
  const exchange = new HttpModelExchange({
    format: openAiChatFormat,
    endsWithBody: false,
    streamed: false,
    tellsText: false,
    limits: DEFAULT_LIMITS,
    deadlineAt: performance.now() + 10_000,
    listener: { text: () => {}, ended: failing },
    fault: (fault) => attemptFailure('Tested', fault, []),
  });
  exchange.accepted({});
  exchange.data(Buffer.from('{}'));
  expect(() => exchange.ended()).toThrow('too much');
});
