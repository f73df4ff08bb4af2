import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { RawConnection } from '../server/support/raw-connection.ts';
import { success } from '../server/support/scripted-runtime.ts';
import { startServer, type TestServer } from '../server/support/test-server.ts';
import { TRANSPORTS } from '../server/support/transports.ts';
import { until } from '../server/support/until.ts';

const FOLDER = fileURLToPath(new URL('node_modules', import.meta.url));

/** Reads a stream as the documentation of the library does: calls `onData` with the data of each message, and resolves at the end. */
type Reader = (url: string, onData: (data: string) => void) => Promise<void>;

const HEADERS = { 'content-type': 'application/json' };
const POST = { method: 'POST', headers: HEADERS, body: '{}' };

/** `npm ci` and pip install the libraries in this folder, so the type checker does not know them. */
async function load<T>(name: string): Promise<T> {
  return (await import(`${FOLDER}/${name}`)) as T;
}

async function fetchEventSource(url: string, onData: (data: string) => void): Promise<void> {
  const { fetchEventSource: read } = await load<{
    readonly fetchEventSource: (url: string, options: object) => Promise<void>;
  }>('@microsoft/fetch-event-source/lib/cjs/index.js');
  // The globals of a browser that it uses.
  const page = { hidden: false, addEventListener: () => undefined, removeEventListener: () => undefined };
  Object.assign(globalThis, { window: globalThis, document: page });
  const onmessage = ({ data }: { readonly data: string }): void => {
    JSON.parse(data);
    onData(data);
  };
  await read(url, { ...POST, onmessage });
}

async function eventSource(url: string, onData: (data: string) => void): Promise<void> {
  interface Source {
    readonly addEventListener: (type: 'message', listener: (event: { readonly data: string }) => void) => void;
    readonly close: () => void;
  }
  const { EventSource } = await load<{ EventSource: new (url: string, options: object) => Source }>(
    'eventsource/dist/index.js',
  );
  const source = new EventSource(url, { fetch: (input: URL, init: RequestInit) => fetch(input, { ...init, ...POST }) });
  // Its contract is an endless stream, so a program closes it after the last message.
  await new Promise<void>((resolve) => {
    source.addEventListener('message', ({ data }) => {
      onData(data);
      if ('final_result' in (JSON.parse(data) as object)) resolve();
    });
  });
  source.close();
}

async function parsed(body: ReadableStream<Uint8Array> | null, onData: (data: string) => void): Promise<void> {
  const { EventSourceParserStream } = await load<{
    EventSourceParserStream: new () => TransformStream<string, { readonly data: string }>;
  }>('eventsource-parser/dist/stream.js');
  const events = body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  for await (const { data } of events ?? []) onData(data);
}

async function eventSourceParser(url: string, onData: (data: string) => void): Promise<void> {
  await parsed((await fetch(url, POST)).body, onData);
}

async function openapiFetch(url: string, onData: (data: string) => void): Promise<void> {
  type Client = Record<
    'POST',
    (path: string, options: object) => Promise<{ readonly data: ReadableStream<Uint8Array> }>
  >;
  const { default: createClient } = await load<{ default: (options: object) => Client }>(
    'openapi-fetch/dist/index.mjs',
  );
  const { origin, pathname } = new URL(url);
  const { data } = await createClient({ baseUrl: origin }).POST(pathname, { body: {}, parseAs: 'stream' });
  await parsed(data, onData);
}

/** The module that its generator copies into each client. */
async function heyApi(url: string, onData: (data: string) => void): Promise<void> {
  const source = readFileSync(`${FOLDER}/@hey-api/openapi-ts/dist/clients/core/serverSentEvents.ts`, 'utf8');
  const { default: typescript } = await load<{
    default: { transpile(text: string, options: object): string };
  }>('typescript/lib/typescript.js');
  const module = typescript.transpile(source, { target: 'es2022', module: 'esnext' });
  const { createSseClient } = (await import(`data:text/javascript,${encodeURIComponent(module)}`)) as {
    readonly createSseClient: (options: object) => { readonly stream: AsyncIterable<unknown> };
  };
  const { stream } = createSseClient({
    url,
    ...POST,
    serializedBody: '{}',
    // Events without data are those of comments.
    onSseEvent: ({ data }: { readonly data: unknown }) => expect(data).toBeDefined(),
  });
  for await (const data of stream) onData(JSON.stringify(data));
}

async function printed(command: string, args: readonly string[], onLine: (line: string) => void): Promise<void> {
  const env = { PATH: process.env['PATH'], HOME: process.env['HOME'], PYTHONPATH: `${FOLDER}/python` };
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) onLine(line);
}

function python(library: string): Reader {
  const script = fileURLToPath(new URL('read_stream.py', import.meta.url));
  return (url, onData) => printed('python3', [script, library, url], (line) => onData(JSON.parse(line) as string));
}

async function curl(url: string, onData: (data: string) => void): Promise<void> {
  const args = ['--silent', '--no-buffer', url, '--header', 'content-type: application/json', '--data', '{}'];
  await printed('curl', args, (line) => {
    if (line.startsWith('data: ')) onData(line.slice(6));
  });
}

const READERS: ReadonlyArray<readonly [name: string, read: Reader]> = [
  ['@microsoft/fetch-event-source', fetchEventSource],
  ['eventsource', eventSource],
  ['eventsource-parser', eventSourceParser],
  ['openapi-fetch', openapiFetch],
  ['Hey API', heyApi],
  ['requests', python('requests')],
  ['httpx', python('httpx')],
  ['curl', curl],
];

/** Characters that a reader can take for the end of a line, or that look different in another encoding. */
const VALUE = ['Å ü 漢 😀', '\u0085 \u2028 \u2029 \u007F', '\n \r \u000B \f \u001C \u001D \u001E'];

let server: TestServer;
let witness: RawConnection;

afterEach(() => {
  witness.end();
  server.close();
});

describe.each(TRANSPORTS)('transport %s', (transport) => {
  test.each(READERS)('%s reads each message once, and no message for a comment', async (_, read) => {
    server = await startServer(transport, {}, { heartbeatMs: 1 });
    const messages: unknown[] = [];
    const reading = read(`${server.url}/stream/Greet`, (data) => messages.push(JSON.parse(data)));
    // Comments go to all streams in the same turn, so that this one shows that the reader has received one.
    witness = new RawConnection(server.port);
    witness.write(
      'POST /stream/Greet HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}',
    );
    const { streams } = server.runtime;
    await until(() => streams.length === 2);
    for (const stream of streams) stream.grow(VALUE.slice(0, 1));
    await until(() => messages.length === 1 && witness.text.split('\n').filter((line) => line === ':').length > 1);
    for (const stream of streams) stream.observer.ended(success(VALUE));
    await reading;
    expect(messages).toEqual([{ partial_result: VALUE.slice(0, 1) }, { final_result: VALUE }]);
    expect(streams).toHaveLength(2);
  });
});
