import type { Dispatcher } from 'undici';
import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../../src/runtime/clients/http/exchange-limits.ts';
import { HttpExchange } from '../../../src/runtime/clients/http/http-exchange.ts';
import { ByteBudget } from '../../../src/base/byte-budget.ts';
import type { HttpFault } from '../../../src/runtime/clients/http/http-fault.ts';

/** A network that takes connections and requests and never says anything. */
class SilentNetwork {
  handler: Dispatcher.DispatchHandler | undefined;
  readonly mayPause = true;
  readonly replies = new ByteBudget(3_000_000);

  dispatch(_options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.handler = handler;
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

function failing(limits: Partial<typeof DEFAULT_LIMITS>): Promise<{ readonly fault: HttpFault; readonly ms: number }> {
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
