import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Cancellation } from '../../src/base/cancellation.ts';
import type { ReplyOutcome, WholeReply } from '../../src/runtime/call/runtime.ts';
import { ParsePool } from '../../src/server/parse-pool.ts';

const THREAD = new URL('support/parse-thread-stub.mjs', import.meta.url);
/** More work than any test waits for. */
const LONG = 'work60000';

/** A thread reaches this limit in a fraction of a second. With half of it, Node 24 often ends the process in place of the thread. */
const SMALL_HEAP_MB = 128;

let pool: ParsePool;
/** Errors of threads for which no reply waited. */
const threadErrors: unknown[] = [];

beforeEach(() => {
  threadErrors.length = 0;
  pool = new ParsePool({
    thread: THREAD,
    programPath: '/nowhere/program.json',
    maxHeapMb: SMALL_HEAP_MB,
    onThreadError: (error) => threadErrors.push(error),
    onUnusable: (error) => {
      throw error;
    },
  });
});
afterEach(async () => {
  vi.useRealTimers();
  await pool.close();
  expect(threadErrors).toEqual([]);
});

function parse(text: string, limits: Partial<WholeReply> = {}): Promise<ReplyOutcome> {
  const deadlineAt = performance.now() + 120_000;
  return pool.parse({
    functionName: 'Greet',
    text,
    wrapped: false,
    cancellation: new Cancellation(),
    deadlineAt,
    ...limits,
  });
}

function codeOf(outcome: ReplyOutcome): string {
  return outcome.ok ? 'ok' : outcome.failure.code;
}

it('returns the JSON of the thread, and its value on request', async () => {
  const outcome = await parse('abc');
  if (!outcome.ok) throw new Error('it failed');
  expect(outcome.value.json).toBe('{"functionName":"Greet","size":3}');
  expect(outcome.value.value).toEqual({ functionName: 'Greet', size: 3 });
  expect(outcome.value.flags).toEqual([{ flag: 'markdown', path: '' }]);
});

it('returns a failure with the reply', async () => {
  const failure = { code: 'validation_failure', message: 'no', details: [], rawOutput: 'bad' };
  expect(await parse('bad')).toEqual({ ok: false, failure });
});

it('counts replies that need more work than their budget allows', async () => {
  expect(codeOf(await parse('too much work'))).toBe('validation_failure');
  expect(codeOf(await parse('bad'))).toBe('validation_failure');
  expect(pool.counts).toEqual({ replies: 2, steps: 1, time: 0, memory: 0 });
});

it('rejects when the thread has a bug, and still parses the next reply', async () => {
  await expect(parse('crash')).rejects.toThrow('crashed');
  expect(codeOf(await parse('abc'))).toBe('ok');
});

it('refuses a reply whose values fill the memory of a thread, and works for the next one', async () => {
  // On a busy machine, the pool would end the thread for taking too long, perhaps while it runs out of memory.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const outcome = await parse('exhaust');
  const message = 'parsing the reply needs more memory than the limit for one reply';
  expect(outcome).toMatchObject({ ok: false, failure: { code: 'validation_failure', message, rawOutput: 'exhaust' } });
  expect(codeOf(await parse('abc'))).toBe('ok');
  expect(pool.counts).toEqual({ replies: 2, steps: 0, time: 0, memory: 1 });
});

it('stops the parsing for a call that is cancelled', async () => {
  const cancellation = new Cancellation();
  const parsing = parse(LONG, { cancellation });
  setTimeout(() => cancellation.cancel('the caller left'), 50);
  expect(await parsing).toEqual({ ok: false, failure: { code: 'cancelled', message: 'the caller left' } });
});

it('stops the parsing for a call whose deadline has passed', async () => {
  const outcome = await parse(LONG, { deadlineAt: performance.now() + 50 });
  expect(outcome).toMatchObject({ ok: false, failure: { code: 'timeout', timer: 'total' } });
});

it('does not parse for a call that has already ended', async () => {
  const cancellation = new Cancellation();
  cancellation.cancel('gone');
  expect(codeOf(await parse('abc', { cancellation }))).toBe('cancelled');
  expect(codeOf(await parse('abc', { deadlineAt: performance.now() - 1 }))).toBe('timeout');
});

it('continues with waiting replies when the work of all threads is stopped', async () => {
  const cancellation = new Cancellation();
  const busy = [parse(LONG, { cancellation }), parse(LONG, { cancellation })];
  const waiting = ['a', 'b', 'c'].map((text) => parse(text));
  expect(pool.queueSize).toBe(3);
  setTimeout(() => cancellation.cancel('gone'), 50);
  expect((await Promise.all(busy)).map(codeOf)).toEqual(['cancelled', 'cancelled']);
  expect((await Promise.all(waiting)).map(codeOf)).toEqual(['ok', 'ok', 'ok']);
  expect(pool.queueSize).toBe(0);
});

it('refuses replies beyond its queue as overloaded', async () => {
  const cancellation = new Cancellation();
  const parsing = Array.from({ length: 66 }, () => parse(LONG, { cancellation }));
  expect(await parse('one more')).toMatchObject({ ok: false, failure: { code: 'overloaded', retryAfterSeconds: 1 } });
  cancellation.cancel('enough');
  expect(new Set((await Promise.all(parsing)).map(codeOf))).toEqual(new Set(['cancelled']));
  expect(pool.queueSize).toBe(0);
});

it('ends running and waiting replies when it closes, and accepts no more', async () => {
  const parsing = Array.from({ length: 5 }, () => parse(LONG));
  setTimeout(() => void pool.close(), 300);
  expect((await Promise.all(parsing)).map(codeOf)).toEqual(Array.from({ length: 5 }, () => 'draining'));
  expect(codeOf(await parse('abc'))).toBe('draining');
});
