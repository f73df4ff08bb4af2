// Entry file: a server that answers in the format of every provider, for `providers.ts`, in a process of its own. It prints its port.
// A path begins with the protocol: /chat/…, /responses/…, /anthropic/…, /google/…, /bedrock/…. `GET /connections` returns
// the number of connections opened so far, and shows that the server is alive.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answer } from './answers.ts';
import { providerReplies, type Protocol } from './provider-replies.ts';

/** Characters in one delta: about one token. */
const DELTA_LENGTH = 4;

const PROTOCOLS: readonly Protocol[] = ['chat', 'responses', 'anthropic', 'google', 'bedrock'];
const { text } = answer('Small');
const replies = new Map(PROTOCOLS.map((protocol) => [`${protocol}`, providerReplies(protocol, text, DELTA_LENGTH)]));

let connections = 0;

const server = createServer((request, response) => {
  const url = request.url ?? '/';
  const reply = replies.get(url.split('/')[1] ?? '');
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    if (reply === undefined) {
      response.end(String(connections));
      return;
    }
    const body = Buffer.concat(chunks).toString();
    const streamed = body.includes('"stream":true') || /converse-stream|streamGenerate/u.test(url);
    response.setHeader('content-type', streamed ? reply.streamType : 'application/json');
    response.end(streamed ? reply.streamed : reply.whole);
  });
});
server.on('connection', () => {
  connections += 1;
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`);
});
