import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { TRANSPORTS } from '../server/support/transports.ts';
import { reply, startFakeProvider, type FakeProvider } from '../support/fake-provider.ts';
import { childrenOf, waitUntil } from '../support/load.ts';
import { startServer, SVC_MAIN, temporaryFolder, type RunningServer } from '../support/running-server.ts';

/** The client of the official SDK, and the official inspector, with the built program and a provider on loopback. */
const INSPECTOR = fileURLToPath(new URL('node_modules/.bin/mcp-inspector', import.meta.url));

const PERSON = { name: 'Ann', age: 31, tags: ['a', 'b'], boss: { name: 'Bo', age: 52, tags: [], boss: null } };

let provider: FakeProvider;
const opened: Array<{ close(): unknown }> = [];

beforeAll(async () => {
  provider = await startFakeProvider();
});

beforeEach(() => {
  provider.clear();
  provider.answer(reply(JSON.stringify(PERSON), { chunkSize: 8, delayMs: 5 }));
});

afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close();
});

afterAll(() => provider.close());

function definitions(name = 'ReadPerson'): string {
  return `
client Fake {
  provider openai-generic
  options {
    base_url "${provider.url}/v1"
    model "fake"
  }
}

class Person {
  name string
  age int
  tags string[]
  boss Person?
}

/// Reads a person.
function ${name}(text: string) -> Person {
  client Fake
  prompt #"{{ text }} {{ ctx.output_format }}"#
}
`;
}

async function serve(
  flags: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<{ server: RunningServer; folder: string; url: URL }> {
  const folder = temporaryFolder({ 'main.svc': definitions() });
  const server = await startServer({ from: folder, flags: ['--host', '127.0.0.1', '--mcp', ...flags], env });
  opened.push({ close: () => server.stop('SIGKILL') });
  return { server, folder, url: new URL(`${server.url}/mcp`) };
}

/** `onNews`: called when the stream for news is open. */
async function connect(
  url: URL,
  headers: Readonly<Record<string, string>> = {},
  onNews: () => void = () => {},
): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const observed = async (to: string | URL, init?: RequestInit): Promise<Response> => {
    const answer = await fetch(to, init);
    if (init?.method === 'GET') onNews();
    return answer;
  };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers }, fetch: observed }));
  opened.push(client);
  return client;
}

/** Starts `svc mcp`, with what it writes to stderr. */
async function connectStdio(): Promise<{ client: Client; transport: StdioClientTransport; stderr: () => string }> {
  const args = [SVC_MAIN, 'mcp', '--from', temporaryFolder({ 'main.svc': definitions() }), '--no-dotenv'];
  const transport = new StdioClientTransport({ command: process.execPath, args, stderr: 'pipe' });
  let stderr = '';
  transport.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  opened.push(client);
  return { client, transport, stderr: () => stderr };
}

const CALL = { name: 'ReadPerson', arguments: { text: 'Ann, 31' } };

/** What every connection can do. */
async function expectTools(client: Client): Promise<void> {
  const { tools } = await client.listTools();
  expect(tools.map(({ name, description }) => ({ name, description }))).toEqual([
    { name: 'ReadPerson', description: 'Reads a person.' },
  ]);
  // The client compiles the schema, and refuses structured content that does not match it.
  const result = await client.callTool(CALL);
  expect(result.structuredContent).toEqual(PERSON);
  expect(result._meta).toMatchObject({ 'svc/call': { client: { name: 'Fake' }, usage: { input_tokens: 7 } } });
  const partials: string[] = [];
  const onprogress = ({ message = '' }: { readonly message?: string | undefined }) => void partials.push(message);
  const streamed = await client.callTool(CALL, undefined, { onprogress });
  expect(streamed.structuredContent).toEqual(PERSON);
  expect(partials.length).toBeGreaterThan(0);
  for (const partial of partials) expect(JSON.parse(partial)).toHaveProperty('name');
  const wrong = await client.callTool({ name: 'ReadPerson', arguments: { text: 7 } });
  expect(wrong).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/^invalid_argument: .*text: expected a string/u) }],
  });
  await expect(client.callTool({ name: 'ReadPeron' })).rejects.toThrow('Did you mean "ReadPerson"?');
}

describe.each(TRANSPORTS)('over HTTP on %s', (transport) => {
  test('a client lists and calls tools', async () => {
    const { url } = await serve(['--transport', transport]);
    const client = await connect(url);
    expect(client.getServerVersion()).toMatchObject({ name: 'svc' });
    await expectTools(client);
  });

  test('a client that closes its connection cancels the request to the model', async () => {
    const { url } = await serve(['--transport', transport]);
    provider.answer(reply('late', { latencyMs: 60_000 }));
    const before = provider.abandoned.length;
    const client = await connect(url);
    const answer = client.callTool(CALL);
    await waitUntil('the request', () => provider.requests.length === 1);
    await client.close();
    await expect(answer).rejects.toThrow('Connection closed');
    await waitUntil('the end of the request to the model', () => provider.abandoned.length > before);
  });

  test('a key is required, and a page elsewhere is refused', async () => {
    const { url } = await serve(['--transport', transport], { SVC_PASSWORD: 'correct-horse-battery' });
    await expect(connect(url)).rejects.toThrow('Unauthorized');
    await expectTools(await connect(url, { authorization: 'Bearer correct-horse-battery' }));
    await expectTools(await connect(url, { 'x-svc-api-key': 'correct-horse-battery' }));
    const headers = { origin: 'http://evil.example', 'x-svc-api-key': 'correct-horse-battery' };
    await expect(connect(url, headers)).rejects.toThrow('Pages of this origin');
  });

  test('a reload reports the change to clients, which then see the new tools', async () => {
    const { url, server, folder } = await serve(['--transport', transport]);
    let streams = 0;
    const client = await connect(url, {}, () => void (streams += 1));
    let changes = 0;
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => void (changes += 1));
    await waitUntil('the stream', () => streams === 1);
    writeFileSync(join(folder, 'main.svc'), definitions('ReadHuman'));
    server.child.kill('SIGHUP');
    await waitUntil('the notification', () => changes > 0);
    await waitUntil('the new tools', async () => {
      const { tools } = await client.listTools();
      return tools[0]?.name === 'ReadHuman';
    });
    // The client has connected again, to a worker with other definitions.
    await waitUntil('the second notification', () => changes > 1);
    expect(streams).toBeGreaterThan(1);
  });

  test('a server that stops finishes calls, and does not wait for streams of news', async () => {
    const { url, server } = await serve(['--transport', transport, '--drain-timeout', '60s']);
    provider.answer(reply(JSON.stringify(PERSON), { latencyMs: 1_000 }));
    const client = await connect(url);
    const answer = client.callTool(CALL);
    await waitUntil('the request', () => provider.requests.length === 1);
    const stopped = server.stop('SIGTERM');
    expect((await answer).structuredContent).toEqual(PERSON);
    expect(await stopped).toBe(0);
  });

  test('a worker that dies costs its clients only the calls that it runs', async () => {
    const { url, server } = await serve(['--transport', transport]);
    const client = await connect(url);
    provider.answer(reply('late', { latencyMs: 60_000 }));
    const answer = client.callTool(CALL);
    await waitUntil('the request', () => provider.requests.length === 1);
    for (const pid of childrenOf(server.child.pid ?? 0)) process.kill(pid, 'SIGKILL');
    await expect(answer).rejects.toThrow(/fetch failed|terminated|Connection closed/u);
    provider.answer(reply(JSON.stringify(PERSON)));
    await waitUntil('another worker', async () => {
      const result = await client.callTool(CALL).catch(() => undefined);
      return result?.structuredContent !== undefined;
    });
  });

  test('the inspector lists and calls tools', async () => {
    const { url } = await serve(['--transport', transport]);
    expect(await inspect([url.href, '--transport', 'http'])).toEqual(PERSON);
  });
});

describe('over stdio', () => {
  test('a client lists and calls tools, and svc writes nothing else', async () => {
    const { client, stderr } = await connectStdio();
    await expectTools(client);
    expect(stderr()).toBe('');
  });

  test('a client cancels a call', async () => {
    const { client } = await connectStdio();
    provider.answer(reply('late', { latencyMs: 60_000 }));
    const before = provider.abandoned.length;
    const controller = new AbortController();
    const answer = client.callTool(CALL, undefined, { signal: controller.signal });
    await waitUntil('the request', () => provider.requests.length === 1);
    controller.abort('enough');
    await expect(answer).rejects.toThrow('enough');
    await waitUntil('the end of the request to the model', () => provider.abandoned.length > before);
  });

  test.each([
    ['stdin closes', undefined],
    ['SIGTERM arrives', 'SIGTERM'],
  ] as const)('svc ends when %s, also while a call runs', async (_, signal) => {
    provider.answer(reply('late', { latencyMs: 60_000 }));
    const child = spawn(process.execPath, [
      SVC_MAIN,
      'mcp',
      '--from',
      temporaryFolder({ 'main.svc': definitions() }),
      '--no-dotenv',
    ]);
    const closed = once(child, 'close');
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: CALL })}\n`);
    await waitUntil('the request', () => provider.requests.length === 1);
    if (signal === undefined) child.stdin.end();
    else child.kill(signal);
    expect(await closed).toEqual([0, null]);
  });

  test('definitions with errors are reported on stderr', async () => {
    const from = temporaryFolder({ 'main.svc': 'function F() -> Missing {}' });
    const child = spawn(process.execPath, [SVC_MAIN, 'mcp', '--from', from, '--no-dotenv']);
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    expect(await once(child, 'close')).toEqual([1, null]);
    expect(stdout).toBe('');
    expect(stderr).toContain('the server did not start');
  });

  test('the inspector lists and calls tools', async () => {
    const from = temporaryFolder({ 'main.svc': definitions() });
    expect(await inspect([process.execPath, SVC_MAIN, 'mcp', '--from', from])).toEqual(PERSON);
  });
});

/** Calls the tool with the inspector, and returns the structured content that it prints. */
async function inspect(target: readonly string[]): Promise<unknown> {
  const run = async (...args: readonly string[]): Promise<unknown> => {
    const { stdout } = await promisify(execFile)(INSPECTOR, ['--cli', ...target, ...args]);
    return JSON.parse(stdout);
  };
  expect(await run('--method', 'tools/list')).toMatchObject({ tools: [{ name: 'ReadPerson' }] });
  const result = await run('--method', 'tools/call', '--tool-name', 'ReadPerson', '--tool-arg', 'text=Ann');
  return (result as { readonly structuredContent: unknown }).structuredContent;
}
