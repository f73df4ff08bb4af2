import type { Dispatcher } from 'undici';
import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../../src/runtime/clients/http/exchange-limits.ts';
import { HttpExchange } from '../../../src/runtime/clients/http/http-exchange.ts';
import type { HttpFault } from '../../../src/runtime/clients/http/http-fault.ts';

/** A network that takes connections and requests and never says anything. */
class SilentNetwork {
  handler: Dispatcher.DispatchHandler | undefined;
  readonly mayPause = true;

  dispatch(_options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.handler = handler;
  }

  connected(): void {}

  gaveUp(): void {}

  responseEnded(): void {}
}

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
    aborted: false,
    paused: false,
    reason: null,
    abort: () => {
      aborted += 1;
    },
    pause: () => {},
    resume: () => {},
  };
  network.handler?.onRequestStart?.(controller, {});
  expect(aborted).toBe(1);
  expect(told).toEqual([]);
});
