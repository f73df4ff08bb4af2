import { expect, test } from 'vitest';
import { BodyBudget } from '../../../src/server/admission.ts';
import type { HttpResponse, RequestHandler, TransportOptions } from '../../../src/server/http/transport.ts';
import { NodeTransport } from '../../../src/server/http/transports/node-transport.ts';
import { failedExchange } from '../../../src/server/http/transports/uws-binary.ts';
import { createTransport } from '../../../src/server/http/transports/create-transport.ts';
import { UwsTransport } from '../../../src/server/http/transports/uws-transport.ts';
import { createOn, HAS_UWS } from '../support/transports.ts';

const OPTIONS: TransportOptions = {
  handler: () => {},
  reject: () => ({ status: 500, headers: [], body: '' }),
  discardLimit: 100_000,
  bodyBudget: new BodyBudget(10_000_000),
  maxUnreadBytes: 64_000_000,
  maxConnections: 1_000,
  closeAbove: 1_000,
};

type Parts = Pick<TransportOptions, 'handler' | 'reject'>;

/** The exchange that fails on uWebSockets.js when a library changes the parts of the test. */
async function failedWith(change: (parts: Parts) => Partial<Parts>): Promise<string | undefined> {
  const uws = await import('uWebSockets.js');
  return failedExchange((parts) => new UwsTransport(uws, { ...OPTIONS, ...parts, ...change(parts) }));
}

/** The handler with an answer that a library would have changed. */
function answering(handler: RequestHandler, change: (response: HttpResponse) => Partial<HttpResponse>): RequestHandler {
  return (request, response) =>
    handler(request, new Proxy(response, { get: (target, name) => partOf(target, change(target), name) }));
}

function partOf(target: HttpResponse, changed: Partial<HttpResponse>, name: string | symbol): unknown {
  const part: unknown = Reflect.get(name in changed ? changed : target, name);
  return typeof part === 'function' ? part.bind(target) : part;
}

function losesBodies(handler: RequestHandler): RequestHandler {
  return answering(handler, (response) => ({ send: (status, headers) => response.send(status, headers, '') }));
}

function reportsNoAbort(handler: RequestHandler): RequestHandler {
  return answering(handler, () => ({ onAborted: () => {} }));
}

function rejectsWithoutBody({ status }: { readonly status: number }): ReturnType<Parts['reject']> {
  return { status, headers: [], body: '' };
}

test.runIf(HAS_UWS)('the binaries of svc pass', async () => {
  expect(await failedWith(() => ({}))).toBeUndefined();
});

test('a library that serves pipelined requests fails: a smuggled one would run', async () => {
  expect(await failedExchange((parts) => new NodeTransport({ ...OPTIONS, ...parts }))).toBe(
    'two requests in one packet',
  );
});

test.runIf(HAS_UWS)('a library that loses the body of an answer fails', async () => {
  expect(await failedWith(({ handler }) => ({ handler: losesBodies(handler) }))).toBe('a GET');
});

test.runIf(HAS_UWS)('a library that loses the body of the last answer of a connection fails', async () => {
  expect(await failedWith(() => ({ reject: rejectsWithoutBody }))).toBe('two lengths of a body');
});

test.runIf(HAS_UWS)('a library that does not report that a client left fails', async () => {
  expect(await failedWith(({ handler }) => ({ handler: reportsNoAbort(handler) }))).toBe('a client that leaves');
});

test.runIf(!HAS_UWS)('without a binary, auto is node:http with a reason, and uws is an error with advice', async () => {
  const reasons: string[] = [];
  const transport = await createTransport('auto', OPTIONS, (reason) => reasons.push(reason));
  expect(transport.name).toBe('node');
  expect(reasons).toEqual([
    `The binary of uWebSockets.js does not load in Node ${process.versions.node} on ${process.platform} ${process.arch}: ` +
      'svc has it for Node 20 and 22 on Linux with glibc.',
  ]);
  await expect(createOn('uws', () => {})).rejects.toThrow(`${reasons[0]} Use --transport auto or --transport node.`);
});
