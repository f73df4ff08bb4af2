import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { stampedText } from '../../bench/answers.ts';
import { elapsedMs, sharedNow, stampedMs, stampOf } from '../../bench/in-flight/delta-stamps.ts';
import { judgeLatency, latencyTables } from '../../bench/latency/latency-report.ts';
import { onCore, type LatencyResults, type LatencySample } from '../../bench/latency/measure-latency.ts';
import { openLoop, type OpenLoadResult, type Plan } from '../../bench/latency/open-loop.ts';

const CALLS = 10;
const MODEL_MS = 5;

let close = (): void => undefined;
afterEach(() => close());

const modelMs = (text: string): number | undefined => (text === 'right' ? MODEL_MS : undefined);

/** The calls are due one millisecond after the other, but the load generator wakes only once: after all of them are due. */
async function lateCalls(connections: number, answer: RequestListener): Promise<OpenLoadResult> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  close = () => {
    server.closeAllConnections();
    server.close();
  };
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/call/Stamped`;
  const load = { url, body: '{}', perSecond: 1000, seconds: CALLS / 1000, connections, modelMs };
  return openLoop(load, async ({ begin, everyMs, calls }: Plan, onTick) => {
    while (elapsedMs(begin + everyMs * calls, sharedNow()) < 0) await sleep(1);
    onTick();
  });
}

test('the time that a call is sent late counts, the time of the model does not', async () => {
  const { added, late, failed } = await lateCalls(CALLS, (_request, response) => response.end('right'));
  expect(failed).toBe(0);
  expect(late.every((ms, index) => ms >= CALLS - index)).toBe(true);
  expect(added.every((ms, index) => ms + MODEL_MS >= (late[index] ?? 0))).toBe(true);
});

test('a call that waits for a connection counts from the time at which it was due', async () => {
  const { added, late } = await lateCalls(1, (_request, response) => response.end('right'));
  for (let index = 1; index < CALLS; index += 1) {
    const previousEnd = (added[index - 1] ?? Number.NaN) + MODEL_MS;
    expect(late[index]).toBeGreaterThanOrEqual(previousEnd - 1 - 1e-6);
  }
});

test('wrong answers are failures, and calls without an answer count until the end', async () => {
  let requests = 0;
  const { added, failed, firstFailure } = await lateCalls(CALLS, (_request, response) => {
    requests += 1;
    if (requests === 1) response.end('wrong');
    else if (requests === 2) response.destroy();
    else if (requests > 3) response.end('right');
  });
  expect(failed).toBe(2);
  expect(firstFailure).toMatch(/\/call\/Stamped: (status 200: wrong|the connection was closed)$/);
  const ends = added.map((ms, index) => index + ms);
  const endOfLoad = Math.max(...ends);
  expect(ends.filter((end) => endOfLoad - end < 1e-6)).toHaveLength(3);
});

test('the time of the model is that between the last two stamps of an answer', () => {
  expect(stampedMs(stampedText(`${stampOf(999_990)}${stampOf(190)}`))).toBe(200);
  expect(stampedMs(stampedText(stampOf(5)))).toBeUndefined();
  expect(stampedMs('{}')).toBeUndefined();
});

const GOOD: LatencySample = { p50: 0.3, p99: 0.8, p999: 2, lateP99: 0.1, failed: 0 };

function resultsWith(p99s: readonly number[], perSecond: number): LatencyResults {
  const samples = p99s.map((p99) => ({ ...GOOD, p99 }));
  return {
    fixedRates: [
      { layout: 'shared', side: 'svc', modelMs: 0, perSecond: 3000, samples },
      { layout: 'shared', side: 'svc', modelMs: 0, perSecond: 5000, samples: [{ ...GOOD, p99: 40 }] },
      { layout: 'apart', side: 'svc', modelMs: 0, perSecond: 3000, samples: [{ ...GOOD, p99: 40 }] },
      { layout: 'shared', side: 'floor', modelMs: 0, perSecond: 3000, samples: [{ ...GOOD, p99: 40 }] },
    ],
    highestRates: [
      { side: 'svc', limitMs: 1, perSecond: 2000 },
      { side: 'svc', limitMs: 5, perSecond: 4000 },
      { side: 'svc', limitMs: 50, perSecond },
      { side: 'baml', limitMs: 50, perSecond: 1500 },
    ],
  };
}

function verdictsOf(results: LatencyResults): readonly unknown[] {
  return judgeLatency(results).map(({ measured, holds }) => [measured, holds]);
}

test('svc is judged by the median p99 at 3,000 calls per second, and by its knee', () => {
  expect(verdictsOf(resultsWith([0.8, 30, 0.9], 5000))).toEqual([
    [900, true],
    [5000, true],
  ]);
  expect(verdictsOf(resultsWith([0.8, 1.1, 1.2], 4000))).toEqual([
    [1100, false],
    [4000, false],
  ]);
  expect(judgeLatency(undefined)).toEqual([]);
});

test('the tables list every side', () => {
  expect(latencyTables(resultsWith([0.8, 30, 0.9], 5000))).toMatchInlineSnapshot(`
    "added latency  model takes  calls/s  side   p50 ms  p99 ms  p99.9 ms  sent late, p99 ms  failed  spread of p99
    shared         0 ms         3,000    svc    0.30    0.90    2.00      0.10               0.00    0.80 to 30.0
    shared         0 ms         5,000    svc    0.30    40.0    2.00      0.10               0.00    40.0 to 40.0
    apart          0 ms         3,000    svc    0.30    40.0    2.00      0.10               0.00    40.0 to 40.0
    shared         0 ms         3,000    floor  0.30    40.0    2.00      0.10               0.00    40.0 to 40.0

    highest calls/s  p99 below 1 ms  p99 below 5 ms  p99 below 50 ms
    svc              2,000           4,000           5,000
    baml             1,500"
  `);
});

const cores = availableParallelism();

test.runIf(cores > 1 && process.platform === 'linux')(
  'a case on one core leaves the cases after it all cores',
  async () => {
    await expect(onCore(0, () => Promise.resolve(availableParallelism()))).resolves.toBe(1);
    expect(availableParallelism()).toBe(cores);
  },
);
