import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { DOCS_CONTENT_SECURITY_POLICY, loadDocsAssets } from '../../src/server/http/static-asset.ts';

/** A server with the documentation page under a path prefix, and answers that a test can predict. */
export interface PageServer {
  /** Address of the page. */
  readonly url: string;
  /** Requested paths that do not exist under the prefix, and all requested paths outside it. */
  readonly missing: readonly string[];
  /** Keys of calls and streams, in order; an empty string for none. */
  readonly keys: readonly string[];
  close(): Promise<void>;
}

const PREFIX = '/some/prefix';

/**
 * Serves `document`, and requires `key` if it is not empty. Streams send one partial per word of `words`. A body that
 * contains `fail midway` gets an error after the first partial, one that contains `fail before` a plain error.
 */
export async function startPageServer(document: unknown, words: readonly string[], key = ''): Promise<PageServer> {
  const assets = loadDocsAssets();
  const missing: string[] = [];
  const keys: string[] = [];
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const url = (request.url ?? '').replace(/\?.*$/u, '');
    const path = url.startsWith(PREFIX) ? url.slice(PREFIX.length) : '';
    const asset = assets.get(path);
    if (asset !== undefined) {
      const headers = { 'content-type': asset.contentType, 'content-security-policy': DOCS_CONTENT_SECURITY_POLICY };
      response.writeHead(200, headers).end(asset.bytes(undefined));
      return;
    }
    const given = String(request.headers['x-svc-api-key'] ?? '');
    if (path.startsWith('/call/') || path.startsWith('/stream/')) keys.push(given);
    if (key !== '' && given !== key) json(response, 403, { error: 'Unauthorized', message: 'no', request_id: 'r' });
    else if (path === '/openapi.json') json(response, 200, document);
    else if (path.startsWith('/call/')) json(response, 200, 'called', ANSWERED_BY);
    else if (path.startsWith('/stream/')) void stream(request, response, words);
    else {
      missing.push(url);
      json(response, 404, {});
    }
  };
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}${PREFIX}/docs`, missing, keys, close };
}

const ANSWERED_BY = { 'x-svc-client': 'Main', 'x-svc-model': 'small-1', 'x-svc-input-tokens': '12' };
const ATTEMPT = { client: 'Main', outcome: 'ok', duration_ms: 3 };
const META = {
  usage: { input_tokens: 12, output_tokens: 7 },
  client: { name: 'Main', model: 'small-1' },
  attempts: [{ ...ATTEMPT, outcome: 'client_error' }, ATTEMPT],
};
const FAILURE = { error: 'client_error', message: 'the provider refuses the key', request_id: 'r' };

function json(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

async function stream(request: IncomingMessage, response: ServerResponse, words: readonly string[]): Promise<void> {
  const body = await text(request);
  if (body.includes('fail before')) json(response, 502, FAILURE);
  else {
    const more = body.includes('"include":["usage","client","attempts"]') ? { meta: META } : {};
    sendWords(response, { words, sent: body.includes('fail midway') ? 1 : words.length, more });
  }
}

interface Words {
  readonly words: readonly string[];
  /** The number of words before the end: fewer than all if the stream fails. */
  readonly sent: number;
  /** Further members of the last message. */
  readonly more: object;
}

/** Sends one partial every 100 ms, so that a browser has time to show it, and an error after the first `sent` of them. */
function sendWords(response: ServerResponse, { words, sent, more }: Words): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  let count = 0;
  const timer = setInterval(() => {
    count += 1;
    const value = words.slice(0, count).join(' ');
    const last = count > sent;
    const end = sent < words.length ? FAILURE : { final_result: value, ...more };
    response.write(`data: ${JSON.stringify(last ? end : { partial_result: value })}\n\n`);
    if (!last) return;
    clearInterval(timer);
    response.end();
  }, 100);
  response.on('close', () => clearInterval(timer));
}
