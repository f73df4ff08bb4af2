#!/bin/sh
# One expects: when a caller leaves, a gateway ends the request to the server behind it.
# Observed (2026-11-29): http-proxy 1.18.1 does so only while the request arrives. Later, it keeps reading the answer, and a
# server that streams cannot learn that no one reads it.
# test/gateways/node-proxies.mjs ends the request when the answer to the caller closes.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --ignore-scripts --no-audit --no-fund http-proxy@1.18.1

cat > disconnect.mjs <<'JS'
import { createServer, request } from 'node:http';
import httpProxy from 'http-proxy';

let left = false;
const server = createServer((incoming, response) => {
  incoming.resume();
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const timer = setInterval(() => response.write('data: {}\n\n'), 50);
  response.on('close', () => {
    clearInterval(timer);
    left = true;
  });
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const proxy = httpProxy.createProxyServer({ target: `http://127.0.0.1:${server.address().port}` });
const gateway = createServer((incoming, response) => proxy.web(incoming, response, {}, () => response.end()));
await new Promise((resolve) => gateway.listen(0, '127.0.0.1', resolve));

const sent = request({ host: '127.0.0.1', port: gateway.address().port, method: 'POST', agent: false }, (response) => {
  response.on('error', () => {});
  response.once('data', () => sent.destroy());
});
sent.on('error', () => {});
sent.end('{}');
await new Promise((resolve) => setTimeout(resolve, 3_000));
console.log(`3 s after the caller left, the server ${left ? 'knows it' : 'still writes'}`);
process.exit(left ? 1 : 0);
JS
echo 'http-proxy 1.18.1'
node disconnect.mjs
