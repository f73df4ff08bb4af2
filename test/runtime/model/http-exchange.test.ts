import type { Dispatcher } from 'undici';
import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../../src/runtime/model/http/exchange-clock.ts';
import { HttpExchange } from '../../../src/runtime/model/http/http-exchange.ts';
import { sleep } from '../../support/fake-provider.ts';
import { ByteBudget } from '../../../src/base/byte-budget.ts';
import type { UpstreamFailure } from '../../../src/runtime/model/http/upstream-failure.ts';

/** A network that takes connections and requests and never says anything. */
class SilentNetwork {
  handler: Dispatcher.DispatchHandler | undefined;
  requests = 0;
  readonly mayPause = true;
  readonly replies = new ByteBudget(3_000_000);

  dispatch(_options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.handler = handler;
    this.requests += 1;
  }

  connected(): void {}

  gaveUp(): void {}

  responseEnded(): void {}
}

const CONTROLLER = {
  aborted: false,
  paused: false,
  reason: null,
  abort: () => {},
  pause: () => {},
  resume: () => {},
};

const CALL = { path: '/', headers: [], body: '{}' };

function failing(
  limits: Partial<typeof DEFAULT_LIMITS>,
): Promise<{ readonly fault: UpstreamFailure; readonly ms: number }> {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    const exchange = new HttpExchange(
      {
        upstream: new SilentNetwork(),
        call: CALL,
        limits: { ...DEFAULT_LIMITS, ...limits },
        deadlineAt: startedAt + 60_000,
        streamed: false,
      },
      {
        accepted: () => {},
        data: () => {},
        ended: () => {},
        failed: (fault) => resolve({ fault, ms: performance.now() - startedAt }),
      },
    );
    exchange.start();
  });
}

test('a host that takes no connection ends with the connect timer', async () => {
  const { fault, ms } = await failing({ connectMs: 60 });
  expect(fault).toMatchObject({ kind: 'timeout', timer: 'connect' });
  expect(ms).toBeGreaterThanOrEqual(60);
});

test('a limit of 0 is none', async () => {
  const { fault } = await failing({ connectMs: 0, requestMs: 80 });
  expect(fault).toMatchObject({ kind: 'timeout', timer: 'request' });
});

test('a cancelled exchange that gets its connection afterwards gives it up at once', () => {
  const network = new SilentNetwork();
  const told: string[] = [];
  const exchange = new HttpExchange(
    { upstream: network, call: CALL, limits: DEFAULT_LIMITS, deadlineAt: performance.now() + 1000, streamed: false },
    {
      accepted: () => told.push('accepted'),
      data: () => told.push('data'),
      ended: () => told.push('ended'),
      failed: () => told.push('failed'),
    },
  );
  exchange.start();
  exchange.cancel();
  let aborted = 0;
  const controller = {
    ...CONTROLLER,
    abort: () => {
      aborted += 1;
    },
  };
  network.handler?.onRequestStart?.(controller, {});
  expect(aborted).toBe(1);
  expect(told).toEqual([]);
});

/** Begins an exchange, and sends it so many bytes of a reply. */
function receiving(network: SilentNetwork, bytes: number): { readonly told: readonly string[]; end(): void } {
  const told: string[] = [];
  const exchange = new HttpExchange(
    { upstream: network, call: CALL, limits: DEFAULT_LIMITS, deadlineAt: performance.now() + 60_000, streamed: false },
    {
      accepted: () => {},
      data: (chunk) => told.push(String(chunk.length)),
      ended: () => told.push('ended'),
      failed: (fault) => told.push('message' in fault ? fault.message : fault.kind),
    },
  );
  exchange.start();
  const { handler } = network;
  handler?.onRequestStart?.(CONTROLLER, {});
  handler?.onResponseStart?.(CONTROLLER, 200, {});
  for (let left = bytes; left > 0; left -= 500_000) handler?.onResponseData?.(CONTROLLER, Buffer.alloc(500_000));
  return { told, end: () => handler?.onResponseEnd?.(CONTROLLER, {}) };
}

test('large replies share their room; small ones are not counted, and what ended gives its room back', () => {
  const network = new SilentNetwork();
  const first = receiving(network, 3_500_000);
  const second = receiving(network, 3_500_000);
  const small = receiving(network, 1_000_000);
  const full = 'sent a large reply while there was no room for more of them';
  expect(first.told).toHaveLength(7);
  expect(second.told.at(-1)).toBe(full);
  expect(small.told).toEqual(['500000', '500000']);
  first.end();
  small.end();
  expect(first.told.at(-1)).toBe('ended');
  const third = receiving(network, 3_500_000);
  expect(third.told).toHaveLength(7);
  expect(third.told).not.toContain(full);
  third.end();
});

/** The end of a connection that was used before. */
const ENDED_AFTER_USE = Object.assign(new Error('reset'), { code: 'ECONNRESET', socket: { bytesRead: 100 } });

/** An exchange that is told of the network by hand; `told` says how it ended. */
function byHand(limits: Partial<typeof DEFAULT_LIMITS> = {}): {
  readonly network: SilentNetwork;
  readonly exchange: HttpExchange;
  readonly told: readonly UpstreamFailure[];
} {
  const network = new SilentNetwork();
  const told: UpstreamFailure[] = [];
  const exchange = new HttpExchange(
    {
      upstream: network,
      call: CALL,
      limits: { ...DEFAULT_LIMITS, ...limits },
      deadlineAt: performance.now() + 60_000,
      streamed: false,
    },
    { accepted: () => {}, data: () => {}, ended: () => {}, failed: (fault) => told.push(fault) },
  );
  exchange.start();
  return { network, exchange, told };
}

test('a request on a kept connection that ends at once is sent again, twice at most', async () => {
  const { network, told } = byHand();
  for (let sent = 1; sent <= 3; sent += 1) {
    expect(network.requests).toBe(sent);
    network.handler?.onRequestStart?.(CONTROLLER, {});
    network.handler?.onResponseError?.(CONTROLLER, ENDED_AFTER_USE);
    await sleep(5);
  }
  expect(network.requests).toBe(3);
  expect(told).toMatchObject([{ kind: 'network' }]);
});

test('a request is not sent again when the connection ends after a while: it was taken', async () => {
  const { network, told } = byHand();
  network.handler?.onRequestStart?.(CONTROLLER, {});
  await sleep(120);
  network.handler?.onResponseError?.(CONTROLLER, ENDED_AFTER_USE);
  await sleep(5);
  expect(network.requests).toBe(1);
  expect(told).toMatchObject([{ kind: 'network' }]);
});

test('a request is not sent again when an interim answer came: it was taken', async () => {
  const { network, told } = byHand();
  network.handler?.onRequestStart?.(CONTROLLER, {});
  network.handler?.onResponseStart?.(CONTROLLER, 103, {});
  network.handler?.onResponseError?.(CONTROLLER, ENDED_AFTER_USE);
  await sleep(5);
  expect(network.requests).toBe(1);
  expect(told).toMatchObject([{ kind: 'network' }]);
});

test('a request that nobody waits for any more is not sent again', async () => {
  const { network, exchange, told } = byHand();
  network.handler?.onRequestStart?.(CONTROLLER, {});
  network.handler?.onResponseError?.(CONTROLLER, ENDED_AFTER_USE);
  exchange.cancel();
  await sleep(5);
  expect(network.requests).toBe(1);
  expect(told).toEqual([]);
});

test('the connect limit begins anew when a request is sent again', async () => {
  const { network, told } = byHand({ connectMs: 80 });
  await sleep(50);
  network.handler?.onRequestStart?.(CONTROLLER, {});
  network.handler?.onResponseError?.(CONTROLLER, ENDED_AFTER_USE);
  await sleep(50);
  expect(told).toEqual([]);
  await sleep(60);
  expect(told).toMatchObject([{ kind: 'timeout', timer: 'connect' }]);
});

test.each<[number, Partial<typeof DEFAULT_LIMITS>, object]>([
  [503, { idleMs: 40 }, { kind: 'status', status: 503, body: 'busy', retryAfterMs: 2000 }],
  [503, { requestMs: 40 }, { kind: 'status', status: 503, body: 'busy', retryAfterMs: 2000 }],
  [307, { idleMs: 40 }, { kind: 'unusable', status: 307 }],
])('the status %d of an answer that stalls in its body is told', async (code, limits, fault) => {
  const { network, told } = byHand(limits);
  network.handler?.onRequestStart?.(CONTROLLER, {});
  network.handler?.onResponseStart?.(CONTROLLER, code, { 'retry-after': '2' });
  network.handler?.onResponseData?.(CONTROLLER, Buffer.from('busy'));
  await sleep(80);
  expect(told).toMatchObject([fault]);
});
