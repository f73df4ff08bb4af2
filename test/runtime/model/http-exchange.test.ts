import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DEFAULT_LIMITS } from '../../../src/runtime/model/http/exchange-clock.ts';
import { HttpExchange } from '../../../src/runtime/model/http/http-exchange.ts';
import type { UpstreamFailure } from '../../../src/runtime/model/http/origin-pool.ts';
import { FedPools } from '../../support/fed-pools.ts';

const CALL = { path: '/', headers: [], body: '{}' };
const DESTINATION = { origin: 'http://tested.example', guard: 'none' } as const;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  vi.advanceTimersByTime(1000);
});
afterEach(() => {
  vi.useRealTimers();
});

interface Fed {
  readonly pools: FedPools;
  readonly exchange: HttpExchange;
  readonly failures: readonly UpstreamFailure[];
  /** The events that the listener received: sizes of chunks, `ended`, or the kind of the failure. */
  readonly received: readonly string[];
}

/** An exchange whose response the test feeds. */
function fed(limits: Partial<typeof DEFAULT_LIMITS> = {}, pools = new FedPools()): Fed {
  const failures: UpstreamFailure[] = [];
  const received: string[] = [];
  const exchange = new HttpExchange(
    {
      pools,
      destination: DESTINATION,
      call: CALL,
      limits: { ...DEFAULT_LIMITS, ...limits },
      deadlineAt: performance.now() + 3_600_000,
      streamed: false,
    },
    {
      accepted: () => {},
      data: (chunk) => received.push(String(chunk.length)),
      ended: () => received.push('ended'),
      failed: (failure) => {
        failures.push(failure);
        received.push(failure.kind);
      },
    },
  );
  exchange.start();
  return { pools, exchange, failures, received };
}

test('the connect timer ends a request to a host that accepts no connection', async () => {
  const { failures, pools } = fed({ connectMs: 60 });
  await vi.advanceTimersByTimeAsync(59);
  expect(failures).toEqual([]);
  await vi.advanceTimersByTimeAsync(2);
  expect(failures).toMatchObject([{ kind: 'timeout', timer: 'connect', afterMs: 61 }]);
  expect(pools.log).toEqual(['send /', 'cancel']);
});

test('a limit of 0 is no limit', async () => {
  const { failures } = fed({ connectMs: 0, requestMs: 20_000 });
  await vi.advanceTimersByTimeAsync(20_001);
  expect(failures).toMatchObject([{ kind: 'timeout', timer: 'request' }]);
});

test('the connect limit starts again when a request is sent again', async () => {
  const { pools, failures } = fed({ connectMs: 80 });
  await vi.advanceTimersByTimeAsync(50);
  pools.listener?.onSent();
  pools.listener?.onResend();
  await vi.advanceTimersByTimeAsync(79);
  expect(failures).toEqual([]);
  await vi.advanceTimersByTimeAsync(2);
  expect(failures).toMatchObject([{ kind: 'timeout', timer: 'connect' }]);
});

test('silence counts from the last chunk, and not while reading is paused', async () => {
  const { pools, exchange, failures } = fed({ idleMs: 100 });
  pools.listener?.onSent();
  pools.listener?.onHeaders(200, {});
  await vi.advanceTimersByTimeAsync(90);
  pools.listener?.onData(Buffer.from('a'));
  await vi.advanceTimersByTimeAsync(90);
  exchange.pause();
  await vi.advanceTimersByTimeAsync(1000);
  expect(failures).toEqual([]);
  exchange.resume();
  await vi.advanceTimersByTimeAsync(202);
  expect(failures).toMatchObject([{ kind: 'timeout', timer: 'idle' }]);
  expect(pools.log).toEqual(['send /', 'pause', 'resume', 'cancel']);
});

test('a cancelled exchange gives up its request, and its listener receives no further events', () => {
  const { pools, exchange, received } = fed();
  exchange.cancel();
  expect(pools.log).toEqual(['send /', 'cancel']);
  expect(received).toEqual([]);
});

test('a finished exchange leaves the rest of the response to the connection', () => {
  const { pools, exchange, received } = fed();
  pools.listener?.onSent();
  pools.listener?.onHeaders(200, {});
  exchange.finish();
  exchange.cancel();
  expect(pools.log.slice(0, 2)).toEqual(['send /', 'finish']);
  expect(received).toEqual([]);
});

/** Feeds this many bytes of a reply. */
function receiving(pools: FedPools, bytes: number): Fed & { end(): void } {
  const exchange = fed({}, pools);
  const { listener } = pools;
  listener?.onSent();
  listener?.onHeaders(200, {});
  for (let left = bytes; left > 0 && exchange.received.at(-1) !== 'cut'; left -= 500_000)
    listener?.onData(Buffer.alloc(Math.min(left, 500_000)));
  return { ...exchange, end: () => listener?.onEnd() };
}

test('replies share a budget, except for their first 64 KiB, and hold it until they are used', () => {
  const pools = new FedPools();
  const first = receiving(pools, 2_500_000);
  const small = Array.from({ length: 100 }, () => receiving(pools, 65_536));
  expect(pools.replies.held).toBe(2_500_000 - 65_536);
  const second = receiving(pools, 1_000_000);
  expect(second.failures).toEqual([
    {
      kind: 'cut',
      message: 'sent a reply for which this server has no memory left: it holds at most 2.9 MiB of replies at once',
    },
  ]);
  first.end();
  expect([first.received.at(-1), pools.replies.held]).toEqual(['ended', 2_500_000 - 65_536]);
  first.exchange.release();
  expect(pools.replies.held).toBe(0);
  expect(receiving(pools, 2_500_000).failures).toEqual([]);
  expect(small.flatMap(({ failures }) => failures)).toEqual([]);
});

test('a reply that fails or is cancelled returns its bytes', () => {
  const pools = new FedPools();
  const cut = receiving(pools, 1_000_000);
  pools.listener?.onFailure({ kind: 'cut', message: 'broke off' });
  expect([cut.failures.length, pools.replies.held]).toEqual([1, 0]);
  receiving(pools, 1_000_000).exchange.cancel();
  expect(pools.replies.held).toBe(0);
});

test('of a stream, only what its reader keeps counts', () => {
  const pools = new FedPools();
  const { exchange, failures } = fed({}, pools);
  const { listener } = pools;
  listener?.onSent();
  listener?.onHeaders(200, {});
  for (let read = 0; read < 50; read += 1) {
    listener?.onData(Buffer.alloc(500_000));
    exchange.keeps(read * 1_000);
  }
  expect([failures.length, pools.replies.held]).toEqual([0, 0]);
  exchange.keeps(265_536);
  expect(pools.replies.held).toBe(200_000);
});

test.each<[number, Partial<typeof DEFAULT_LIMITS>, object]>([
  [503, { idleMs: 40 }, { kind: 'status', status: 503, body: 'busy', retryAfterMs: 2000 }],
  [503, { requestMs: 40 }, { kind: 'status', status: 503, body: 'busy', retryAfterMs: 2000 }],
  [307, { idleMs: 40 }, { kind: 'unusable', status: 307 }],
])('the status %d of an answer that stalls in its body is reported', async (code, limits, failure) => {
  const { pools, failures } = fed(limits);
  pools.listener?.onSent();
  pools.listener?.onHeaders(code, { 'retry-after': '2' });
  pools.listener?.onData(Buffer.from('busy'));
  await vi.advanceTimersByTimeAsync(80);
  expect(failures).toMatchObject([failure]);
});

test('the status of an answer whose body is cut is reported', () => {
  const { pools, failures } = fed();
  pools.listener?.onSent();
  pools.listener?.onHeaders(503, {});
  pools.listener?.onFailure({ kind: 'cut', message: 'broke off' });
  expect(failures).toMatchObject([{ kind: 'status', status: 503, body: '' }]);
});
