import { expect, test } from 'vitest';
import { FleetWorld } from './support/fleet-world.ts';

const MIB = 2 ** 20;

/** Crashes the serving workers one after the other; the spare worker replaces each of them. */
function crash(world: FleetWorld, times: number): void {
  for (let time = 0; time < times; time += 1) {
    world.exit(world.in('serving')[0] ?? 0);
    if (world.pauseMs === undefined) world.settle();
  }
}

test('the wanted workers start together, and the spare one a second after they serve', () => {
  const world = new FleetWorld();
  world.take({ type: 'tick' });
  expect(world.log).toEqual(['fork 1', 'fork 2']);
  world.load(1);
  world.load(2);
  expect(world.log).toEqual(['listen 1', 'listen 2']);
  world.listen(1);
  expect(world.log).toEqual([]);
  world.listen(2);
  expect(world.log).toEqual(['started']);
  world.pass(999);
  expect(world.log).toEqual([]);
  world.pass(1);
  expect(world.log).toEqual(['fork 3']);
  world.load(3);
  expect([world.log, world.fleet.stateOf(3)]).toEqual([[], 'spare']);
});

test('new processes replace workers that die right after the start', () => {
  const world = new FleetWorld();
  world.take({ type: 'tick' });
  world.settle();
  world.forget();
  world.exit(1);
  expect(world.log).toEqual(['died 1', 'fork 3']);
});

test('the first start fails after three deaths; later deaths never end the server', () => {
  const first = new FleetWorld({ workers: 3 });
  first.take({ type: 'tick' });
  for (const worker of [1, 2]) first.exit(worker, 'no memory');
  expect(first.gaveUp).toBeUndefined();
  first.exit(3, 'no port');
  expect(first.gaveUp).toBe('no port');
  const later = FleetWorld.serving();
  for (let death = 0; death < 10; death += 1) {
    for (const worker of later.alive) later.exit(worker);
    later.resume();
  }
  expect(later.gaveUp).toBeUndefined();
});

test('the spare worker replaces a crashed one at once, and a new spare worker loads', () => {
  const world = FleetWorld.serving();
  world.exit(1);
  expect(world.log).toEqual(['died 1', 'listen 3', 'fork 4']);
});

test('after two crashes within ten seconds, two spare workers load, after more three, and ten seconds later the others end', () => {
  const world = FleetWorld.serving();
  const spares = [1, 2, 3, 4].map(() => {
    crash(world, 1);
    return world.in('spare').length;
  });
  expect(spares).toEqual([1, 2, 3, 3]);
  world.forget();
  world.pass(9_999);
  expect(world.log).toEqual([]);
  world.pass(1);
  expect(world.log).toEqual([expect.stringMatching(/^kill/u), expect.stringMatching(/^kill/u)]);
  world.settle();
  expect([world.in('serving').length, world.in('spare').length, world.alive.length]).toEqual([2, 1, 3]);
});

test('a worker that reports a failure is replaced at once, and finishes its requests', () => {
  const world = FleetWorld.serving();
  world.take({ type: 'failed', worker: 1, reason: 'a bug' });
  expect(world.log).toEqual(['died 1', 'listen 3', 'fork 4']);
  expect(world.fleet.stateOf(1)).toBe('draining');
  world.exit(1);
  expect(world.log).toEqual([]);
});

test('ten crashes within ten seconds are replaced at once, more after growing pauses, and at once again later', () => {
  const world = FleetWorld.serving();
  crash(world, 10);
  expect(world.pauseMs).toBeUndefined();
  const pauses = [100, 200, 400].map((ms) => {
    crash(world, 1);
    expect(world.pauseMs).toBe(ms);
    world.settle();
    return world.pauseMs;
  });
  expect(pauses).toEqual([undefined, undefined, undefined]);
  world.pass(10_000);
  crash(world, 1);
  expect(world.pauseMs).toBeUndefined();
});

test('workers that cannot start are retried after growing pauses of up to ten seconds, until one starts', () => {
  const world = FleetWorld.serving();
  world.exit(3);
  const pauses: unknown[] = [];
  for (let attempt = 1; attempt <= 9; attempt += 1) {
    pauses.push(world.pauseMs);
    world.resume();
    world.exit(world.in('loading')[0] ?? 0);
  }
  expect(pauses).toEqual([100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]);
  world.settle();
  world.exit(world.in('spare')[0] ?? 0);
  expect(world.pauseMs).toBe(100);
});

test('workers that were started together and die together are one attempt', () => {
  const world = FleetWorld.serving({ workers: 8 });
  for (const worker of world.alive) world.exit(worker);
  world.resume();
  const wave = world.in('starting');
  expect(wave).toHaveLength(8);
  world.forget();
  for (const worker of wave) world.exit(worker);
  expect(world.log.filter((action) => action === 'pause')).toHaveLength(1);
});

test('while workers cannot start, the fleet reports the number of workers that serve', () => {
  const world = FleetWorld.serving({ workers: 3 });
  world.exit(4);
  expect(world.degraded).toBeNull();
  world.exit(1);
  expect(world.degraded).toEqual({ listening: 2, wanted: 3 });
  world.exit(2);
  expect(world.degraded).toEqual({ listening: 1, wanted: 3 });
  world.settle();
  expect(world.degraded).toBeNull();
});

test('a worker above its memory limit is replaced, but not before it served for ten seconds', () => {
  const world = FleetWorld.serving({ maxWorkerMemoryBytes: 64 * MIB });
  world.pass(8_000);
  world.take({ type: 'heartbeat', worker: 1, rssBytes: 65 * MIB });
  expect(world.log).toEqual([]);
  world.pass(1_001);
  expect(world.log).toEqual(['replacing 1', 'listen 3']);
  world.listen(3);
  expect(world.log).toEqual(['drain 1', 'replaced 1', 'fork 4']);
});

test('workers of one age are replaced one after the other, the next one when the last one has ended', () => {
  const world = FleetWorld.serving({ maxWorkerAgeMs: 60_000 });
  world.pass(60_001);
  expect(world.log).toEqual(['replacing 1', 'listen 3']);
  world.listen(3);
  world.load(4);
  world.pass(1_000);
  expect(world.log).toEqual(['drain 1', 'replaced 1', 'fork 4']);
  world.exit(1);
  expect(world.log).toEqual(['replacing 2', 'listen 4']);
});

test('the age at which a worker is replaced is up to a fifth above the limit', () => {
  const world = FleetWorld.serving({ maxWorkerAgeMs: 60_000, random: () => 0.99 });
  world.pass(70_000);
  expect(world.log).toEqual([]);
  world.pass(1_000);
  expect(world.log).toContain('replacing 1');
});

test('a reload replaces one worker after the other, and each new one listens before an old one drains', () => {
  const world = FleetWorld.serving();
  world.reload();
  expect(world.log).toEqual(['kill 3', 'replacing 1', 'fork 4']);
  world.load(4);
  world.listen(4);
  expect(world.log).toEqual(['listen 4', 'drain 1', 'replaced 1', 'replacing 2', 'fork 5']);
  world.load(5);
  world.listen(5);
  expect(world.log).toEqual(['listen 5', 'drain 2', 'replaced 2', 'fork 6', 'reloaded']);
  expect(world.generations).toEqual([2, 2]);
});

test('if the first new worker of a reload never serves, the old workers and their spare worker stay', () => {
  const world = FleetWorld.serving();
  world.reload();
  world.forget();
  world.exit(4, 'a bad program');
  expect(world.log).toEqual(['died 4', 'pause', 'replacement failed 1', 'reloaded']);
  world.settle();
  expect(world.generations).toEqual([1, 1]);
  expect(world.processes.get(world.in('spare')[0] ?? 0)?.generation).toBe(1);
});

test('if a later new worker of a reload dies as it starts, the reload continues after a pause', () => {
  const world = FleetWorld.serving();
  world.reload();
  world.load(4);
  world.listen(4);
  world.exit(5);
  expect(world.log.slice(-3)).toEqual(['died 5', 'pause', 'replacement failed 2']);
  world.settle();
  expect(world.generations).toEqual([1, 2]);
  world.pass(10_000);
  world.settle();
  expect(world.generations).toEqual([2, 2]);
  expect(world.reloading).toBe(false);
});

test('a reload ends a pause, because new definitions can fix the failure', () => {
  const world = FleetWorld.serving();
  world.exit(3);
  for (let attempt = 1; attempt < 9; attempt += 1) {
    world.resume();
    world.exit(world.in('loading')[0] ?? 0);
  }
  expect(world.pauseMs).toBe(10_000);
  world.reload();
  expect(world.pauseMs).toBe(0);
  world.settle();
  expect(world.generations).toEqual([2, 2]);
});

test('without a spare worker and in a pause, no replacement begins', () => {
  const world = FleetWorld.serving({ maxWorkerAgeMs: 60_000 });
  world.exit(3);
  world.pass(60_001);
  expect(world.log).toEqual(['died 3', 'pause']);
  world.resume();
  expect(world.log).toEqual(['replacing 1', 'fork 4']);
});

test('where memory is limited, a reload waits for each old worker to end', () => {
  const world = FleetWorld.serving({ maxWorkerMemoryBytes: 128 * MIB });
  world.reload();
  world.load(4);
  world.listen(4);
  expect(world.log).toContain('fork 5');
  world.load(5);
  expect(world.in('serving', 'spare')).toEqual([2, 4, 5]);
  world.exit(1);
  expect(world.log).toEqual(['replacing 2', 'listen 5']);
});

test('where memory is limited, a stop during a reload starts no further worker', () => {
  const world = FleetWorld.serving({ maxWorkerMemoryBytes: 128 * MIB });
  world.reload();
  world.load(4);
  world.listen(4);
  world.forget();
  world.stop();
  world.exit(1);
  expect(world.log).toEqual(['drain 2', 'drain 4', 'kill 5']);
});

test('when another worker dies during a replacement, the old one serves until that one is replaced, for ten seconds at most', () => {
  const world = FleetWorld.serving({ maxWorkerAgeMs: 60_000 });
  world.pass(60_001);
  world.exit(2);
  world.listen(3);
  expect(world.log).toEqual(['replacing 1', 'listen 3', 'died 2', 'fork 4']);
  world.pass(9_000);
  expect(world.log).toEqual([]);
  world.load(4);
  world.listen(4);
  expect(world.log).toEqual(['listen 4', 'drain 1', 'replaced 1', 'fork 5']);
});

test('an old worker does not wait for a second replacement that takes too long', () => {
  const world = FleetWorld.serving({ maxWorkerAgeMs: 60_000 });
  world.pass(60_001);
  world.exit(2);
  world.listen(3);
  world.forget();
  world.pass(10_000);
  expect(world.log).toEqual(['drain 1', 'replaced 1', 'fork 5']);
});

test('a reload begins when no other replacement is in progress', () => {
  const world = FleetWorld.serving({ maxWorkerAgeMs: 60_000 });
  world.pass(60_001);
  world.forget();
  world.reload();
  expect(world.log).toEqual([]);
  world.listen(3);
  expect(world.log).toEqual(['drain 1', 'replaced 1', 'replacing 2', 'fork 4']);
  expect(world.processes.get(4)?.generation).toBe(2);
});

test('a worker that dies while it is being replaced counts as a crash, and not as a replacement', () => {
  const world = FleetWorld.serving({ maxWorkerMemoryBytes: 64 * MIB });
  world.pass(10_001);
  world.take({ type: 'heartbeat', worker: 1, rssBytes: 65 * MIB });
  world.exit(1);
  world.listen(3);
  expect(world.log).toEqual(['replacing 1', 'listen 3', 'died 1', 'fork 4']);
});

test('a stop drains those that serve, and kills those that do not', () => {
  const world = FleetWorld.serving();
  world.stop();
  expect(world.log).toEqual(['drain 1', 'drain 2', 'kill 3']);
  world.settle();
  expect(world.processes.size).toBe(0);
});

test('the programs of all generations that workers can serve are kept', () => {
  const world = FleetWorld.serving();
  world.reload();
  expect(world.fleet.generations).toEqual(new Set([1, 2]));
  world.settle();
  expect(world.fleet.generations).toEqual(new Set([2]));
});
