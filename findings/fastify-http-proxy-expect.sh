#!/bin/sh
# One expects: a gateway passes on, answers or ignores `Expect: 100-continue` (RFC 9110, 10.1.1). curl sends it with large bodies.
# Observed (2026-11-29): @fastify/http-proxy 11.6.3 answers 500, because undici refuses to send the header that it copies.
# test/gateways/node-proxies.mjs removes the header: Node has answered it.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --ignore-scripts --no-audit --no-fund @fastify/http-proxy@11.6.3 fastify@5.12.8

cat > expect.mjs <<'JS'
import { createServer, request } from 'node:http';
import proxy from '@fastify/http-proxy';
import fastify from 'fastify';

const server = createServer((incoming, response) => incoming.resume().on('end', () => response.end('{}')));
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const gateway = fastify();
await gateway.register(proxy, { upstream: `http://127.0.0.1:${server.address().port}` });
const url = await gateway.listen({ host: '127.0.0.1', port: 0 });

function statusOf(headers) {
  return new Promise((resolve) => {
    const options = { method: 'POST', agent: false, headers: { 'content-type': 'application/json', 'content-length': '2', ...headers } };
    const sent = request(url, options, (response) => response.resume().on('end', () => resolve(response.statusCode)));
    sent.end('{}');
  });
}

const statuses = [await statusOf({}), await statusOf({ expect: '100-continue' })];
console.log(`status without and with Expect: ${statuses.join(', ')}`);
process.exitCode = statuses.join() === '200,500' ? 0 : 1;
await gateway.close();
server.close();
JS
echo '@fastify/http-proxy 11.6.3'
node expect.mjs
