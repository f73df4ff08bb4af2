import { expect, test } from 'vitest';
import { Cancellation } from '../../src/base/cancellation.ts';

test('listeners run once, in order, with the reason', () => {
  const cancellation = new Cancellation();
  const heard: string[] = [];
  cancellation.onCancel((reason) => heard.push(`first: ${reason}`));
  cancellation.onCancel((reason) => heard.push(`second: ${reason}`));
  cancellation.cancel('client left');
  cancellation.cancel('again');
  expect(heard).toEqual(['first: client left', 'second: client left']);
  expect(cancellation.reason).toBe('client left');
});

test('a listener added after the cancellation runs at once', () => {
  const cancellation = new Cancellation();
  cancellation.cancel('drained');
  const heard: string[] = [];
  cancellation.onCancel((reason) => heard.push(reason));
  expect(heard).toEqual(['drained']);
});

test('a removed listener does not run', () => {
  const cancellation = new Cancellation();
  const heard: string[] = [];
  const remove = cancellation.onCancel((reason) => heard.push(reason));
  remove();
  cancellation.cancel('client left');
  expect(heard).toEqual([]);
  expect(cancellation.cancelled).toBe(true);
});
