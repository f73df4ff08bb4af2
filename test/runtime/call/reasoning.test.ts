import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { CallError, loadFunctions, type FunctionLibrary } from '../../../src/index.ts';
import type { CallMeta, FunctionEvent } from '../../../src/runtime/call/function-library.ts';
import type { FunctionRuntime, RuntimeOptions } from '../../../src/runtime/call/runtime.ts';
import { chatCompletion, chatEvent, reply, sse, SSE_HEADERS, status } from '../../support/fake-provider.ts';
import { chunk, head } from '../../support/http1-connection.ts';
import type { Behaviour } from '../../support/fake-wire.ts';
import { startProviderSuite } from '../../support/provider-suite.ts';
import { callFunction, streamFunction, testRuntime, valueOf } from '../../support/test-runtime.ts';

const THOUGHTS = ['Two plus ', 'two.'] as const;

/** A reply of a model that reasons first, as a stream. */
const STREAM = sse([
  ...THOUGHTS.map((delta) => chatEvent({ content: null, reasoning_content: delta })),
  chatEvent({ content: '4' }),
  chatEvent({}, 'stop'),
]);

const FILE = `
client<llm> Main {
  provider openai-generic
  retry_policy Once
  options {
    model "m"
    base_url env.URL
  }
}
retry_policy Once {
  max_retries 1
  strategy {
    type constant_delay
    delay_ms 1
  }
}
function Add() -> int {
  client Main
  prompt #"{{ _.role("user") }}2 + 2?"#
}
`;

const { fake, open } = await startProviderSuite(STREAM);
const directory = mkdtempSync(join(tmpdir(), 'svc-reasoning-'));
writeFileSync(join(directory, 'main.svc'), FILE);
afterAll(() => rmSync(directory, { recursive: true }));

const WANTED = { svc_options: { include: ['reasoning'] } };

function runtimeWith(options: Partial<RuntimeOptions> = {}): FunctionRuntime {
  const runtime = testRuntime(FILE, { URL: fake.url }, { exposePrompts: true, ...options });
  open.push(runtime);
  return runtime;
}

/** Sends these events, then closes the connection before the end of the reply. */
function cutAfter(...events: readonly string[]): Behaviour {
  return (_request, wire) => {
    wire.write(head(200, SSE_HEADERS));
    wire.write(chunk(events.join('')));
    wire.end();
  };
}

test('the reasoning is in the report of a call only if the call includes it', async () => {
  fake.answer(reply('4', { reasoning: THOUGHTS.join('') }));
  const runtime = runtimeWith();
  const wanted = await callFunction(runtime, 'Add', WANTED);
  expect([valueOf(wanted), wanted.report.reasoning, wanted.report.rawReply]).toEqual([4, THOUGHTS.join(''), '4']);
  const bare = await callFunction(runtime, 'Add', {});
  expect(bare.report).not.toHaveProperty('reasoning');
});

test('the reasoning of an attempt that fails midway is reset, also before its first text', async () => {
  const runtime = runtimeWith();
  fake.script(cutAfter(chatEvent({ reasoning_content: 'Wrong.' })));
  const { outcome, events, reasoning } = await streamFunction(runtime, 'Add', WANTED);
  expect(valueOf(outcome)).toBe(4);
  expect(events.filter((event) => event.startsWith('reset'))).toHaveLength(1);
  expect(reasoning).toBe(THOUGHTS.join(''));
  expect(outcome.report.reasoning).toBe(THOUGHTS.join(''));
  // No one saw anything of the first attempt.
  fake.script(cutAfter(chatEvent({ reasoning_content: 'Wrong.' })));
  const bare = await streamFunction(runtime, 'Add', {});
  expect([valueOf(bare.outcome), bare.reasoning]).toEqual([4, '']);
  expect(bare.events.filter((event) => event.startsWith('reset'))).toEqual([]);
});

test('a provider that answers a request for a stream with a whole reply sends its reasoning too', async () => {
  fake.answer(status(200, chatCompletion('4', { reasoning: 'Sum.' })));
  const { outcome, reasoning } = await streamFunction(runtimeWith(), 'Add', WANTED);
  expect([valueOf(outcome), reasoning, outcome.report.reasoning]).toEqual([4, 'Sum.', 'Sum.']);
});

test('reasoning counts as a part of the replies that a process can hold', async () => {
  const thoughts = Array.from({ length: 100 }, () => chatEvent({ reasoning_content: 'x'.repeat(4096) }));
  fake.answer(sse([...thoughts, chatEvent({ content: '4' }, 'stop')]));
  const runtime = runtimeWith({ maxReplyBytes: 200_000 });
  expect(valueOf((await streamFunction(runtime, 'Add', {})).outcome)).toBe(4);
  const { outcome } = await streamFunction(runtime, 'Add', WANTED);
  expect(outcome.result).toMatchObject({
    ok: false,
    failure: { code: 'client_error', message: expect.stringContaining('has no memory left') as string },
  });
});

function library(): FunctionLibrary {
  return loadFunctions({ from: directory, env: { URL: fake.url } });
}

test('a stream in process has events with the reasoning, and its metadata at the end', async () => {
  const functions = library();
  const events: Array<FunctionEvent<unknown>> = [];
  const metas: CallMeta[] = [];
  const settings = { reasoning: true, onMeta: (meta: CallMeta) => void metas.push(meta) };
  for await (const event of functions.stream('Add', {}, settings)) events.push(event);
  const deltas = events.map((event) => (event.type === 'reasoning' ? event.delta : ''));
  expect(deltas.join('')).toBe(THOUGHTS.join(''));
  expect(events.at(0)?.type).toBe('reasoning');
  expect(events.at(-1)).toEqual({ type: 'final', value: 4 });
  expect(metas).toMatchObject([{ client: 'Main', reasoning: THOUGHTS.join(''), rawReply: '4' }]);
  const bare: Array<FunctionEvent<unknown>> = [];
  for await (const event of functions.stream('Add', {})) bare.push(event);
  expect(bare.filter(({ type }) => type === 'reasoning')).toEqual([]);
  await functions.close();
});

test('a reset in process clears the reasoning that its reader has not taken', async () => {
  const functions = library();
  fake.script(cutAfter(chatEvent({ reasoning_content: 'Wrong.' })));
  let reasoning = '';
  for await (const event of functions.stream('Add', {}, { reasoning: true })) {
    if (event.type === 'reset') reasoning = '';
    if (event.type === 'reasoning') reasoning += event.delta;
  }
  expect(reasoning).toBe(THOUGHTS.join(''));
  await functions.close();
});

test('a call in process that fails has metadata too', async () => {
  const functions = library();
  fake.answer(status(400, { error: { message: 'no' } }));
  const metas: CallMeta[] = [];
  await expect(functions.call('Add', {}, { onMeta: (meta) => void metas.push(meta) })).rejects.toThrow(CallError);
  expect(metas).toMatchObject([{ client: 'Main', attempts: [{ outcome: 'client_error' }], usage: {} }]);
  await functions.close();
});
