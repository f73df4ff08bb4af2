#!/bin/sh
# One expects: a `vm.Script` with the option `importModuleDynamically` can run `import()`, whether V8 compiles it or reads its code from
# `cachedData`.
# Observed (2026-11-29): on Node 20.20.2, a script that another process compiled fails with ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING, although the
# cache is accepted. Node 22.23.3 imports. So a program works with its first start, which writes the cache, and fails with the second one.
# The programs of svc contain no `import()` (.build/programs.mjs).
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private": true}' > package.json
npm install --silent --no-audit --no-fund node-20@npm:node@20.20.2 node-22@npm:node@22.23.3

cat > run.cjs <<'JS'
const { existsSync, readFileSync, writeFileSync } = require('node:fs');
const { Script, constants } = require('node:vm');

const cache = `${process.version}.bin`;
const cachedData = existsSync(cache) ? readFileSync(cache) : undefined;
const script = new Script('(() => import("node:os"))', {
  filename: __filename,
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  cachedData,
});
if (cachedData === undefined) writeFileSync(cache, script.createCachedData());
const source = cachedData === undefined ? 'compiled' : script.cachedDataRejected ? 'rejected' : 'cached';
script.runInThisContext()().then(
  () => console.log(`${process.version}, ${source}: imports`),
  (error) => console.log(`${process.version}, ${source}: ${error.code}`),
);
JS

for major in 20 22; do
  node="node_modules/node-$major/bin/node"
  "$node" --no-warnings run.cjs
  "$node" --no-warnings run.cjs
done | tee observed
cat > expected <<'TXT'
v20.20.2, compiled: imports
v20.20.2, cached: ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING
v22.23.3, compiled: imports
v22.23.3, cached: imports
TXT
cmp observed expected
