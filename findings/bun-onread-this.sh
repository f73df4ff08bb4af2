#!/bin/sh
# One expects: the callback of `onread`, with which a socket of node:net delivers its bytes, is called the same way in Bun as in Node.
# Observed (2026-11-29): Node 20 calls it as a method of the socket. Bun 1.4.4 calls it without `this`. Node's documentation does not mention `this`.
# The streams of the library use it, so bundles run in Node (docs/bundling.md).
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true}' > package.json
npm install --silent --ignore-scripts --no-audit --no-fund @oven/bun-linux-x64@1.4.4

cat > onread.mjs <<'JS'
import { connect, createServer } from 'node:net';

const server = createServer((socket) => socket.end('bytes'));
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const kind = await new Promise((resolve) => {
  const callback = function () {
    resolve(this === undefined ? 'undefined' : this === socket ? 'the socket' : 'another object');
    return true;
  };
  const socket = connect({ port: server.address().port, host: '127.0.0.1', onread: { buffer: Buffer.alloc(64), callback } });
});
server.close();
console.log(kind);
process.exit();
JS
in_node=$(node onread.mjs)
in_bun=$(node_modules/@oven/bun-linux-x64/bin/bun onread.mjs)
echo "this in the callback: Node $(node --version): $in_node; Bun 1.4.4: $in_bun"
test "$in_node" = 'the socket' && test "$in_bun" = 'undefined'
