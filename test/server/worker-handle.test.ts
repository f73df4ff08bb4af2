import type { Worker as ClusterWorker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import { createServer } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { surplusConnections, WorkerHandle } from '../../src/server/worker-handle.ts';
import type { ConnectionLoad } from '../../src/server/protocol.ts';

afterEach(() => vi.useRealTimers());

/** A handle of a process that receives nothing and does nothing. */
function handleOf(pid: number | undefined) {
  const kill = vi.fn();
  const exited = vi.fn();
  const emitter = new EventEmitter();
  const send = vi.fn();
  const worker = Object.assign(emitter, { process: { pid, kill }, send, isConnected: () => true });
  const identity = { id: 1, number: 1, generation: 1 };
  const handle = new WorkerHandle(worker as unknown as ClusterWorker, identity, { message: () => undefined, exited });
  return { handle, worker, send, kill, exited };
}

test('a process that the system could not start counts as one that exited', () => {
  const { handle, worker, exited } = handleOf(undefined);
  worker.emit('error', new Error('spawn EAGAIN'));
  expect(exited).toHaveBeenCalledExactlyOnceWith(handle, 'a worker could not be started: spawn EAGAIN');
  expect(handle.exited).toBe(true);
});

test('errors of a running process do not end it', () => {
  const { handle, worker, exited } = handleOf(42);
  worker.emit('error', new Error('write EPIPE'));
  expect(exited).not.toHaveBeenCalled();
  expect(handle.exited).toBe(false);
});

test('the reason of an exit is the failure that the worker reported before it', () => {
  const { handle, worker, exited } = handleOf(42);
  worker.emit('message', { svc: [{ type: 'failed', reason: 'the port is taken' }] });
  worker.emit('exit', 1, null);
  worker.emit('exit', 1, null);
  expect(exited).toHaveBeenCalledExactlyOnceWith(handle, 'the port is taken');
});

test('the messages of one turn of the event loop leave together, in order', () => {
  vi.useFakeTimers();
  const { handle, send } = handleOf(42);
  handle.send({ type: 'report-start' });
  handle.send({ type: 'listen' });
  expect(send).not.toHaveBeenCalled();
  vi.advanceTimersByTime(0);
  expect(send.mock.calls.map(([message]) => message as unknown)).toEqual([
    { svc: [{ type: 'report-start' }, { type: 'listen' }] },
  ]);
  handle.send({ type: 'listen' });
  handle.sendPort({ type: 'answer', id: 1 }, createServer());
  vi.advanceTimersByTime(0);
  expect(send.mock.calls.slice(1).map(([message]) => message as unknown)).toEqual([
    { svc: [{ type: 'listen' }] },
    { svc: [{ type: 'answer', id: 1 }] },
  ]);
});

test('messages of other libraries on the channel are ignored', () => {
  const { worker, exited } = handleOf(42);
  for (const message of [
    undefined,
    'failed',
    { type: 'failed', reason: 'theirs' },
    [{ type: 'failed', reason: 'theirs' }],
  ]) {
    worker.emit('message', message);
  }
  worker.emit('exit', 1, null);
  expect(exited.mock.calls[0]?.[1]).toBe('a worker exited with code 1');
});

test('a worker that outlasts its drain is killed after two more seconds', () => {
  vi.useFakeTimers();
  const { handle, kill } = handleOf(42);
  handle.killAfter(5_000);
  vi.advanceTimersByTime(6_900);
  expect(kill).not.toHaveBeenCalled();
  vi.advanceTimersByTime(200);
  expect(kill).toHaveBeenCalledExactlyOnceWith('SIGKILL');
});

test('a worker that exits in time is not killed', () => {
  vi.useFakeTimers();
  const { handle, worker, kill } = handleOf(42);
  handle.killAfter(5_000);
  worker.emit('exit', 0, null);
  vi.advanceTimersByTime(10_000);
  expect(kill).not.toHaveBeenCalled();
});

/** The surplus of each worker; all are busy. */
function surplusOf(...connections: readonly number[]): readonly number[] {
  const loads: readonly ConnectionLoad[] = connections.map((count) => ({ connections: count, busy: 0.9 }));
  return loads.map((own) => surplusConnections(own, loads));
}

test('a worker hands over its connections above the mean', () => {
  expect(surplusOf(4, 0)).toEqual([2, 0]);
  expect(surplusOf(3, 1)).toEqual([1, 0]);
  expect(surplusOf(20, 12)).toEqual([4, 0]);
  expect(surplusOf(0, 30, 60)).toEqual([0, 0, 30]);
});

test('a single connection, equal numbers and a tenth of surplus stay', () => {
  expect(surplusOf(1, 0)).toEqual([0, 0]);
  expect(surplusOf(7)).toEqual([0]);
  expect(surplusOf(17, 15)).toEqual([0, 0]);
  expect(surplusOf(110, 90)).toEqual([0, 0]);
  expect(surplusOf(0, 0)).toEqual([0, 0]);
});

test('a worker that is not busy keeps its connections', () => {
  const idle = { connections: 30, busy: 0.4 };
  expect(surplusConnections(idle, [idle, { connections: 2, busy: 0.1 }])).toBe(0);
});
