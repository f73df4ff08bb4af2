import type { Worker as ClusterWorker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import { afterEach, expect, test, vi } from 'vitest';
import { WorkerHandle } from '../../src/server/worker-handle.ts';

afterEach(() => vi.useRealTimers());

/** A handle of a process that hears nothing and does nothing. */
function handleOf(pid: number | undefined) {
  const kill = vi.fn();
  const exited = vi.fn();
  const emitter = new EventEmitter();
  const worker = Object.assign(emitter, { process: { pid, kill }, send: () => true, isConnected: () => true });
  const place = { number: 1, wanted: true };
  const handle = new WorkerHandle(worker as unknown as ClusterWorker, place, { message: () => undefined, exited });
  return { handle, worker, kill, exited };
}

test('a process that the system could not start counts as one that exited', () => {
  const { handle, worker, exited } = handleOf(undefined);
  worker.emit('error', new Error('spawn EAGAIN'));
  expect(exited).toHaveBeenCalledExactlyOnceWith(handle);
  expect(handle.state).toBe('exited');
  expect(handle.failure).toBe('a worker could not be started: spawn EAGAIN');
});

test('errors of a process that runs do not end it', () => {
  const { handle, worker, exited } = handleOf(42);
  worker.emit('error', new Error('write EPIPE'));
  expect(exited).not.toHaveBeenCalled();
  expect(handle.state).toBe('starting');
});

test.each(['drain', 'failed'])('a worker that overstays its end is killed (%s)', (way) => {
  vi.useFakeTimers();
  const { handle, worker, kill } = handleOf(42);
  worker.emit('message', { type: 'ready' });
  worker.emit('message', { type: 'listening', transport: 'uws' });
  if (way === 'drain') handle.drain(5_000);
  else worker.emit('message', { type: 'failed', reason: 'a bug' });
  expect(handle.state).toBe('draining');
  vi.advanceTimersByTime(6_900);
  expect(kill).not.toHaveBeenCalled();
  vi.advanceTimersByTime(200);
  expect(kill).toHaveBeenCalledExactlyOnceWith('SIGKILL');
});
