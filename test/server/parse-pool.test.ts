import { afterEach, expect, it } from 'vitest';
import { Cancellation } from '../../src/base/cancellation.ts';
import { ParsePool } from '../../src/server/parse-pool.ts';

const THREAD = new URL('support/parse-thread-stub.mjs', import.meta.url);
const pool = new ParsePool(THREAD, '/nowhere/program.json');

afterEach(() => pool.close());

it('gives back what the thread made of the text, and its value when asked', async () => {
  const outcome = await pool.parse('Greet', 'abc', new Cancellation());
  if (!outcome.ok) throw new Error('it failed');
  expect(outcome.value.json).toBe('{"functionName":"Greet","size":3}');
  expect(outcome.value.value).toEqual({ functionName: 'Greet', size: 3 });
  expect(outcome.value.flags).toEqual([{ flag: 'markdown', path: '' }]);
});

it('gives back a failure as a failure', async () => {
  expect(await pool.parse('Greet', 'bad', new Cancellation())).toEqual({
    ok: false,
    failure: { message: 'no', details: [] },
  });
});

it('rejects when the thread crashes, and works for the next one', async () => {
  await expect(pool.parse('Greet', 'crash', new Cancellation())).rejects.toThrow('crashed');
  expect((await pool.parse('Greet', 'abc', new Cancellation())).ok).toBe(true);
});

it('gives up at once when the call is cancelled', async () => {
  const cancellation = new Cancellation();
  const startedAt = performance.now();
  const parsing = pool.parse('Greet', 'wait5000', cancellation);
  setTimeout(() => cancellation.cancel('gone'), 50);
  expect((await parsing).ok).toBe(false);
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});

it('refuses more than its queue holds', async () => {
  const cancellation = new Cancellation();
  const parsing = Array.from({ length: 80 }, () => pool.parse('Greet', 'wait5000', cancellation));
  const refused = await pool.parse('Greet', 'one more', cancellation);
  expect(refused).toMatchObject({ ok: false, failure: { message: expect.stringContaining('Too many') as string } });
  cancellation.cancel('enough');
  expect((await Promise.all(parsing)).every((outcome) => !outcome.ok)).toBe(true);
  expect(pool.queueSize).toBe(0);
});
