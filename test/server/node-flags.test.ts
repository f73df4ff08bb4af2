import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import type { Config } from '../../src/config/config.ts';
import { nodeFlags, workerVariables } from '../../src/server/node-flags.ts';

function configOf(cores: number, memoryBytes?: number, variables: Record<string, string> = {}): Config {
  const limits = memoryBytes === undefined ? { cores } : { cores, memoryBytes };
  const loaded = loadConfig({ dotenv: false }, { variables, limits });
  if (!loaded.ok) throw new Error(loaded.failure.message);
  return loaded.value.config;
}

function threads(cores: number, workers: string): string | undefined {
  const flags = nodeFlags(configOf(cores, undefined, { SVC_WORKERS: workers }));
  return flags.find((flag) => flag.startsWith('--v8-pool-size='));
}

test('each worker gets one V8 thread for each core of its share, at least one and at most four', () => {
  expect(threads(1, '2')).toBe('--v8-pool-size=1');
  expect(threads(4, '2')).toBe('--v8-pool-size=2');
  expect(threads(64, '64')).toBe('--v8-pool-size=1');
  expect(threads(64, '2')).toBe('--v8-pool-size=4');
});

test('where memory is limited, the heap limit is the size at which the worker is replaced', () => {
  const config = configOf(2, 2 ** 30);
  const limit = nodeFlags(config).find((flag) => flag.startsWith('--max-old-space-size='));
  const heapBytes = Number(limit?.split('=')[1]) * 2 ** 20;
  expect(heapBytes).toBeGreaterThanOrEqual(config.maxWorkerMemoryBytes);
  expect(heapBytes).toBeLessThan(config.maxWorkerMemoryBytes + 2 ** 20);
  expect(nodeFlags(configOf(2)).join(' ')).not.toContain('--max-old-space-size');
});

test('Node accepts all the flags', () => {
  const run = spawnSync(process.execPath, [...nodeFlags(configOf(2, 2 ** 30)), '--eval', 'process.exit(7)']);
  expect(run.stderr.toString()).toBe('');
  expect(run.status).toBe(7);
});

test.each(['MALLOC_ARENA_MAX', 'MALLOC_TRIM_THRESHOLD_'])('svc sets %s unless the environment does', (name) => {
  expect(Number(workerVariables(configOf(2))[name])).toBeGreaterThan(0);
  expect(workerVariables(configOf(2, undefined, { [name]: '8' }))[name]).toBe('8');
});
