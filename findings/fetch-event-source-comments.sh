#!/bin/sh
# One expects: a comment line of an event stream, also one with an empty line after it, is no message (WHATWG HTML, "Server-sent
# events": an event whose data is empty is not dispatched).
# Observed (2026-11-29): @microsoft/fetch-event-source 2.0.1 calls `onmessage` with empty data for each such comment. The usual
# JSON.parse(event.data) throws there, and the library then sends the request again, once a second.
# no empty line follows a comment (docs/adr/0032-the-stream-is-the-call-that-is-never-silent.md).
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --ignore-scripts --no-audit --no-fund @microsoft/fetch-event-source@2.0.1

cat > comments.mjs <<'JS'
import { createServer } from 'node:http';
import events from '@microsoft/fetch-event-source/lib/cjs/index.js';

// The globals of a browser that the library uses.
globalThis.window = globalThis;
globalThis.document = { hidden: false, addEventListener() {}, removeEventListener() {} };

const server = createServer((_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(':\n\ndata: {}\n\n');
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const data = [];
await events.fetchEventSource(`http://127.0.0.1:${server.address().port}`, { onmessage: (event) => data.push(event.data) });
server.close();
console.log(`data of the messages for a comment and one event: ${JSON.stringify(data)}`);
process.exitCode = JSON.stringify(data) === '["","{}"]' ? 0 : 1;
JS
echo '@microsoft/fetch-event-source 2.0.1'
node comments.mjs
