import { expect, test } from 'vitest';
import type { CallerLimits } from '../../src/config/key-file.ts';
import {
  EarlierCalls,
  Limiter,
  type LimitReached,
  type Reservation,
  limitSetOf,
  type LimitedCall,
  type LimitSet,
} from '../../src/policy/limiter.ts';
import { LeaseSimulation } from './lease-simulation.ts';

/** The estimate for the arguments of a call. */
const TOKENS = 100;

/** A limiter with one worker, and the limits of one caller. */
function limited(limits: CallerLimits) {
  const simulation = new LeaseSimulation(1);
  const { leases } = simulation.worker(0);
  const set = limitSetOf('key:a', limits);
  if (set === undefined) throw new Error('no limits');
  const limiter = new Limiter(leases, undefined);
  const reserve = async (): Promise<Reservation | LimitReached> => {
    const call = limiter.reservation(set, { functionName: 'F' }, TOKENS);
    const reached = limiter.take(call);
    await simulation.deliverAll();
    return (await reached) ?? call;
  };
  return { limiter, reserve, set, simulation };
}

function reservation(reserved: Reservation | LimitReached): Reservation {
  if ('name' in reserved) throw new Error(`refused by ${reserved.name}`);
  return reserved;
}

test('the limit that is reached first refuses the call, and states when its window ends', async () => {
  const { reserve, simulation } = limited({ requestsPerMinute: 2, inFlight: 10 });
  for (let call = 0; call < 2; call += 1) reservation(await reserve());
  simulation.clock.now = 20_500;
  expect(await reserve()).toEqual({ name: 'requests_per_minute', retryAfterSeconds: 40 });
  simulation.clock.now = 60_000;
  reservation(await reserve());
});

test('a call that one limit refuses takes nothing of the others', async () => {
  const { limiter, reserve, set } = limited({ requestsPerMinute: 5, inFlight: 1 });
  const first = reservation(await reserve());
  expect(await reserve()).toEqual({ name: 'in_flight', retryAfterSeconds: 1 });
  expect(limiter.state(set)).toBe('"requests_per_minute";r=4;t=60, "in_flight";r=0');
  limiter.settle(first, undefined);
  expect(limiter.state(set)).toBe('"requests_per_minute";r=4;t=60, "in_flight";r=1');
});

test('tokens and cost are reserved by an estimate, and the difference is settled', async () => {
  const { limiter, reserve, set } = limited({ tokensPerMinute: 1_000, costPerDay: 1 });
  const states: string[] = [];
  for (const used of [
    // The estimate of the next calls equals the usage of this one.
    { tokens: 100, cost: 0.01 },
    { tokens: 100, cost: 0.01 },
    { tokens: undefined, cost: undefined },
    undefined,
    { tokens: 400, cost: 0.1 },
  ]) {
    const reserved = reservation(await reserve());
    limiter.settle(reserved, used);
    states.push(limiter.state(set).replaceAll(/;t=\d+/gu, ''));
  }
  expect(states).toEqual([
    '"tokens_per_minute";r=900, "cost_per_day";r=990000',
    '"tokens_per_minute";r=800, "cost_per_day";r=980000',
    // The provider reports nothing, so the estimate counts.
    '"tokens_per_minute";r=700, "cost_per_day";r=970000',
    // The call reached no model.
    '"tokens_per_minute";r=700, "cost_per_day";r=970000',
    '"tokens_per_minute";r=300, "cost_per_day";r=870000',
  ]);
});

test('a call that is larger than the limit can run when nothing else does', async () => {
  const { reserve } = limited({ tokensPerMinute: 50 });
  reservation(await reserve());
  expect(await reserve()).toMatchObject({ name: 'tokens_per_minute' });
});

test('a reservation takes no promise once the worker has units', async () => {
  const { limiter, reserve, set } = limited({ requestsPerMinute: 100_000, inFlight: 500 });
  const ended = reservation(await reserve());
  limiter.settle(ended, undefined);
  for (let call = 0; call < 10; call += 1) reservation(await reserve());
  expect(limiter.take(limiter.reservation(set, { functionName: 'F' }, TOKENS))).toBeUndefined();
});

test('a call that ends while the worker asks for units leaves none reserved', async () => {
  const { limiter, reserve, set, simulation } = limited({ tokensPerMinute: 1_000, inFlight: 1 });
  const call = limiter.reservation(set, { functionName: 'F' }, TOKENS);
  const reached = limiter.take(call);
  expect(reached).toBeInstanceOf(Promise);
  limiter.settle(call, undefined);
  await simulation.deliverAll();
  expect(await reached).toBeUndefined();
  expect(limiter.state(set).replaceAll(/;t=\d+/gu, '')).toBe('"tokens_per_minute";r=1000, "in_flight";r=1');
  reservation(await reserve());
});

test('the policy names every limit in the form of the header', () => {
  const all = { requestsPerMinute: 60, tokensPerMinute: 1_000, inFlight: 4, costPerDay: 2.5 };
  expect(limitSetOf('key:a', all)?.policy).toEqual([
    'ratelimit-policy',
    '"requests_per_minute";q=60;qu="requests";w=60, "tokens_per_minute";q=1000;qu="tokens";w=60, ' +
      '"in_flight";q=4;qu="concurrent-requests", "cost_per_day";q=2500000;qu="micro-usd";w=86400',
  ]);
  expect(limitSetOf('key:a', {})).toBeUndefined();
});

function ids(set: LimitSet | undefined): readonly string[] | undefined {
  return set?.limits.map(({ limit }) => limit.id);
}

test('each key and each address has its own limits, which a reload replaces', () => {
  const simulation = new LeaseSimulation(1);
  const { leases } = simulation.worker(0);
  const limiter = new Limiter(leases, { inFlight: 1 });
  expect(ids(limiter.setOfAddress(() => '10.0.0.1'))).toEqual(['address:10.0.0.1 in_flight']);
  const key = { name: 'a', limits: { inFlight: 2 } };
  expect(ids(limiter.setOfKey(key))).toEqual(['key:a in_flight']);
  expect(limiter.setOfKey(key)).toBe(limiter.setOfKey(key));
  expect(limiter.setOfKey({ name: 'b', limits: undefined })).toBeUndefined();
  limiter.replace(undefined);
  expect(limiter.setOfAddress(() => '10.0.0.1')).toBeUndefined();
});

test('estimates follow the calls of a function', () => {
  const earlier = new EarlierCalls();
  const estimate = (tokens: number) => ({ tokens: earlier.tokensOf(tokens), cost: earlier.cost });
  expect(estimate(0)).toEqual({ tokens: 1, cost: 0 });
  expect(estimate(100)).toEqual({ tokens: 100, cost: 0 });
  earlier.learn(100, { tokens: undefined, cost: undefined });
  earlier.learn(100, { tokens: 300, cost: 0.5 });
  expect(estimate(100)).toEqual({ tokens: 300, cost: 0.5 });
  expect(estimate(200)).toEqual({ tokens: 400, cost: 0.5 });
  for (let call = 0; call < 100; call += 1) earlier.learn(100, { tokens: 150, cost: undefined });
  expect(estimate(100)).toEqual({ tokens: 151, cost: 0.5 });
});

test('a call that used fewer tokens than its arguments have lets no others through', async () => {
  const { limiter, reserve, set, simulation } = limited({ tokensPerMinute: 100_000 });
  const large = limiter.reservation(set, { functionName: 'F' }, 90_000);
  void limiter.take(large);
  await simulation.deliverAll();
  limiter.settle(large, { tokens: 1_500, cost: undefined });
  let taken = 0;
  for (let call = 0; call < 2_000; call += 1) if (!('name' in (await reserve()))) taken += 1;
  expect(taken).toBe(985);
});

test('each caller, function and client has estimates of its own, which a reload keeps', async () => {
  const { limiter, reserve, set } = limited({ tokensPerMinute: 1_000 });
  limiter.settle(reservation(await reserve()), { tokens: 300, cost: undefined });
  const tokensOf = (of: LimitSet | undefined, call: LimitedCall) =>
    of === undefined ? undefined : limiter.reservation(of, call, TOKENS).tokens;
  expect(tokensOf(set, { functionName: 'F' })).toBe(300);
  expect(tokensOf(limitSetOf('key:a', { tokensPerMinute: 5 }), { functionName: 'F' })).toBe(300);
  expect(tokensOf(set, { functionName: 'G' })).toBe(100);
  expect(tokensOf(set, { functionName: 'F', client: 'C' })).toBe(100);
  expect(tokensOf(limitSetOf('key:b', { tokensPerMinute: 5 }), { functionName: 'F' })).toBe(100);
});

test('a call whose request brings clients or variables is estimated from earlier calls, and teaches nothing', async () => {
  const { limiter, set } = limited({ tokensPerMinute: 1_000, costPerDay: 1 });
  const own = { functionName: 'F', decidesUpstream: true };
  const ended = (call: LimitedCall, tokens: number) =>
    limiter.settle(limiter.reservation(set, call, TOKENS), { tokens, cost: tokens });
  ended(own, 1e8);
  expect(limiter.reservation(set, { functionName: 'F' }, TOKENS)).toMatchObject({ tokens: 100, cost: 0 });
  ended({ functionName: 'F' }, 150);
  expect(limiter.reservation(set, own, TOKENS).tokens).toBe(150);
});

test('one call teaches little, whatever it used, and large calls are known after a few of them', () => {
  const earlier = new EarlierCalls();
  for (let call = 0; call < 50; call += 1) earlier.learn(100, { tokens: 300, cost: 0.001 });
  earlier.learn(100, { tokens: 1e8, cost: 1e6 });
  expect(earlier.tokensOf(100)).toBeLessThan(1_400);
  expect(earlier.cost).toBeLessThan(0.2);
  // Arguments of which the prompt has little do not let the next calls through.
  for (let call = 0; call < 50; call += 1) earlier.learn(1_000_000, { tokens: 300, cost: 0.001 });
  expect(earlier.tokensOf(100)).toBeGreaterThanOrEqual(100);
  for (let call = 0; call < 12; call += 1) earlier.learn(100, { tokens: 100_000, cost: 0.1 });
  expect(earlier.tokensOf(100)).toBeGreaterThan(20_000);
});

test('a call that ended is no longer in flight, whether or not its usage is an estimate', async () => {
  const { limiter, reserve } = limited({ inFlight: 1 });
  for (const isEstimate of [true, false, true])
    limiter.settle(reservation(await reserve()), { tokens: 1, cost: undefined, isEstimate });
  expect(await reserve()).not.toHaveProperty('name');
});

test('an estimate of what a call used counts at least as much as its reservation, and teaches nothing', async () => {
  const { limiter, reserve, set } = limited({ tokensPerMinute: 1_000 });
  const states: string[] = [];
  for (const tokens of [40, 250]) {
    limiter.settle(reservation(await reserve()), { tokens, cost: undefined, isEstimate: true });
    states.push(limiter.state(set).replace(/;t=\d+/u, ''));
  }
  expect(states).toEqual(['"tokens_per_minute";r=900', '"tokens_per_minute";r=650']);
  expect(limiter.reservation(set, { functionName: 'F' }, TOKENS).tokens).toBe(100);
});

test('a cost that no integer holds uses up the limit', async () => {
  const { limiter, reserve } = limited({ costPerDay: 1 });
  limiter.settle(reservation(await reserve()), { tokens: 1, cost: 1e30 });
  expect(await reserve()).toMatchObject({ name: 'cost_per_day' });
});
