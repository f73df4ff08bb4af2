// Gateways from npm in front of svc: `node node-proxies.mjs NAME LISTEN SERVER TIMEOUT`. TIMEOUT is the longest silence in
// milliseconds, longer than --request-timeout; `plain` leaves out all settings that svc needs.
import { createServer } from 'node:http';
import fastify from 'fastify';
import fastifyProxy from '@fastify/http-proxy';
import httpProxy from 'http-proxy';

const [name, listen = '', server = '', timeout] = process.argv.slice(2);
const [host, port] = listen.split(':');
const address = { host, port: Number(port) };
const target = `http://${server}`;
const isPlain = timeout === 'plain';
const timeoutMs = Number(timeout);

function startHttpProxy() {
  const proxy = httpProxy.createProxyServer(isPlain ? { target } : { target, proxyTimeout: timeoutMs });
  // When a caller leaves, the request to svc ends, which cancels the call to the model.
  if (!isPlain) proxy.on('proxyReq', (outgoing, _, response) => response.on('close', () => outgoing.destroy()));
  const gateway = createServer((request, response) => {
    // Node has answered it, and with it, the event `proxyReq` would not occur.
    if (!isPlain) delete request.headers.expect;
    proxy.web(request, response, {}, () => {
      if (!response.headersSent) response.writeHead(502);
      response.end();
    });
  });
  gateway.listen(address);
}

async function startFastify() {
  // The same limit as that of svc (--max-body).
  const app = fastify(isPlain ? {} : { bodyLimit: 10 * 2 ** 20 });
  const settings = {
    // Idle connections close before svc closes them.
    undici: { headersTimeout: timeoutMs, bodyTimeout: timeoutMs, keepAliveTimeout: 4_000, keepAliveMaxTimeout: 4_000 },
    // Node has answered the expectation, and undici refuses to send it.
    replyOptions: { rewriteRequestHeaders: (_, { expect: _answered, ...headers }) => headers },
  };
  await app.register(fastifyProxy, { upstream: target, ...(isPlain ? {} : settings) });
  await app.listen(address);
}

if (name === 'http-proxy') startHttpProxy();
else await startFastify();
