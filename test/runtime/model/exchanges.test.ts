import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CallOutcome } from '../../../src/runtime/call/runtime.ts';
import { awsEvent, awsException } from '../../support/aws-event-frame.ts';
import { outcomeOf, readExchanges, sections, type Exchange } from '../../support/exchanges.ts';
import { startFakeProvider, type FakeProvider } from '../../support/fake-provider.ts';
import { head } from '../../support/http1-connection.ts';
import type { Behaviour, RecordedRequest } from '../../support/fake-wire.ts';
import { callFunction, streamFunction, testRuntime } from '../../support/test-runtime.ts';

/**
 * Exchanges with providers, one file each: `=== name`, then sections that begin with `--- section`. `client` and
 * `prompt` make a function, which `call` or `stream` calls. `request` is the expected request, byte for byte: the first line,
 * the headers in the order of their names, and the body. `reply` is the answer of the provider, as in its documentation,
 * and `outcome` is the result for the caller. Several attempts have their requests and replies in order. `returns` is the
 * type of the value if it is no string, and `include` makes the call ask for the reasoning.
 */
const { files, exchanges } = readExchanges();

/** An empty folder must not pass. */
const FEWEST_EXCHANGES = 125;
const FEWEST_FILES = 13;

const ENV = {
  OPENAI_API_KEY: 'sk-svc-test-openai',
  KEY: 'svc-test-key',
  AWS_ID: 'AKIDSVC',
  AWS_SECRET: 'aws-test-secret',
};

let fake: FakeProvider;

beforeAll(async () => {
  fake = await startFakeProvider();
});
afterAll(() => fake.close());

/** A status line, headers and a body; an AWS stream has one event per line, as `type {json}`. */
function replyOf(text: string): Behaviour {
  const [lines = '', ...rest] = text.split('\n\n');
  const [status = '', ...headers] = lines.split('\n');
  const named = Object.fromEntries(headers.map((line) => [line.split(': ')[0] ?? '', line.split(': ')[1] ?? '']));
  const body = rest.join('\n\n');
  const streamed = named['content-type'] === 'text/event-stream';
  const bytes = named['content-type'] === 'application/vnd.amazon.eventstream' ? awsEvents(body) : Buffer.from(body);
  const ended = streamed ? Buffer.concat([bytes, Buffer.from('\n\n')]) : bytes;
  const all = { ...named, 'content-length': String(ended.length) };
  return (_request, wire) => wire.write(Buffer.concat([Buffer.from(head(Number(status), all)), ended]));
}

function awsEvents(body: string): Buffer {
  const frames = body.split('\n').map((line) => {
    const [type = '', payload = ''] = line.split(/ (.*)/su);
    const data = JSON.parse(payload) as object;
    return type.endsWith('Exception') ? awsException(type, data) : awsEvent(type, data);
  });
  return Buffer.concat(frames);
}

/** Omits headers of the connection, which do not depend on the provider, and replaces values that depend on the time. */
function written({ method, path, headers, body }: RecordedRequest): string {
  const own = Object.entries(headers).filter(([name]) => !['host', 'connection', 'content-length'].includes(name));
  const lines = own.map(([name, value]) => `${name}: ${value}`).toSorted();
  return `${method} ${path}\n${lines.join('\n')}\n\n${body}`
    .replaceAll(fake.url, 'URL')
    .replace(/\d{8}T\d{6}Z/u, '(time)')
    .replace(/\/\d{8}\//u, '/(day)/')
    .replace(/Signature=[0-9a-f]{64}/u, 'Signature=(64 hexadecimal digits)');
}

function resultOf({ result, report }: CallOutcome): object {
  const { finishReason, usage, model } = report;
  const reasks = report.attempts.some(({ reask }) => reask === true)
    ? report.attempts.map(({ outcome, reask }) => (reask === true ? `re-ask ${outcome}` : outcome))
    : undefined;
  if (result.ok) {
    const value = JSON.parse(result.value.json) as unknown;
    return { value, model, finishReason, usage, reasoning: report.reasoning, attempts: reasks };
  }
  const { failure } = result;
  const status = failure.code === 'client_error' ? failure.upstreamStatus : undefined;
  const attempts =
    report.attempts.length > 1 ? report.attempts.map((each) => `${each.client} ${each.outcome}`) : undefined;
  return { error: failure.code, message: failure.message, status, attempts };
}

test.each(exchanges.map((exchange) => [exchange.name, exchange] as const))('%s', async (_name, exchange) => {
  const { requests, outcome } = await played(exchange);
  expect(requests).toEqual(sections(exchange, 'request').map((text) => text.trimEnd()));
  expect(outcome).toEqual(outcomeOf(exchange));
});

const REASONED = exchanges.filter((exchange) => sections(exchange, 'include').length > 0);

test.each(REASONED.map((exchange) => [exchange.name, exchange] as const))(
  '%s: without include, the same without reasoning',
  async (_name, exchange) => {
    const bare = { ...exchange, sections: exchange.sections.filter(([name]) => name !== 'include') };
    const { reasoning, ...outcome } = outcomeOf(exchange);
    expect(reasoning).not.toBe('');
    expect(await played(bare)).toEqual({
      requests: sections(exchange, 'request').map((text) => text.trimEnd()),
      outcome,
    });
  },
);

async function played(
  exchange: Exchange,
): Promise<{ readonly requests: readonly string[]; readonly outcome: unknown }> {
  const [client = ''] = sections(exchange, 'client');
  const [prompt = ''] = sections(exchange, 'prompt');
  const [returns = 'string'] = sections(exchange, 'returns');
  const runtime = testRuntime(
    `${client}\nfunction F(x: string) -> ${returns} {\n  client Tested\n  prompt #"${prompt}"#\n}\n`,
    { ...ENV, URL: fake.url, URL_WITH_SLASH: `${fake.url}/v1/` },
    { exposePrompts: true },
  );
  fake.clear();
  fake.script(...sections(exchange, 'reply').map(replyOf));
  const streamed = sections(exchange, 'stream').length > 0;
  const include = sections(exchange, 'include').map((part) => part.trim());
  const args = { x: 'w', svc_options: { include } };
  const { outcome, reasoning } = streamed
    ? await streamFunction(runtime, 'F', args)
    : { outcome: await callFunction(runtime, 'F', args), reasoning: undefined };
  await runtime.close();
  if (streamed) expect(reasoning).toBe(outcome.report.reasoning ?? '');
  return { requests: fake.requests.map(written), outcome: JSON.parse(JSON.stringify(resultOf(outcome))) as unknown };
}

test('there are enough files and exchanges', () => {
  expect(files.length).toBeGreaterThanOrEqual(FEWEST_FILES);
  expect(exchanges.length).toBeGreaterThanOrEqual(FEWEST_EXCHANGES);
});
