#!/bin/sh
# One expects: the message of an error that a handler of an MCP server throws reaches the caller of the client as it was written, or with its code
# once. On the wire, `code` is a field of its own.
# Observed (2026-11-30): with @modelcontextprotocol/sdk 1.32.2, `McpError` writes "MCP error -32602: " into its message, the server sends that text, and
# the client makes an `McpError` of it, which writes the prefix again. A plain Error with a `code` is prefixed once, by the client.
# So the server of svc throws plain errors with a code.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "module"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts @modelcontextprotocol/sdk@1.32.2

cat > run.js <<'JS'
import { readFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { CallToolRequestSchema, ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';

const { version } = JSON.parse(readFileSync('node_modules/@modelcontextprotocol/sdk/package.json', 'utf8'));
const [clientSide, serverSide] = InMemoryTransport.createLinkedPair();
const server = new Server({ name: 'server', version: '1' }, { capabilities: { tools: {} } });
server.setRequestHandler(CallToolRequestSchema, ({ params: { name } }) => {
  if (name === 'typed') throw new McpError(ErrorCode.InvalidParams, 'no such tool');
  throw Object.assign(new Error('no such tool'), { code: ErrorCode.InvalidParams });
});
const client = new Client({ name: 'client', version: '1' });
const send = serverSide.send.bind(serverSide);
serverSide.send = (message, options) => {
  if (message.error !== undefined) console.log(`on the wire: ${message.error.message}`);
  return send(message, options);
};
await Promise.all([server.connect(serverSide), client.connect(clientSide)]);
console.log(`@modelcontextprotocol/sdk ${version}`);
for (const name of ['typed', 'plain']) {
  await client.callTool({ name }).catch(({ message }) => console.log(`${name}: ${message}`));
}
await client.close();
JS

node run.js | tee observed
cat > expected <<'TXT'
@modelcontextprotocol/sdk 1.32.2
on the wire: MCP error -32602: no such tool
typed: MCP error -32602: MCP error -32602: no such tool
on the wire: no such tool
plain: MCP error -32602: no such tool
TXT
diff expected observed
