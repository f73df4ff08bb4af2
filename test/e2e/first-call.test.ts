import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { HI_FUNCTION } from '../support/hi-function.ts';
import { waitUntil } from '../support/load.ts';
import { startServer, temporaryFolder } from '../support/running-server.ts';

test('the first call of a function needs no compile thread', async () => {
  const temporary = temporaryFolder({});
  const flags = ['--workers', '1'];
  const server = await startServer({ files: { 'a.svc': HI_FUNCTION }, flags, env: { TMPDIR: temporary } });
  const threads = () => readdirSync(`/proc/${server.child.pid}/task`).length;
  // The threads that write the log begin with its first lines, which come after the start line.
  let most = 0;
  await waitUntil('the end of the compile thread', () => {
    most = Math.max(most, threads());
    return threads() < most;
  });
  // Without the file of the program, a new compile thread would fail.
  for (const name of readdirSync(temporary)) rmSync(join(temporary, name), { recursive: true });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${server.url}/call/Hi`, { method: 'POST', headers, body: '{"name": "Ada"}' });
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
  expect(await server.stop()).toBe(0);
});
