#!/bin/sh
# One expects: a language server answers `shutdown` before it obeys `exit`, however the two messages arrive. The protocol orders them, and lets a
# client send `exit` right after `shutdown`.
# Observed (2026-11-30): with vscode-languageserver 11.0.0 over stdin and stdout, the answer to `shutdown` is lost if `exit` is in the same chunk:
# the handler of `exit` ends the process before the answer is written. In a chunk of its own, after the answer, all is well. The exit code is 0 in
# both cases.
# So tests of svc wait for the answer, as editors do.
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true, "type": "commonjs"}' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts vscode-languageserver@11.0.0

cat > server.js <<'JS'
const { createConnection } = require('vscode-languageserver/node');
const connection = createConnection(process.stdin, process.stdout);
connection.onInitialize(() => ({ capabilities: {} }));
connection.onShutdown(() => {});
connection.listen();
JS

cat > run.js <<'JS'
const { spawn } = require('node:child_process');
const { readFileSync } = require('node:fs');
const { once } = require('node:events');

const message = (content) => {
  const json = JSON.stringify({ jsonrpc: '2.0', ...content });
  return `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
};
const initialize = message({ id: 1, method: 'initialize', params: { processId: null, rootUri: null, capabilities: {} } });
const shutdown = message({ id: 2, method: 'shutdown' });
const exit = message({ method: 'exit' });

async function session(isOneChunk) {
  const server = spawn(process.execPath, ['server.js', '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] });
  let text = '';
  const answered = (id) =>
    new Promise((resolve) => {
      server.stdout.on('data', () => text.includes(`"id":${id}`) && resolve());
    });
  server.stdout.setEncoding('utf8').on('data', (chunk) => (text += chunk));
  const initialized = answered(1);
  server.stdin.write(initialize);
  await initialized;
  const ended = once(server, 'close');
  if (isOneChunk) server.stdin.write(shutdown + exit);
  else {
    const down = answered(2);
    server.stdin.write(shutdown);
    await down;
    server.stdin.write(exit);
  }
  const [code] = await ended;
  return `answer to shutdown: ${text.includes('"id":2') ? 'yes' : 'no'}, exit code ${code}`;
}

(async () => {
  const { version } = JSON.parse(readFileSync('node_modules/vscode-languageserver/package.json', 'utf8'));
  console.log(`vscode-languageserver ${version}`);
  console.log(`apart: ${await session(false)}`);
  console.log(`in one chunk: ${await session(true)}`);
})();
JS

node run.js | tee observed
cat > expected <<'TXT'
vscode-languageserver 11.0.0
apart: answer to shutdown: yes, exit code 0
in one chunk: answer to shutdown: no, exit code 0
TXT
diff expected observed
