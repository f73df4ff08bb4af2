#!/bin/sh
# One expects: an app whose sockets are all closed, and to which no variable refers, is collected together with its handlers, as a
# closed server of node:http is.
# Observed (2026-11-30): with uws-pack 20.0.8 (uWebSockets.js for Node 18 to 22), a handler of a closed app stays for as long as the
# process lives, and with it everything that it refers to.
# src/server/http/transports/uws-transport.ts passes the library functions that refer to one object, and empties that at the end.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true}' > package.json
npm install --silent --no-audit --no-fund uws-pack@20.0.8

cat > closed-app.mjs <<'JS'
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import * as uws from 'uws-pack';

const BYTES = 8 * 2 ** 20;

/** A handler that refers to memory of its own. */
function handlerThatHolds() {
  const held = Buffer.alloc(BYTES);
  return { handler: (...parts) => parts[0].end(held), held: new WeakRef(held) };
}

async function closedUws() {
  const { handler, held } = handlerThatHolds();
  const app = uws.App().any('/*', handler);
  await new Promise((resolve) => app.listen('127.0.0.1', 0, resolve));
  app.close();
  return held;
}

async function closedNode() {
  const { handler, held } = handlerThatHolds();
  const server = createServer((request, response) => handler(response));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  await new Promise((resolve) => server.close(resolve));
  return held;
}

async function isReleased(held) {
  for (let turn = 0; turn < 20 && held.deref() !== undefined; turn += 1) {
    await sleep(20);
    globalThis.gc();
  }
  return held.deref() === undefined;
}

const node = await isReleased(await closedNode());
const library = await isReleased(await closedUws());
console.log(`memory of the handlers of a closed server: node:http ${node ? 'releases' : 'keeps'} it, uWebSockets.js ${library ? 'releases' : 'keeps'} it`);
process.exit(node && !library ? 0 : 1);
JS
echo 'uws-pack 20.0.8'
node --expose-gc closed-app.mjs
