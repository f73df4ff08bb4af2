import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { usePlainBind } from '../../src/server/plain-bind.ts';

const original = Object.getOwnPropertyDescriptor(AsyncResource.prototype, 'bind');

beforeAll(() => usePlainBind());
afterAll(() => {
  if (original !== undefined) Object.defineProperty(AsyncResource.prototype, 'bind', original);
});

function receiverAndArguments(this: unknown, ...args: readonly unknown[]): unknown {
  return [this, ...args];
}

test('a bound function calls the original with the receiver and the arguments, and returns its result', () => {
  const receiver = {};
  expect(AsyncResource.bind(receiverAndArguments, 'test', receiver)(1, 2)).toEqual([receiver, 1, 2]);
  expect(new AsyncResource('test').bind(receiverAndArguments).call(receiver, 1, 2)).toEqual([receiver, 1, 2]);
});

test('a bound function runs in the asynchronous context in which its resource was created', () => {
  const storage = new AsyncLocalStorage<string>();
  const read = storage.run('inner', () => new AsyncResource('test').bind(() => storage.getStore()));
  expect(storage.run('outer', () => read())).toBe('inner');
  const readStatic = storage.run('inner', () => AsyncResource.bind(() => storage.getStore()));
  expect(storage.run('outer', () => readStatic())).toBe('inner');
});

test('a bound function throws the error of the original, and bind throws a TypeError if its argument is not a function', () => {
  const resource = new AsyncResource('test');
  const failing = resource.bind(() => {
    throw new Error('failed');
  });
  expect(failing).toThrow('failed');
  expect(() => resource.bind('text' as never)).toThrow(TypeError);
});

test('a bound function has no property `asyncResource`', () => {
  expect(new AsyncResource('test').bind(receiverAndArguments)).not.toHaveProperty('asyncResource');
});
