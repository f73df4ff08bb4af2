import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { ClosedLoop } from './in-flight/closed-loop.ts';
import { quantile, REQUEST_TIMEOUT_SECONDS, type Load, type LoadResult } from './load.ts';

/** Milliseconds between two looks at the number of answers. */
const CHECK_MS = 5;

/**
 * POSTs at least `requests` calls, `connections` at a time (closed loop). Opens another connection after `Connection: close`, which a
 * worker of svc sends when it hands connections over: autocannon would write its next request to the old connection, and lose it.
 */
export async function callLoad({ url, connections, requests }: Load): Promise<LoadResult> {
  const { port, pathname: path } = new URL(url);
  const begin = performance.now();
  const inFlight = Math.min(connections, requests);
  const loop = new ClosedLoop({ port: Number(port), path, inFlight, rampMs: 0, isRight: () => true });
  const { answered } = loop;
  let last = { answers: 0, at: begin };
  while (answered.length < requests && loop.failed === 0) {
    await sleep(CHECK_MS);
    const now = performance.now();
    if (answered.length > last.answers) last = { answers: answered.length, at: now };
    else if (now - last.at > REQUEST_TIMEOUT_SECONDS * 1000) throw new Error(`${url}: no answer`);
  }
  await loop.stop();
  if (loop.failed > 0) throw new Error(`${loop.failed} requests failed, the first: ${loop.firstFailure}`);
  const times = answered.map((call) => call.end - call.begin);
  const seconds = (performance.now() - begin) / 1000;
  return { requests: times.length, seconds, p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}
