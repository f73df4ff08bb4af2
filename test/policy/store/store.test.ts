import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { BUDGET_MS, errorCode } from '../../../src/policy/store/store.ts';
import { fakeStore } from './fake-client.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

async function upStore() {
  const parts = fakeStore();
  parts.client.become('none');
  await vi.advanceTimersByTimeAsync(0);
  expect(parts.store.up).toBe(true);
  return parts;
}

test('a store is down until it answers, and up as soon as the connection is ready', async () => {
  const { client, store, lines } = fakeStore();
  expect(store.health).toEqual({ state: 'down', reason: 'connecting', machines: 1 });
  client.answers.beat = () => [3];
  client.become('none');
  await vi.advanceTimersByTimeAsync(0);
  expect(store.health).toEqual({ state: 'up', machines: 3 });
  expect(lines).toEqual(['the store is up {"machines":3}']);
});

test('an operation without an answer ends after its budget, and the third one in a row makes the store slow', async () => {
  const { client, store, counted } = await upStore();
  client.become('silent');
  const states = [];
  for (let each = 0; each < 3; each += 1) {
    const answer = store.run('turns', ['k'], [1, 1]);
    await vi.advanceTimersByTimeAsync(BUDGET_MS + 1);
    expect(await answer).toBeUndefined();
    states.push(store.health.state);
  }
  expect(states).toEqual(['up', 'up', 'slow']);
  const asked = client.asked.length;
  expect(await store.run('turns', ['k'], [1, 1])).toBeUndefined();
  expect(client.asked).toHaveLength(asked);
  expect(counted.slice(-4).map(([, failure]) => failure)).toEqual(['timeout', 'timeout', 'timeout', 'unavailable']);
});

test('a store that answers in time again is up within a second', async () => {
  const { client, store, lines } = await upStore();
  client.become('silent');
  await vi.advanceTimersByTimeAsync(3_000);
  expect(store.health).toMatchObject({ state: 'slow', reason: '50ms' });
  client.become('none');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(store.up).toBe(true);
  expect(lines.map((line) => line.split(':')[0])).toEqual([
    'the store is up {"machines"',
    'the store does not answer in time',
    'the store is up {"machines"',
  ]);
});

test('a full store is not used until it accepts writes', async () => {
  const { client, store } = await upStore();
  client.become('OOM');
  expect(await store.run('turns', ['k'], [1, 1])).toBeUndefined();
  expect(store.health).toMatchObject({ state: 'full', reason: 'OOM' });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(store.health.state).toBe('full');
  client.become('none');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(store.up).toBe(true);
});

test('the end of the connection is reported once, by its code only', async () => {
  const { client, store, lines } = await upStore();
  const changes: string[] = [];
  store.onChange(({ state, reason }) => void changes.push(`${state} ${reason}`));
  client.become('closed');
  await vi.advanceTimersByTimeAsync(5_000);
  expect(store.health).toEqual({ state: 'down', reason: 'ECONNRESET', machines: 1 });
  expect(changes).toEqual(['down ECONNRESET']);
  expect(lines.join('\n')).not.toContain('secret-user');
  client.become('none');
  await vi.advanceTimersByTimeAsync(0);
  expect(changes).toEqual(['down ECONNRESET', 'up undefined']);
});

test('a closed store says goodbye, and asks nothing any more', async () => {
  const { client, store } = await upStore();
  await store.close();
  expect(client.asked.at(-1)).toBe('leave');
  expect(client.closed).toBe(true);
  const asked = client.asked.length;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(client.asked).toHaveLength(asked);
});

test('errors are reduced to a code, because messages can quote addresses and arguments', () => {
  expect(errorCode(new Error('WRONGPASS invalid username-password pair'))).toBe('WRONGPASS');
  expect(errorCode(Object.assign(new Error('connect to user:pw@host'), { code: 'ENOTFOUND' }))).toBe('ENOTFOUND');
  expect(errorCode(new Error("ERR unknown command 'svc' with args 'secret'"))).toBe('ERR');
  expect(errorCode(new Error('something with a secret'))).toBe('unknown');
  expect(errorCode(new Error("Socket timeout. Expecting data, but didn't receive any in 2000ms."))).toBe('ETIMEDOUT');
  expect(errorCode({ name: 'ClusterAllFailedError' })).toBe('unknown');
});
