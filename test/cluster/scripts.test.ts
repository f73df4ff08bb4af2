import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { storeAddress } from '../../src/config/store-address.ts';
import { silentLogger } from '../../src/logging/logger.ts';
import type { OwnClaim } from '../../src/policy/answer-store.ts';
import type { CoolDownChange } from '../../src/policy/cool-downs.ts';
import { DAY_MS, type Limit } from '../../src/policy/ledger.ts';
import { MemoryAnswers } from '../../src/policy/memory-answers.ts';
import { RedisClient } from '../../src/policy/store/redis-client.ts';
import { STORE_SCRIPTS, Store } from '../../src/policy/store/store.ts';
import { StoreAnswers } from '../../src/policy/store/store-answers.ts';
import { StoreCoolDowns } from '../../src/policy/shared-cool-downs.ts';
import { StoreLedger } from '../../src/policy/store/store-ledger.ts';
import { StoreTurns } from '../../src/policy/turns.ts';
import { waitUntil } from '../support/load.ts';
import { RedisServer } from './support/redis-server.ts';

const PER_MINUTE: Limit = { id: 'key:a requests_per_minute', units: 1_000, windowMs: 60_000 };
const IN_FLIGHT: Limit = { id: 'key:a in_flight', units: 10, windowMs: undefined };

/** The primary of one machine, without its workers. */
interface Machine {
  readonly store: Store;
  readonly ledger: StoreLedger;
  readonly answers: StoreAnswers;
  readonly turns: StoreTurns;
  readonly coolDowns: StoreCoolDowns;
}

let redis: RedisServer;
const machines: Machine[] = [];

beforeAll(async () => {
  redis = await RedisServer.start();
});

afterEach(async () => {
  for (const { ledger, store } of machines.splice(0)) {
    await ledger.close();
    await store.close();
  }
  redis.command('flushall');
});

afterAll(() => redis.kill());

async function machine(url = redis.url): Promise<Machine> {
  const address = storeAddress(url);
  if (!address.ok) throw new Error(address.failure);
  const store = new Store(new RedisClient(address.value), {
    prefix: 'svc',
    logger: silentLogger,
    observe: () => undefined,
  });
  const answers = new StoreAnswers(store, new MemoryAnswers({ maxBytes: 2 ** 24 }));
  const coolDowns = new StoreCoolDowns(store);
  const created = { store, ledger: new StoreLedger(store), answers, turns: new StoreTurns(store), coolDowns };
  machines.push(created);
  await waitUntil('the store to be up', () => store.up);
  return created;
}

async function owned({ answers }: Machine, key: string): Promise<OwnClaim> {
  const claim = await answers.claim(key, 10_000);
  if (claim.kind !== 'mine') throw new Error(`the claim is ${claim.kind}`);
  return claim;
}

test('four takers on two machines get exactly the units of a limit', async () => {
  const both = [await machine(), await machine()];
  const takers = [...both, ...both].map(async ({ ledger }) => {
    let sum = 0;
    for (let granted = 7; granted > 0; sum += granted) ({ granted } = await ledger.take(PER_MINUTE, 7));
    return sum;
  });
  const sums = await Promise.all(takers);
  expect(sums.reduce((sum, each) => sum + each, 0)).toBe(1_000);
});

test('a window has one number and one end on all machines; units return only to it', async () => {
  const [one, two] = [await machine(), await machine()];
  const first = await one.ledger.take(PER_MINUTE, 400);
  expect(first).toMatchObject({ granted: 400, remaining: 600 });
  expect(first.resetMs).toBeGreaterThan(0);
  expect(first.resetMs).toBeLessThanOrEqual(60_000);
  const second = await two.ledger.take(PER_MINUTE, 0);
  expect(second).toMatchObject({ granted: 0, remaining: 600, window: first.window });
  one.ledger.give(PER_MINUTE, 100, first.window);
  two.ledger.give(PER_MINUTE, 100, first.window - 1);
  // Used beyond the estimate: the next question reports it.
  two.ledger.give(PER_MINUTE, -50, first.window);
  await expect.poll(async () => (await two.ledger.take(PER_MINUTE, 0)).remaining).toBe(650);
  redis.command('del', 'svc:units:{key:a requests_per_minute}');
  const third = await one.ledger.take(PER_MINUTE, 1);
  expect(third.window).toBeGreaterThan(first.window);
});

test('a day ends at midnight UTC', async () => {
  const { ledger } = await machine();
  const daily = { ...PER_MINUTE, windowMs: DAY_MS };
  const before = Date.now();
  const { window, resetMs } = await ledger.take(daily, 1);
  const after = Date.now();
  // The store rounds its time to milliseconds.
  const takenAt = (window + 1) * DAY_MS - resetMs;
  expect(takenAt).toBeGreaterThanOrEqual(before - 1);
  expect(takenAt).toBeLessThanOrEqual(after + 1);
  expect(Math.floor(takenAt / DAY_MS)).toBe(window);
});

test('units that a dead machine held are free after their lifetime', async () => {
  const [one, two] = [await machine(), await machine()];
  expect(await one.ledger.take(IN_FLIGHT, 8)).toMatchObject({ granted: 8, remaining: 2 });
  expect(await two.ledger.take(IN_FLIGHT, 8)).toMatchObject({ granted: 2, remaining: 0 });
  one.ledger.give(IN_FLIGHT, 3, 0);
  await expect.poll(async () => (await two.ledger.take(IN_FLIGHT, 0)).remaining).toBe(3);
  // The machine does not renew: its lifetime is over.
  redis.command('hset', 'svc:held:{key:a in_flight}', one.store.machine, '5 1');
  expect(await two.ledger.take(IN_FLIGHT, 20)).toMatchObject({ granted: 8, remaining: 0 });
  expect(redis.command('hkeys', 'svc:held:{key:a in_flight}')).toBe(two.store.machine);
});

test('one call at a time runs on all machines, and the others get its answer', async () => {
  const both = [await machine(), await machine()];
  let calls = 0;
  const callers = Array.from({ length: 100 }, async (_, index) => {
    const { answers } = both[index % 2] ?? never();
    const claim = await answers.claim('a'.repeat(64), 60_000);
    if (claim.kind !== 'mine') return claim.kind === 'kept' ? claim.answer : 'busy';
    calls += 1;
    claim.keep('{"status":200}', 60_000);
    return '{"status":200}';
  });
  expect(new Set(await Promise.all(callers))).toEqual(new Set(['{"status":200}']));
  expect(calls).toBe(1);
});

test('an answer has its age and its end on all machines', async () => {
  const [one, two] = [await machine(), await machine()];
  (await owned(one, 'k')).keep('text "ü"\n', 60_000);
  await expect.poll(async () => (await two.answers.claim('k', 0)).kind).toBe('kept');
  redis.command('hset', 'svc:answer:{k}', 'at', '1');
  const claim = await two.answers.claim('k', 0);
  expect(claim).toMatchObject({ kind: 'kept', answer: 'text "ü"\n' });
  expect(claim.kind === 'kept' && claim.ageMs).toBeGreaterThan(1_000_000);
  const left = Number(redis.command('pttl', 'svc:answer:{k}'));
  expect(left).toBeGreaterThan(0);
  expect(left).toBeLessThanOrEqual(60_000);
});

test('the lock of a dead machine ends, and its late answer does not end the lock of the next one', async () => {
  const [one, two] = [await machine(), await machine()];
  const dead = await owned(one, 'k');
  const next = owned(two, 'k');
  expect(Number(redis.command('pttl', 'svc:lock:{k}'))).toBeGreaterThan(0);
  redis.command('pexpire', 'svc:lock:{k}', '1');
  const claim = await next;
  dead.release();
  expect(redis.command('exists', 'svc:lock:{k}')).toBe('1');
  claim.keep('late', 60_000);
  await expect.poll(() => redis.command('exists', 'svc:lock:{k}')).toBe('0');
});

test('a cool-down of one machine reaches the others, and ends there too', async () => {
  const [one, two] = [await machine(), await machine()];
  const changes: CoolDownChange[] = [];
  two.coolDowns.onChange((change) => void changes.push(change));
  one.coolDowns.report({ type: 'begin', client: 'Fast and "good"', forMs: 30_000, reason: 'retry_after' });
  await waitUntil('the cool-down', () => changes.length === 1);
  expect(changes[0]).toMatchObject({ type: 'begin', client: 'Fast and "good"', reason: 'retry_after' });
  expect(changes[0]?.type === 'begin' && changes[0].forMs).toBeGreaterThan(20_000);
  one.coolDowns.report({ type: 'end', client: 'Fast and "good"' });
  await waitUntil('the end', () => changes.length === 2);
  expect(changes[1]).toEqual({ type: 'end', client: 'Fast and "good"' });
});

test('a script that the store forgot is sent again', async () => {
  const { turns } = await machine();
  expect(await turns.next('A')).toBe(0);
  redis.command('script', 'flush');
  expect(await turns.next('A')).toBe(1);
});

test('every key expires', async () => {
  const { ledger, answers, turns, coolDowns } = await machine();
  coolDowns.report({ type: 'begin', client: 'Fast', forMs: 1_000, reason: 'failures' });
  await Promise.all([turns.next('A'), ledger.take(PER_MINUTE, 1), ledger.take(IN_FLIGHT, 1)]);
  const claim = await answers.claim('k', 0);
  await answers.claim('l', 0);
  if (claim.kind === 'mine') claim.keep('a', 1_000_000);
  await expect.poll(() => redis.command('exists', 'svc:answer:{k}')).toBe('1');
  const keys = redis.command('keys', '*').split('\n');
  const kinds = keys.map((key) => key.split(':')[1] ?? '');
  expect(new Set(kinds)).toEqual(new Set(['answer', 'cooling', 'held', 'lock', 'machines', 'turns', 'units']));
  for (const key of keys) expect([key, Number(redis.command('pttl', key)) > 0]).toEqual([key, true]);
});

test('a cluster finds the keys of every script on one node', async () => {
  const node = await RedisServer.start('--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1');
  node.command('cluster', 'addslotsrange', '0', '16383');
  await waitUntil('the cluster', () => node.command('cluster', 'info').includes('cluster_state:ok'));
  const { ledger, answers, turns, store } = await machine(`${node.url}?cluster=true`);
  expect(await ledger.take(PER_MINUTE, 5)).toMatchObject({ granted: 5, remaining: 995 });
  expect(await ledger.take(IN_FLIGHT, 5)).toMatchObject({ granted: 5, remaining: 5 });
  expect(await turns.next('A')).toBe(0);
  const claim = await answers.claim('k', 0);
  expect(claim.kind).toBe('mine');
  if (claim.kind === 'mine') claim.keep('a', 60_000);
  await expect.poll(() => node.command('exists', 'svc:answer:{k}')).toBe('1');
  expect(store.health).toEqual({ state: 'up', machines: 1 });
  await node.kill();
  await waitUntil('the cluster to be down', () => store.health.state === 'down');
});

test('sentinels lead to the master', async () => {
  const sentinel = await RedisServer.sentinelOf(redis, 'main');
  const { turns, store } = await machine(`${sentinel.url}?sentinel=main`);
  expect(await turns.next('A')).toBe(0);
  expect(redis.command('get', 'svc:turns:{A}')).toBe('1');
  await sentinel.kill();
  expect(store.up).toBe(true);
});

test('a replica is reported as read-only, and gets at most one connection a second', async () => {
  const replica = await RedisServer.start('--replicaof', '127.0.0.1', String(redis.port));
  try {
    await waitUntil('the replica to follow', () => replica.command('info', 'replication').includes('link_status:up'));
    const address = storeAddress(replica.url);
    if (!address.ok) throw new Error(address.failure);
    let probes = 0;
    const reasons = new Set<string | undefined>();
    const options = { prefix: 'svc', logger: silentLogger, observe: () => void (probes += 1) };
    const before = connectionsOf(replica);
    const started = performance.now();
    const store = new Store(new RedisClient(address.value), options);
    store.onChange(({ reason }) => reasons.add(reason));
    await waitUntil('some probes', () => probes >= 10);
    const made = connectionsOf(replica) - before;
    const seconds = (performance.now() - started) / 1000;
    await store.close();
    expect([...reasons]).toEqual(['READONLY']);
    // One at the start, and redis-cli makes two.
    expect(made).toBeLessThanOrEqual(2 + 2 + seconds);
  } finally {
    await replica.kill();
  }
});

function connectionsOf(server: RedisServer): number {
  return Number(/total_connections_received:(\d+)/u.exec(server.command('info', 'stats'))?.[1]);
}

test('docs/store.md names every command that svc sends', async () => {
  redis.command('config', 'resetstat');
  await machine(`${redis.url}/2`);
  const page = readFileSync(new URL('../../docs/store.md', import.meta.url), 'utf8');
  const named = /The user needs the commands ([^\n]*) and those/u.exec(page)?.[1]?.toLowerCase() ?? '';
  const scripts = Object.values(STORE_SCRIPTS).map(({ lua }) => lua);
  const called = scripts.join('\n').matchAll(/redis\.call\('(\w+)'/gu);
  const inScripts = new Set(Array.from(called, ([, name = '']) => name.toLowerCase()));
  const sent = redis.command('info', 'commandstats').matchAll(/cmdstat_([\w|]+):/gu);
  const others = [...sent].map(([, name = '']) => name.replace('|', ' ')).filter((name) => !inScripts.has(name));
  // `config` is that of this test.
  const unnamed = others.filter((name) => !name.startsWith('config') && !named.includes(`\`${name}\``));
  expect(others).toContain('client setname');
  expect(unnamed).toEqual([]);
});

test('there is a test above for every script', () => {
  // `renew` runs while a call takes seconds: the unit tests count it.
  const tested = ['beat', 'cool', 'leave', 'turns', 'take', 'give', 'hold', 'claim', 'renew', 'keep', 'release'];
  expect(Object.keys(STORE_SCRIPTS).toSorted()).toEqual(tested.toSorted());
});

function never(): never {
  throw new Error('there are two machines');
}
