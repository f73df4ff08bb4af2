import { EventEmitter, once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { TRANSPORTS } from '../server/support/transports.ts';
import {
  chatEvent,
  reply,
  SSE_HEADERS,
  startFakeProvider,
  status,
  type FakeProvider,
} from '../support/fake-provider.ts';
import { sleep } from '../support/fake-wire.ts';
import { childrenOf, waitUntil } from '../support/load.ts';
import { startServer, temporaryFolder, type RunningServer } from '../support/running-server.ts';
import { ONE_USE } from '../support/sse.ts';

const FUNCTION = `
client<llm> Model {
  provider openai-generic
  options {
    model m
    base_url env.PROVIDER_URL
  }
}
function Tell(topic: string) -> string {
  client Model
  prompt #"{{ topic }}"#
}
`;

/** How a caller of a door asks for a stream, and what the end of its answer shows. */
interface DoorCaller {
  readonly name: string;
  readonly path: string;
  readonly body: object;
  /** The code of the failure in an answer that has begun. */
  readonly failure: (answer: string) => unknown;
  /** The text of a complete answer; undefined if it is not complete. */
  readonly text: (answer: string) => string | undefined;
}

/** The events of a stream, or the one object of an answer that is none. */
function dataOf(answer: string): ReadonlyArray<Readonly<Record<string, unknown>>> {
  const lines = answer.startsWith('{')
    ? [answer]
    : answer.split('\n').filter((line) => line.startsWith('data: {') && line.endsWith('}'));
  return lines.map((line) => JSON.parse(line.replace('data: ', '')) as Readonly<Record<string, unknown>>);
}

interface Chunk {
  readonly choices?: ReadonlyArray<{ readonly delta: { readonly content?: string } }>;
}

interface ToolAnswer {
  readonly result?: { readonly isError?: boolean; readonly content: ReadonlyArray<{ readonly text: string }> };
}

const CALLERS: readonly DoorCaller[] = [
  {
    name: 'chat completions',
    path: '/v1/chat/completions',
    body: { model: 'Tell', stream: true, messages: [{ role: 'user', content: 'a' }] },
    failure: (answer) => dataOf(answer).findLast(({ error }) => error !== undefined)?.['error'],
    text: (answer) =>
      answer.endsWith('data: [DONE]\n\n')
        ? (dataOf(answer) as readonly Chunk[]).map(({ choices }) => choices?.[0]?.delta.content ?? '').join('')
        : undefined,
  },
  {
    name: 'responses',
    path: '/v1/responses',
    body: { model: 'Tell', stream: true, input: 'a' },
    failure: (answer) => dataOf(answer).findLast(({ type }) => type === 'response.failed' || type === 'error'),
    text: (answer) =>
      dataOf(answer).at(-1)?.['type'] === 'response.completed'
        ? dataOf(answer)
            .filter(({ type }) => type === 'response.output_text.delta')
            .map(({ delta }) => String(delta))
            .join('')
        : undefined,
  },
  {
    name: 'MCP',
    path: '/mcp',
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'Tell', arguments: { topic: 'a' }, _meta: { progressToken: 1 } },
    },
    failure: (answer) => {
      const result = (dataOf(answer) as readonly ToolAnswer[]).at(-1)?.result;
      return result?.isError === true ? result : undefined;
    },
    text: (answer) => {
      const result = (dataOf(answer) as readonly ToolAnswer[]).at(-1)?.result;
      return result?.isError === true ? undefined : result?.content[0]?.text;
    },
  },
];

let provider: FakeProvider;

beforeAll(async () => {
  provider = await startFakeProvider();
});
beforeEach(() => provider.clear());
afterAll(() => provider.close());

async function startDoors(transport: string, from: string): Promise<RunningServer> {
  const flags = ['--openai-api', '--mcp', '--workers', '1', '--transport', transport];
  const server = await startServer({ from, flags, env: { PROVIDER_URL: `${provider.url}/v1` } });
  onTestFinished(() => void server.child.kill('SIGKILL'));
  return server;
}

const folder = temporaryFolder({ 'main.svc': FUNCTION });

function begin(server: RunningServer, { path, body }: DoorCaller): Promise<Response> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...ONE_USE };
  return fetch(`${server.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** Sends the first half of a reply, then waits for `proceed`, then the rest. */
function halves(): { readonly proceed: () => void; readonly started: Promise<unknown> } {
  const steps = new EventEmitter();
  const [started, released] = [once(steps, 'started'), once(steps, 'released')];
  provider.answer(async (_request, wire) => {
    wire.head(200, SSE_HEADERS);
    wire.body(chatEvent({ role: 'assistant', content: 'first half, ' }));
    steps.emit('started');
    await released;
    wire.body(chatEvent({ content: 'second half' }));
    wire.body(chatEvent({}, 'stop'));
    wire.body('data: [DONE]\n\n');
    wire.finish();
  });
  return { proceed: () => steps.emit('released'), started };
}

/** The definitions that the server serves on a new connection; undefined if it has no worker. */
async function servedProgram({ url }: RunningServer): Promise<string | undefined> {
  const answer = await fetch(`${url}/_debug/status`, { headers: ONE_USE }).catch(() => undefined);
  return answer?.headers.get('x-svc-program') ?? undefined;
}

for (const transport of TRANSPORTS) {
  for (const caller of CALLERS) {
    const title = `${caller.name} (${transport}):`;

    test(`${title} a model that fails before its first text is an error with a status, or a failed tool`, async () => {
      const server = await startDoors(transport, folder);
      provider.answer(status(500, { error: { message: 'the model is down' } }));
      const response = await begin(server, caller);
      const answer = await response.text();
      if (caller.name === 'MCP') expect(caller.failure(answer)).toBeDefined();
      else {
        expect(response.status).toBeGreaterThanOrEqual(500);
        expect(JSON.parse(answer)).toMatchObject({ error: { code: 'client_error' } });
      }
      expect(answer).toContain('client_error');
    });

    test(`${title} a model that breaks off in its text is an error at the end of the stream`, async () => {
      const server = await startDoors(transport, folder);
      provider.answer(async (_request, wire) => {
        wire.head(200, SSE_HEADERS);
        wire.body(chatEvent({ role: 'assistant', content: 'first half' }));
        await sleep(200);
        wire.reset();
      });
      const response = await begin(server, caller);
      expect(response.status).toBe(200);
      const answer = await response.text();
      expect(caller.failure(answer)).toBeDefined();
      expect(caller.text(answer)).toBeUndefined();
      expect(answer).toContain('client_error');
    });

    test(`${title} a server that stops completes the answer`, async () => {
      const server = await startDoors(transport, folder);
      const model = halves();
      const response = await begin(server, caller);
      await model.started;
      const stopped = server.stop('SIGTERM');
      await waitUntil('the drain', () => server.output().includes('stopping'));
      model.proceed();
      expect(caller.text(await response.text())).toBe('first half, second half');
      expect(await stopped).toBe(0);
    });

    test(`${title} a reload completes the answer, and the next one has the new definitions`, async () => {
      const from = temporaryFolder({ 'main.svc': FUNCTION });
      const server = await startDoors(transport, from);
      const model = halves();
      const response = await begin(server, caller);
      await model.started;
      const old = await servedProgram(server);
      writeFileSync(join(from, 'main.svc'), FUNCTION.replace('{{ topic }}', 'new {{ topic }}'));
      server.child.kill('SIGHUP');
      await waitUntil('the new definitions', async () => ![old, undefined].includes(await servedProgram(server)));
      model.proceed();
      expect(caller.text(await response.text())).toBe('first half, second half');
      provider.answer(reply('after'));
      // A worker that drains accepts connections for a moment, and the kernel resets those that wait when it stops (see docs/security.md).
      await waitUntil('an answer of the new definitions', async () => {
        const answered = await begin(server, caller).catch(() => undefined);
        if (answered === undefined) return false;
        expect(caller.text(await answered.text())).toBe('after');
        return provider.requests.at(-1)?.body.includes('new a') === true;
      });
    });

    test(`${title} the answer of a worker that dies is not complete, and the next request is answered`, async () => {
      const server = await startDoors(transport, folder);
      const model = halves();
      const response = await begin(server, caller);
      await model.started;
      const [worker] = childrenOf(server.child.pid ?? 0);
      if (worker === undefined) throw new Error('no worker');
      process.kill(worker, 'SIGKILL');
      expect(caller.text(await response.text().catch(() => ''))).toBeUndefined();
      model.proceed();
      provider.answer(reply('after'));
      await waitUntil('another worker', async () => (await servedProgram(server)) !== undefined);
      expect(caller.text(await (await begin(server, caller)).text())).toBe('after');
    });
  }
}
