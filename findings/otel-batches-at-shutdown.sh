#!/bin/sh
# @opentelemetry/sdk-trace 2.12.0 with @opentelemetry/exporter-trace-otlp-proto 0.223.0: at its shutdown, the batch processor
# loses all batches beyond the thirtieth, although the receiver accepts everything. Observed on 2026-11-28.
#
# Expected: `TracerProvider.shutdown()` exports the spans in the queue, and resolves when it has. The specification asks for this, and
# for no concurrent calls of an exporter: https://opentelemetry.io/docs/specs/otel/trace/sdk/#shutdown-1 and #exportbatch
# Observed: the processor starts the exports of all batches at once. The OTLP exporter refuses an export while 30 are under way
# ("Concurrent export limit reached"), and the processor drops these spans. The first refusal rejects `shutdown()`, before any
# export has ended, and the exporter is never shut down. The queue of the example has the default length of 2,048 spans; only
# the batches are smaller (OTEL_BSP_MAX_EXPORT_BATCH_SIZE=16). `forceFlush()` uses the same code.
#
# Exits with 1 if the packages no longer behave so.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "type": "module", "private": true }' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts \
  @opentelemetry/api@1.9.1 @opentelemetry/sdk-trace@2.12.0 @opentelemetry/exporter-trace-otlp-proto@0.223.0
cat > run.js <<'JS'
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';

for (const name of ['sdk-trace', 'exporter-trace-otlp-proto']) {
  const text = readFileSync(`node_modules/@opentelemetry/${name}/package.json`, 'utf8');
  console.log(`@opentelemetry/${name} ${JSON.parse(text).version}`);
}

let received = 0;
const receiver = createServer((request, response) => {
  request.resume().on('end', () => {
    received += 1;
    response.end();
  });
}).listen(0, '127.0.0.1');
await once(receiver, 'listening');

const exporter = new OTLPTraceExporter({ url: `http://127.0.0.1:${receiver.address().port}/v1/traces` });
const processor = new BatchSpanProcessor({
  exporter,
  maxQueueSize: 2048,
  maxExportBatchSize: 16,
  scheduledDelayMillis: 60_000,
});
const tracer = new TracerProvider({ spanProcessors: [processor] }).getTracer('example');
const SPANS = 1600;
for (let index = 0; index < SPANS; index += 1) tracer.startSpan('example').end();
// The first batch starts while the others are added.
while (received === 0) await sleep(10);
const before = received;
const queued = Math.ceil(SPANS / 16) - before;
const outcome = await processor.shutdown().then(
  () => 'resolves',
  (error) => `rejects: ${error.message}`,
);
// All requests that are under way arrive.
await sleep(2000);
console.log(`${queued} batches were in the queue; shutdown() ${outcome}; the receiver got ${received - before} of them`);
process.exit(outcome === 'resolves' || received - before === queued ? 1 : 0);
JS
node run.js
