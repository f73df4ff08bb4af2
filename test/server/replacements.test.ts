import type { Worker as ClusterWorker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import { expect, test, vi } from 'vitest';
import type { SettingValues } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { silentLogger } from '../../src/logging/logger.ts';
import { MergedMetrics } from '../../src/server/metrics/merged-metrics.ts';
import { Replacements, type ReplaceableGroup } from '../../src/server/replacements.ts';
import { WorkerHandle } from '../../src/server/worker-handle.ts';
import { waitUntil } from '../support/load.ts';

const MIB = 2 ** 20;

/** Workers that listen at once, or exit at once, when they are provided. */
class FakeGroup implements ReplaceableGroup {
  readonly handles: WorkerHandle[] = [];
  readonly log: string[] = [];
  stopping = false;
  newWorkersServe = true;
  generation = 1;

  get listening(): readonly WorkerHandle[] {
    return this.handles.filter((handle) => handle.state === 'listening');
  }

  provide(): WorkerHandle {
    const number = this.handles.length + 1;
    const emitter = new EventEmitter();
    const process = { pid: number, kill: () => true };
    const send = (message: { readonly type: string }) => this.log.push(`${number} is told ${message.type}`);
    const worker = Object.assign(emitter, { process, send, isConnected: () => true });
    const handle = new WorkerHandle(
      worker as unknown as ClusterWorker,
      { number, wanted: true },
      { message: () => undefined, exited: () => undefined },
    );
    handle.generation = this.generation;
    this.handles.push(handle);
    if (this.newWorkersServe) this.log.push(`${number} listens`);
    handle.state = this.newWorkersServe ? 'listening' : 'exited';
    handle.listeningAt = performance.now();
    return handle;
  }

  fill(): void {
    this.log.push('fill');
  }

  nextChange(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }
}

function replacementsOf(group: FakeGroup, flags: Partial<SettingValues> = {}): Replacements {
  const loaded = loadConfig({ dotenv: false, ...flags }, { variables: {}, limits: { cores: 2 } });
  if (!loaded.ok) throw new Error(loaded.failure.message);
  return new Replacements(group, { config: loaded.value.config, logger: silentLogger, metrics: new MergedMetrics() });
}

function groupOfTwo(): FakeGroup {
  const group = new FakeGroup();
  group.provide();
  group.provide();
  group.log.length = 0;
  return group;
}

test('a roll replaces one worker after the other, and each new one listens before an old one stops', async () => {
  const group = groupOfTwo();
  group.generation = 2;
  expect(await replacementsOf(group).roll(() => 2)).toBe(true);
  expect(group.log).toEqual(['3 listens', '1 is told drain', 'fill', '4 listens', '2 is told drain', 'fill']);
});

test('when the first new worker does not come to serve, the old ones stay', async () => {
  const group = groupOfTwo();
  group.generation = 2;
  group.newWorkersServe = false;
  expect(await replacementsOf(group).roll(() => 2)).toBe(false);
  expect(group.log).toEqual(['fill']);
  expect(group.listening.map(({ number }) => number)).toEqual([1, 2]);
});

test('a worker above its memory limit is replaced, but not before it served for ten seconds', () => {
  const group = groupOfTwo();
  const [first] = group.handles;
  if (first === undefined) throw new Error('no worker');
  const replacements = replacementsOf(group, { maxWorkerMemoryBytes: 64 * 2 ** 20 });
  first.rssBytes = 65 * MIB;
  replacements.checkMemory(first);
  expect(group.handles).toHaveLength(2);
  first.listeningAt = performance.now() - 10_001;
  first.rssBytes = 63 * MIB;
  replacements.checkMemory(first);
  expect(group.handles).toHaveLength(2);
  first.rssBytes = 65 * MIB;
  replacements.checkMemory(first);
  expect(group.handles).toHaveLength(3);
});

test('workers of one age are not replaced at one time', () => {
  const group = groupOfTwo();
  const replacements = replacementsOf(group, { maxWorkerAgeMs: 10_000 });
  for (const handle of group.handles) handle.listeningAt = performance.now() - 20_000;
  replacements.checkAge();
  replacements.checkAge();
  expect(group.handles).toHaveLength(3);
});

test('while a replaced worker drains, the next one of that age waits', async () => {
  const group = groupOfTwo();
  const replacements = replacementsOf(group, { maxWorkerAgeMs: 10_000 });
  const [first, second] = group.handles;
  for (const handle of group.handles) handle.listeningAt = performance.now() - 20_000;
  replacements.checkAge();
  await waitUntil('the first to drain', () => first?.state === 'draining');
  replacements.checkAge();
  expect(group.handles).toHaveLength(3);
  if (first !== undefined) first.state = 'exited';
  await settled();
  replacements.checkAge();
  await waitUntil('the second to drain', () => second?.state === 'draining');
  expect(group.handles).toHaveLength(4);
});

test('where memory is limited, a reload waits for each old worker to end', async () => {
  const group = groupOfTwo();
  const [first, second] = group.handles;
  group.generation = 2;
  const rolled = replacementsOf(group, { maxWorkerMemoryBytes: 128 * 2 ** 20 }).roll(() => 2);
  await waitUntil('the first to drain', () => first?.state === 'draining');
  await settled();
  expect(second?.state).toBe('listening');
  if (first !== undefined) first.state = 'exited';
  await waitUntil('the second to drain', () => second?.state === 'draining');
  expect(await rolled).toBe(true);
});

test('when another worker dies during a replacement, the old one stays until that one is made good for', async () => {
  const group = groupOfTwo();
  const [first, second] = group.handles;
  if (second !== undefined) second.state = 'exited';
  if (first !== undefined) first.listeningAt = performance.now() - 20_000;
  replacementsOf(group, { maxWorkerAgeMs: 10_000 }).checkAge();
  await settled();
  expect(group.log).toEqual(['3 listens']);
  expect(first?.leaving).toBe(true);
  group.provide();
  await waitUntil('the old one to drain', () => first?.state === 'draining');
  expect(group.log).toEqual(['3 listens', '4 listens', '1 is told drain', 'fill']);
});

test('a reload begins when no other replacement is under way', async () => {
  const group = groupOfTwo();
  const [first, second] = group.handles;
  if (second !== undefined) second.state = 'exited';
  if (first !== undefined) first.listeningAt = performance.now() - 20_000;
  const replacements = replacementsOf(group, { maxWorkerAgeMs: 10_000 });
  replacements.checkAge();
  const begin = vi.fn(() => 1);
  const rolled = replacements.roll(begin);
  await settled();
  expect(begin).not.toHaveBeenCalled();
  group.provide();
  expect(await rolled).toBe(true);
  expect(begin).toHaveBeenCalledOnce();
});

test('where memory is limited, a stop during a reload starts no worker any more', async () => {
  const group = groupOfTwo();
  const [first] = group.handles;
  group.generation = 2;
  const rolled = replacementsOf(group, { maxWorkerMemoryBytes: 128 * 2 ** 20 }).roll(() => 2);
  await waitUntil('the first to drain', () => first?.state === 'draining');
  group.stopping = true;
  if (first !== undefined) first.state = 'exited';
  expect(await rolled).toBe(true);
  expect(group.handles).toHaveLength(3);
});

test('a worker that dies while it is being replaced is replaced at once, and counted once', async () => {
  const group = groupOfTwo();
  const [first] = group.handles;
  if (first !== undefined) first.listeningAt = performance.now() - 20_000;
  const begun = performance.now();
  const replacements = replacementsOf(group, { maxWorkerAgeMs: 10_000 });
  replacements.checkAge();
  if (first !== undefined) first.state = 'exited';
  expect(await replacements.roll(() => 1)).toBe(true);
  expect(performance.now() - begun).toBeLessThan(1_000);
  expect(group.log).toEqual(['3 listens', 'fill']);
});

/** Time for everything that was started to go as far as it can. */
function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 150));
}
