import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HI_FUNCTION } from '../support/hi-function.ts';
import { waitUntil } from '../support/load.ts';
import { startServer, temporaryFolder } from '../support/running-server.ts';

test('the first call of a function does not wait for the thread that compiles definitions', async () => {
  const temporary = temporaryFolder({});
  const flags = ['--workers', '1'];
  const server = await startServer({ files: { 'a.svc': HI_FUNCTION }, flags, env: { TMPDIR: temporary } });
  const threads = () => readdirSync(`/proc/${server.child.pid}/task`).length;
  const atStart = threads();
  await waitUntil('the end of the thread that compiled', () => threads() < atStart);
  // Another thread would read the program from its file.
  for (const name of readdirSync(temporary)) rmSync(join(temporary, name), { recursive: true });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${server.url}/call/Hi`, { method: 'POST', headers, body: '{"name": "Ada"}' });
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
  expect(await server.stop()).toBe(0);
});
