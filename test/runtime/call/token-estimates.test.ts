import { expect, test } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';
import { textTokens } from '../../../src/runtime/call/estimate-tokens.ts';
import type { CallOutcome, RuntimeOptions } from '../../../src/runtime/call/runtime.ts';
import { chatCompletion, chatEvent, reply, status } from '../../support/fake-provider.ts';
import type { Answer } from '../../support/fake-wire.ts';
import { startProviderSuite } from '../../support/provider-suite.ts';
import { recordingLogger } from '../../support/recording-logger.ts';
import { callContext, callFunction, streamFunction, testRuntime } from '../../support/test-runtime.ts';

const { fake, open } = await startProviderSuite(reply('ok'));

const PROMPT = 'Describe this client in a few words.';
const PROMPT_TOKENS = Math.ceil(textTokens(PROMPT));

const DEFINITIONS = `
client<llm> Chat {
  provider openai-generic
  retry_policy Once
  options {
    base_url env.URL
    model "m"
    prices { input 10, output 20 }
  }
}
client<llm> Claude {
  provider anthropic
  options {
    base_url env.URL
    model "c"
    api_key "k"
  }
}
retry_policy Once {
  max_retries 1
  strategy { type constant_delay, delay_ms 0 }
}
function F(client_name: string) -> string {
  client Chat
  prompt #"${PROMPT}"#
}
`;

function runtime(options: Partial<RuntimeOptions> = {}) {
  const created = testRuntime(DEFINITIONS, { URL: `${fake.url}/v1` }, options);
  open.push(created);
  return created;
}

/** Streams the function, and cancels it at the first text, or as soon as the provider has the request. */
async function cancelled(when: 'text' | 'asked', client = 'Chat'): Promise<CallOutcome> {
  const created = runtime();
  const cancellation = new Cancellation();
  const prepared = created.prepare('F', { client_name: 'x', svc_options: { client } });
  if (!prepared.ok) throw new Error(prepared.failure.message);
  return new Promise((resolve) => {
    const cancel = (): void => cancellation.cancel('the caller left');
    fake.answer(async (request, wire) => {
      await behaviour(request, wire);
      if (when === 'asked') cancel();
    });
    created.stream(prepared.value, callContext(undefined, cancellation), {
      text: () => when === 'text' && cancel(),
      reasoning: () => undefined,
      reset: () => undefined,
      ended: resolve,
    });
  });
}

let behaviour: Answer = () => undefined;

/** Streams these bytes, and then nothing. */
function unfinished(...parts: readonly string[]): Answer {
  return (_request, wire) => {
    wire.head(200, { 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked' });
    wire.body(parts.join(''));
  };
}

const CONTENT = 'A reply that breaks off. '.repeat(20);
const TEXT = chatEvent({ content: CONTENT });
const CONTENT_TOKENS = Math.ceil(textTokens(CONTENT));
const COST = (PROMPT_TOKENS * 10 + CONTENT_TOKENS * 20) / 1e6;

test('a stream that no caller waits for reports its client, its prompt and the text that arrived', async () => {
  behaviour = unfinished(TEXT);
  const { report } = await cancelled('text');
  expect(report).toMatchObject({
    client: 'Chat',
    model: 'm',
    usage: { inputTokens: PROMPT_TOKENS, outputTokens: CONTENT_TOKENS },
  });
  expect(report).toMatchObject({ cost: COST, estimatedTokens: 0 });
  expect(report.attempts).toMatchObject([
    { client: 'Chat', outcome: 'cancelled', inputTokens: PROMPT_TOKENS, outputTokens: CONTENT_TOKENS, cost: COST },
  ]);
});

test('a call that no caller waits for reports its prompt before an answer begins', async () => {
  behaviour = () => undefined;
  const { report } = await cancelled('asked');
  expect(report).toMatchObject({
    client: 'Chat',
    usage: { inputTokens: PROMPT_TOKENS, outputTokens: 0 },
    estimatedTokens: 0,
  });
});

function event(type: string, more: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
}

test('the counts that a provider states at the start of a stream replace the estimate', async () => {
  const usage = { input_tokens: 50, output_tokens: 1 };
  behaviour = unfinished(
    event('message_start', {
      message: { id: 'm', type: 'message', role: 'assistant', model: 'c', content: [], usage },
    }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: CONTENT } }),
  );
  const { report } = await cancelled('text', 'Claude');
  expect(report.usage).toEqual({ inputTokens: 50, outputTokens: CONTENT_TOKENS });
});

test('a reply that breaks off counts with the text that arrived, beside the retry', async () => {
  fake.script((request, wire) => {
    void unfinished(TEXT)(request, wire);
    wire.finish();
  });
  fake.answer(reply('ok', { usage: { prompt_tokens: 7, completion_tokens: 3 } }));
  const { outcome } = await streamFunction(runtime(), 'F', { client_name: 'x' });
  expect(outcome.result.ok).toBe(true);
  expect(outcome.report.usage).toEqual({ inputTokens: PROMPT_TOKENS + 7, outputTokens: CONTENT_TOKENS + 3 });
  expect(outcome.report.estimatedTokens).toBe(0);
});

test('a failure before the first text of an answer counts nothing', async () => {
  fake.answer(status(503, { error: { message: 'busy' } }));
  const { report } = await callFunction(runtime(), 'F', { client_name: 'x' });
  expect(report).toMatchObject({ usage: {} });
  expect(report).not.toHaveProperty('estimatedTokens');
});

test('the tokens of a reply without counts are estimated apart from the usage', async () => {
  fake.answer(status(200, { ...chatCompletion(CONTENT), usage: undefined }));
  const { report } = await callFunction(runtime(), 'F', { client_name: 'x' });
  expect(report).toMatchObject({ usage: {}, estimatedTokens: PROMPT_TOKENS + CONTENT_TOKENS });
  expect(report).not.toHaveProperty('cost');
});

test('counts that no context window holds are limited, with one warning for each client', async () => {
  const most = Number.MAX_SAFE_INTEGER;
  fake.answer(reply('ok', { usage: { prompt_tokens: most, completion_tokens: 3 } }));
  const { logger, lines } = recordingLogger();
  const created = runtime({ logger });
  const own = { name: 'Mine', provider: 'openai-generic', options: { base_url: `${fake.url}/v1`, model: 'm' } };
  const bodies = [{}, {}, { client_registry: { clients: [own], primary: 'Mine' } }];
  for (const svc_options of [...bodies, ...bodies]) {
    const { report } = await callFunction(created, 'F', { client_name: 'x', svc_options });
    expect(report.usage).toEqual({ inputTokens: 100_000_000, outputTokens: 3 });
  }
  expect(lines.filter((line) => line.includes('than any context window holds'))).toHaveLength(2);
});
