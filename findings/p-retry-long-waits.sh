#!/bin/sh
# p-retry 7.1.1: a wait of more than 24.8 days becomes a wait of 1 ms. Observed on 2026-11-28.
#
# Expected: `minTimeout` accepts each finite number of milliseconds, so a wait of 30 days is a wait of 30 days, or an error that
# names the longest wait. The same holds for an exponential wait that grows beyond 24.8 days without a `maxTimeout`, which is the default.
# Observed: p-retry checks that the number is finite, and passes it to `setTimeout`, which takes 31 bits. All retries follow
# within milliseconds: the longer the wait that was asked for, the shorter the wait. Node prints a TimeoutOverflowWarning.
#
# Exits with 1 if p-retry no longer behaves so.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "type": "module", "private": true }' > package.json
npm install --silent --no-audit --no-fund --ignore-scripts p-retry@7.1.1
cat > run.js <<'JS'
import { readFileSync } from 'node:fs';
import pRetry from 'p-retry';

const { version } = JSON.parse(readFileSync('node_modules/p-retry/package.json', 'utf8'));
console.log(`p-retry ${version}, Node ${process.version}`);

const THIRTY_DAYS_MS = 30 * 24 * 3_600_000;
let attempts = 0;
const call = () => {
  attempts += 1;
  if (attempts <= 3) throw new Error('not yet');
};
const late = setTimeout(() => {
  console.log(`after 10 s, p-retry made ${attempts} attempts: changed`);
  process.exit(1);
}, 10_000);
await pRetry(call, { retries: 3, minTimeout: THIRTY_DAYS_MS, factor: 1 });
clearTimeout(late);
console.log(`waits of ${THIRTY_DAYS_MS} ms: ${attempts} attempts within 10 s`);
JS
node run.js
