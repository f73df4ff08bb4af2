#!/bin/sh
# @opentelemetry/sdk-trace 2.12.0: after an export that failed, the batch processor runs two exports at once.
# Observed on 2026-11-28.
#
# Expected: the batch processor calls its exporter again only when the call before has ended, whether that succeeded or not. The
# specification asks for this: https://opentelemetry.io/docs/specs/otel/trace/sdk/#exportbatch
# Observed: the processor notes that an export ended in `finally`, starts the next one there, and then notes once more that an
# export ended in the `catch` that follows, although the next one is under way. The next span that completes a batch
# starts another export. Each failure can add one.
#
# Exits with 1 if the package no longer behaves so.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "type": "module", "private": true }' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts @opentelemetry/api@1.9.1 @opentelemetry/sdk-trace@2.12.0
cat > run.js <<'JS'
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';

const text = readFileSync('node_modules/@opentelemetry/sdk-trace/package.json', 'utf8');
console.log(`@opentelemetry/sdk-trace ${JSON.parse(text).version}`);

const SUCCESS = 0;
const FAILED = 1;

/** The most exports under way at once, if the first of three batches has this result. */
async function mostExports(code) {
  const underWay = [];
  let most = 0;
  const exporter = {
    export: (spans, done) => {
      underWay.push(done);
      most = Math.max(most, underWay.length);
    },
    shutdown: async () => {},
  };
  const processor = new BatchSpanProcessor({ exporter, maxExportBatchSize: 2, scheduledDelayMillis: 60_000 });
  const tracer = new TracerProvider({ spanProcessors: [processor] }).getTracer('example');
  for (let index = 0; index < 6; index += 1) tracer.startSpan('example').end();
  underWay.shift()(code === SUCCESS ? { code } : { code, error: new Error('refused') });
  await sleep(50);
  tracer.startSpan('example').end();
  await sleep(50);
  return most;
}

const afterSuccess = await mostExports(SUCCESS);
const afterFailure = await mostExports(FAILED);
console.log(`exports under way at once: ${afterSuccess} after a success, ${afterFailure} after a failure`);
process.exit(afterSuccess === 1 && afterFailure > 1 ? 0 : 1);
JS
node run.js
