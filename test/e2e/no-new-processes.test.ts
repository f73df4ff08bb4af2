import { copyFileSync, linkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { HI_FUNCTION } from '../support/hi-function.ts';
import { childrenOf, waitUntil } from '../support/load.ts';
import { startServer, temporaryFolder, type RunningServer } from '../support/running-server.ts';

// A system that cannot start processes: here the executable of Node is missing; in production, a limit of processes or memory.
let running: RunningServer;
/** The Node executable that runs the server. */
const node = join(temporaryFolder({}), 'node');

beforeAll(async () => {
  placeNode(node);
  running = await startServer({ files: { 'a.svc': HI_FUNCTION }, flags: ['--workers', '3'], node });
});

afterAll(() => running.stop('SIGKILL'));

// Three workers and a spare one.
beforeEach(async () => {
  await waitUntil('the spare worker', () => childrenOf(running.child.pid ?? 0).length === 4);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
});

function placeNode(path: string): void {
  try {
    linkSync(process.execPath, path);
  } catch {
    // The folder is on another file system.
    copyFileSync(process.execPath, path);
  }
}

function killOne(): void {
  process.kill(childrenOf(running.child.pid ?? 0)[0] ?? 0, 'SIGKILL');
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended after it was listed.
  }
}

async function readiness(url: string): Promise<string> {
  try {
    const response = await fetch(`${url}/readyz`, { headers: { connection: 'close' } });
    return JSON.stringify({ status: response.status, body: await response.json() });
  } catch {
    // The killed worker had the connection.
    return '';
  }
}

/** Waits until the answer, as JSON of its status and body, contains this string. */
async function untilReadiness(part: string): Promise<void> {
  await waitUntil(part, async () => (await readiness(running.url)).includes(part));
}

test('workers that cannot be started are retried, readiness reports how many serve, and all return', async () => {
  rmSync(node);
  // The spare worker replaces it.
  killOne();
  await waitUntil('the first failure', () => running.output().includes('could not be started'));
  await untilReadiness('{"status":200,"body":{"status":"ok"}}');
  killOne();
  await untilReadiness('{"status":200,"body":{"status":"degraded","workers":{"listening":2,"wanted":3}}}');
  killOne();
  await untilReadiness('Only 1 of 3 workers serve, and new ones fail to start');
  const call = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name": "Ada"}' };
  expect((await fetch(`${running.url}/call/Hi`, call)).status).toBe(200);
  placeNode(node);
  await waitUntil('all workers', () => childrenOf(running.child.pid ?? 0).length === 4);
  await untilReadiness('{"status":200,"body":{"status":"ok"}}');
});

test('SIGTERM ends a server that cannot start workers, with exit code 0', async () => {
  rmSync(node);
  // Each time, because a spare worker can start to serve in between, and a killed process stays in the list until the primary notices.
  await waitUntil('the end of all workers', () => {
    const workers = childrenOf(running.child.pid ?? 0);
    for (const worker of workers) killIfAlive(worker);
    return workers.length === 0;
  });
  expect(await running.stop('SIGTERM')).toBe(0);
});
