import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type TestServer } from './support/test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer('node');
});
afterAll(() => server.close());

function greet(): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return fetch(`${server.url}/call/Greet`, { method: 'POST', headers, body: '{"name": "Ada"}' });
}

test('a call waits until the validators of its function are loaded', async () => {
  const loads: Array<() => void> = [];
  const asked = new Promise<void>((resolve) => {
    server.runtime.onLoad = () =>
      new Promise((loaded) => {
        loads.push(loaded);
        resolve();
      });
  });
  const answer = greet();
  await asked;
  expect(server.runtime.bodies).toEqual([]);
  for (const loaded of loads) loaded();
  expect((await answer).status).toBe(200);
  expect(server.runtime.bodies).toEqual([{ name: 'Ada' }]);
});

test('validators that cannot be loaded are an internal error, and the next call tries again', async () => {
  server.runtime.onLoad = () => Promise.reject(new Error('the primary did not answer'));
  const failed = await greet();
  expect(failed.status).toBe(500);
  expect(await failed.json()).toMatchObject({ error: 'internal_error' });
  server.runtime.onLoad = () => undefined;
  expect((await greet()).status).toBe(200);
});
