import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NO_WINDOW } from '../../src/policy/leases.ts';
import { DAY_MS, MemoryLedger, type Limit } from '../../src/policy/ledger.ts';
import { assertAsyncProperty } from '../support/assert-property.ts';
import { LeaseSimulation, SimulatedRequest, type SimulatedWorker } from './lease-simulation.ts';

const MINUTE = 60_000;

function perMinute(units: number): Limit {
  return { id: 'key:a requests_per_minute', units, windowMs: MINUTE };
}

function inFlight(units: number): Limit {
  return { id: 'key:a in_flight', units, windowMs: undefined };
}

const STEP = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('spend'), worker: fc.nat(), units: fc.integer({ min: 1, max: 40 }) }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('deliver'), worker: fc.nat(), units: fc.nat(1) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('wait'), worker: fc.nat(), units: fc.integer({ min: 1, max: 20_000 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('sweep'), worker: fc.nat(), units: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('release'), worker: fc.nat(), units: fc.nat() }) },
);

test('whatever the order of messages, the workers never spend more than the limit in a window', async () => {
  await assertAsyncProperty(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 1, max: 3_000 }),
      fc.array(STEP, { maxLength: 150 }),
      async (workers, units, steps) => {
        const simulation = new LeaseSimulation(workers);
        const limit = perMinute(units);
        const spent = new Map<number, number>();
        const done: Array<{ worker: SimulatedWorker; window: number; units: number }> = [];
        const late: number[] = [];
        for (const step of steps) {
          const worker = simulation.worker(step.worker);
          if (step.kind === 'spend') {
            void new SimulatedRequest(worker, limit, {
              units: step.units,
              spent: (window) => {
                const sum = (spent.get(window) ?? 0) + step.units;
                spent.set(window, sum);
                done.push({ worker, window, units: step.units });
                if (simulation.clock.now >= (simulation.ends.get(window) ?? 0)) late.push(window);
              },
            });
          } else if (step.kind === 'deliver') {
            await simulation.deliver(step.units === 0 ? worker.toDesk : worker.toWorker);
          } else if (step.kind === 'wait') simulation.clock.now += step.units;
          else if (step.kind === 'sweep') worker.leases.sweep();
          else {
            const last = done.pop();
            if (last === undefined) continue;
            last.worker.leases.release(limit, last.units, last.window);
            spent.set(last.window, (spent.get(last.window) ?? 0) - last.units);
          }
        }
        await simulation.deliverAll();
        expect(late).toEqual([]);
        for (const sum of spent.values()) expect(sum).toBeLessThanOrEqual(units);
      },
    ),
  );
});

test('while every worker has demand, they use all of the limit in each window', async () => {
  await assertAsyncProperty(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 1, max: 2_000 }),
      fc.array(fc.nat(), { minLength: 1, maxLength: 20 }),
      async (workers, units, order) => {
        const simulation = new LeaseSimulation(workers);
        const limit = perMinute(units);
        const spent: number[] = [];
        for (let window = 0; window < 2; window += 1) {
          let granted = 0;
          for (let step = 0, refused = 0; refused < workers; step += 1) {
            const request = new SimulatedRequest(simulation.worker(order[step % order.length] ?? 0), limit);
            await simulation.deliverAll();
            simulation.clock.now += 1;
            granted += request.state === 'spent' ? 1 : 0;
            refused += request.state === 'refused' ? 1 : 0;
          }
          spent.push(granted);
          simulation.clock.now += MINUTE;
        }
        expect(Math.min(...spent)).toBeGreaterThanOrEqual(Math.floor(units * 0.98));
        expect(Math.max(...spent)).toBeLessThanOrEqual(units);
      },
    ),
    { numRuns: 30 },
  );
});

test('slots of calls in flight never exceed the limit, and all of them can be used wherever they became free', async () => {
  await assertAsyncProperty(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: 1, max: 30 }),
      fc.array(fc.record({ worker: fc.nat(), ends: fc.boolean(), wait: fc.nat(100) }), { maxLength: 120 }),
      async (workers, units, steps) => {
        const simulation = new LeaseSimulation(workers);
        const limit = inFlight(units);
        const running: Array<{ worker: SimulatedWorker; request: SimulatedRequest }> = [];
        for (const { worker: index, ends, wait } of steps) {
          const worker = simulation.worker(index);
          simulation.clock.now += wait;
          if (ends) {
            const [ended] = running.splice(index % (running.length + 1), 1);
            ended?.worker.leases.release(limit, 1, ended.request.window);
          } else {
            const request = new SimulatedRequest(worker, limit);
            await simulation.deliverAll();
            if (request.state === 'spent') running.push({ worker, request });
          }
          expect(running.length).toBeLessThanOrEqual(units);
        }
        // After the refusals that workers remember, every free slot is reachable from any worker.
        simulation.clock.now += 1_000;
        for (let free = units - running.length; free > 0; free -= 1) {
          const request = new SimulatedRequest(simulation.worker(0), limit);
          await simulation.deliverAll();
          expect(request.state).toBe('spent');
        }
      },
    ),
  );
});

test('a lease is spent without a message, and its size follows the demand', async () => {
  const simulation = new LeaseSimulation(1);
  const worker = simulation.worker(0);
  const limit = perMinute(60_000);
  for (let call = 0; call < 10_000; call += 1) {
    const request = new SimulatedRequest(worker, limit);
    if (request.state === 'waiting') await simulation.deliverAll();
    expect(request.state).toBe('spent');
    simulation.clock.now += 1;
  }
  // 10,000 calls in 10 s: a lease holds at most 0.5 % of the limit, so 300, and each takes a question and an answer.
  expect(simulation.messages).toBeLessThan(100);
});

test('a request that is refused leaves all units to smaller ones, of its own worker and of others', async () => {
  const simulation = new LeaseSimulation(2);
  const [first, second] = [simulation.worker(0), simulation.worker(1)];
  const limit = perMinute(100);
  const states: string[] = [];
  for (const [worker, units] of [
    [first, 10],
    [first, 95],
    [first, 95],
    [first, 30],
    [second, 30],
    [second, 31],
    [first, 30],
  ] as const) {
    const request = new SimulatedRequest(worker, limit, { units });
    await simulation.deliverAll();
    states.push(`${units} ${request.state}`);
  }
  expect(states.slice(0, 4)).toEqual(['10 spent', '95 refused', '95 refused', '30 spent']);
  expect(states.slice(4)).toEqual(['30 spent', '31 refused', '30 spent']);
});

test('of requests that wait together, those for which the units suffice are served', async () => {
  const simulation = new LeaseSimulation(1);
  const limit = perMinute(100);
  const requests = [40, 200, 40, 90, 15].map((units) => new SimulatedRequest(simulation.worker(0), limit, { units }));
  await simulation.deliverAll();
  expect(requests.map(({ state }) => state)).toEqual(['spent', 'refused', 'spent', 'refused', 'spent']);
  expect(simulation.messages).toBeLessThanOrEqual(10);
});

test('a lease of one of several machines keeps no more than a small part of the limit', async () => {
  const ledger = new MemoryLedger({ elapsedMs: () => 0, utcMs: () => 0 });
  const simulation = new LeaseSimulation(1, ledger, true);
  const { leases } = simulation.worker(0);
  const limit = perMinute(1_000);
  const large = new SimulatedRequest(simulation.worker(0), limit, { units: 1_000 });
  await simulation.deliverAll();
  leases.release(limit, 990, large.window);
  await simulation.deliverAll();
  expect(await ledger.take(limit, 0)).toMatchObject({ remaining: 990 });
  leases.release(limit, 4, large.window);
  await simulation.deliverAll();
  expect(await ledger.take(limit, 0)).toMatchObject({ remaining: 990 });
  expect(new SimulatedRequest(simulation.worker(0), limit, { units: 4 }).state).toBe('spent');
});

test('a worker that is refused asks again after 50 ms, not for each request', async () => {
  const simulation = new LeaseSimulation(2);
  const worker = simulation.worker(0);
  const limit = perMinute(1);
  for (let call = 0; call < 500; call += 1) {
    void new SimulatedRequest(worker, limit);
    await simulation.deliverAll();
    simulation.clock.now += 1;
  }
  expect(simulation.messages).toBeLessThanOrEqual(2 * (500 / 50 + 2));
});

test('unused units go back after a second, and after the window the worker remembers nothing', async () => {
  const simulation = new LeaseSimulation(2);
  const first = simulation.worker(0);
  const limit = inFlight(4);
  const request = new SimulatedRequest(first, limit);
  await simulation.deliverAll();
  first.leases.release(limit, 1, request.window);
  first.leases.sweep();
  first.leases.sweep();
  await simulation.deliverAll();
  expect(first.leases.size).toBe(0);
  const windowed = perMinute(10);
  void new SimulatedRequest(first, windowed);
  await simulation.deliverAll();
  simulation.clock.now += MINUTE;
  first.leases.sweep();
  expect(first.leases.size).toBe(0);
});

test('the state of a limit does not count the units that workers hold in reserve', async () => {
  const simulation = new LeaseSimulation(2);
  const limit = inFlight(4);
  const running = simulation.worker(0).leases.spend(limit, 1);
  const ended = simulation.worker(1).leases.spend(limit, 1);
  await simulation.deliverAll();
  expect(await running).not.toBe(NO_WINDOW);
  simulation.worker(1).leases.release(limit, 1, await ended);
  for (let report = 0; report < 2; report += 1) {
    const state = simulation.desk.stateOf(limit);
    await simulation.deliverAll();
    expect(await state).toMatchObject({ granted: 0, remaining: 3 });
  }
});

test('the calls in flight of a worker that dies are free for the others', async () => {
  const simulation = new LeaseSimulation(2);
  const [first, second] = [simulation.worker(0), simulation.worker(1)];
  const limit = inFlight(3);
  for (let call = 0; call < 3; call += 1) void new SimulatedRequest(first, limit);
  await simulation.deliverAll();
  const refused = new SimulatedRequest(second, limit);
  await simulation.deliverAll();
  expect(refused.state).toBe('refused');
  simulation.kill(first);
  simulation.clock.now += 50;
  const requests = [1, 2, 3].map(() => new SimulatedRequest(second, limit));
  await simulation.deliverAll();
  expect(requests.map(({ state }) => state)).toEqual(['spent', 'spent', 'spent']);
});

test('a worker that dies during a recall holds up no one', async () => {
  const simulation = new LeaseSimulation(2);
  const [first, second] = [simulation.worker(0), simulation.worker(1)];
  const limit = inFlight(1);
  void new SimulatedRequest(first, limit);
  await simulation.deliverAll();
  const request = new SimulatedRequest(second, limit);
  await simulation.deliver(second.toDesk);
  expect(first.toWorker).toHaveLength(1);
  simulation.kill(first);
  await simulation.deliverAll();
  expect(request.state).toBe('spent');
});

test('units that a call used beyond its estimate are missing afterwards', async () => {
  const simulation = new LeaseSimulation(1);
  const worker = simulation.worker(0);
  const limit = { ...perMinute(100), id: 'key:a tokens_per_minute' };
  const request = new SimulatedRequest(worker, limit, { units: 40 });
  await simulation.deliverAll();
  expect(request.state).toBe('spent');
  worker.leases.charge(limit, 50);
  const next = new SimulatedRequest(worker, limit, { units: 20 });
  await simulation.deliverAll();
  expect(next.state).toBe('refused');
  expect(worker.leases.stateOf(limit)).toEqual({ remaining: 10, resetMs: MINUTE });
});

test('before the first call of a window, a limit per day resets at midnight UTC, and any other after a whole window', () => {
  const simulation = new LeaseSimulation(1);
  simulation.clock.now = 5 * DAY_MS + 1_000;
  const { leases } = simulation.worker(0);
  const daily = { id: 'key:a cost_per_day', units: 7, windowMs: DAY_MS };
  expect(leases.stateOf(daily)).toEqual({ remaining: 7, resetMs: DAY_MS - 1_000 });
  expect(leases.stateOf(perMinute(9))).toEqual({ remaining: 9, resetMs: MINUTE });
});

test('while the primary does not answer, each worker keeps to its share of the limit', async () => {
  const down = { take: () => Promise.reject(new Error('down')), give: () => undefined };
  const simulation = new LeaseSimulation(4, down);
  const limit = perMinute(8);
  const requests = simulation.workers.flatMap((worker) => [1, 2, 3, 4].map(() => new SimulatedRequest(worker, limit)));
  await simulation.deliverAll();
  expect(requests.filter(({ state }) => state === 'spent')).toHaveLength(8);
  expect(simulation.failures).toHaveLength(4);
});
