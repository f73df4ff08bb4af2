import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LIFECYCLE, type FleetOptions, type WorkerEvent, type WorkerState } from '../../src/server/fleet.ts';
import { assertProperty } from '../support/assert-property.ts';
import { FleetWorld } from './support/fleet-world.ts';

/** An event in the world; `pick` chooses one of the processes. */
interface Happening {
  readonly what:
    | 'load'
    | 'listen'
    | 'fail'
    | 'exit'
    | 'end'
    | 'grow'
    | 'pass'
    | 'resume'
    | 'reload'
    | 'progress'
    | 'late message';
  readonly pick: number;
  readonly ms: number;
}

/** Faults are rare enough for replacements and reloads to finish between them. */
const kind: fc.Arbitrary<Happening['what']> = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom('progress' as const) },
  { weight: 8, arbitrary: fc.constantFrom('pass' as const, 'resume' as const) },
  { weight: 6, arbitrary: fc.constantFrom('load' as const, 'listen' as const, 'end' as const) },
  { weight: 4, arbitrary: fc.constantFrom('grow' as const, 'reload' as const) },
  { weight: 2, arbitrary: fc.constantFrom('fail' as const, 'exit' as const, 'late message' as const) },
);

const happening: fc.Arbitrary<Happening> = fc.record({ what: kind, pick: fc.nat(1_000), ms: fc.nat(15_000) });

const LIMIT = 1_000;

const options: fc.Arbitrary<Partial<FleetOptions>> = fc
  .record({ workers: fc.integer({ min: 1, max: 4 }), limited: fc.boolean(), aged: fc.boolean(), chance: fc.nat(99) })
  .map(({ workers, limited, aged, chance }) => ({
    workers,
    maxWorkerMemoryBytes: limited ? LIMIT : 0,
    maxWorkerAgeMs: aged ? 60_000 : 0,
    random: () => chance / 100,
  }));

/** A world during its first start. */
function startingWorld(limits: Partial<FleetOptions>): FleetWorld {
  const of = new FleetWorld(limits);
  of.take({ type: 'tick' });
  return of;
}

function happen(to: FleetWorld, { what, pick, ms }: Happening): void {
  const all = to.alive;
  const worker = all[pick % Math.max(1, all.length)] ?? 1;
  to.now += 1;
  if (what === 'load') to.load(worker);
  else if (what === 'listen') to.listen(worker);
  else if (what === 'fail') to.take({ type: 'failed', worker, reason: 'a bug' });
  else if (what === 'exit') to.exit(worker);
  else if (what === 'end') to.in('draining').forEach((draining) => to.exit(draining));
  else if (what === 'grow') to.take({ type: 'heartbeat', worker, rssBytes: pick * 2 });
  else if (what === 'pass') to.pass(ms);
  else if (what === 'resume') to.resume();
  else if (what === 'reload') to.reload();
  else if (what === 'late message') to.take({ type: pick % 2 === 0 ? 'loaded' : 'listening', worker: pick % 20 });
  else progress(to);
}

/** Most events are not faults. */
function progress(to: FleetWorld): void {
  for (const worker of to.alive) {
    to.load(worker);
    to.listen(worker);
  }
}

/** Returns the rules that do not hold. */
function violations(of: FleetWorld): readonly string[] {
  const coming = of.in('starting', 'opening', 'serving').filter((worker) => worker !== of.leaving).length;
  const spare = of.in('loading', 'spare').length;
  const alive = of.in('loading', 'spare', 'starting', 'opening', 'serving').length;
  const replaced = of.in('draining').filter((worker) => of.replaced.has(worker)).length;
  const paused = of.pauseMs !== undefined;
  const loadsSpare = of.now >= of.startedAt + 1_000 && of.leaving === undefined;
  const rules: ReadonlyArray<readonly [string, boolean]> = [
    ['three processes more than wanted, besides those that drain', alive <= of.wanted + 3],
    ['one replaced worker drains in a limited memory', !of.limited || replaced <= 1],
    ['none is left after a stop', !of.stopped || alive === 0],
    ['the wanted number serves or starts', of.stopped || coming === of.wanted || (paused && spare === 0)],
    [
      'one spare worker or, after crashes, up to three; none loads right after the start or while one leaves',
      of.stopped || paused || (spare >= (loadsSpare ? 1 : 0) && spare <= 3),
    ],
  ];
  return [...of.faults, ...rules.filter(([, holds]) => !holds).map(([rule]) => rule)];
}

test('whatever happens, the wanted number of workers serves or starts, with one to three spare workers and one that leaves at most', () => {
  assertProperty(
    fc.property(options, fc.array(happening, { maxLength: 120 }), (of, happenings) => {
      const world = startingWorld(of);
      for (const next of happenings) {
        happen(world, next);
        if (world.gaveUp !== undefined) return;
        expect(violations(world)).toEqual([]);
      }
    }),
    { numRuns: 400 },
  );
});

test('whatever happened, all workers serve one generation soon after the last fault, and a reload has an end', () => {
  assertProperty(
    fc.property(options, fc.array(happening, { maxLength: 120 }), (of, happenings) => {
      const world = startingWorld(of);
      for (const next of happenings) happen(world, next);
      if (world.gaveUp !== undefined) return;
      for (const worker of world.processes.keys()) world.take({ type: 'heartbeat', worker, rssBytes: 0 });
      for (let round = 0; round < 20; round += 1) {
        world.settle();
        world.pass(10_000);
      }
      world.settle();
      expect(world.faults).toEqual([]);
      expect(world.reloading).toBe(false);
      expect(new Set(world.generations).size).toBe(1);
      expect([world.in('serving').length, world.in('spare').length]).toEqual([world.wanted, 1]);
      expect(world.processes.size).toBe(world.wanted + 1);
      expect(world.degraded).toBeNull();
    }),
    { numRuns: 200 },
  );
});

test('after a stop, no worker starts or listens, and every worker ends', () => {
  assertProperty(
    fc.property(
      options,
      fc.array(happening, { maxLength: 60 }),
      fc.array(happening, { maxLength: 30 }),
      (of, before, after) => {
        const world = startingWorld(of);
        for (const next of before) happen(world, next);
        if (world.gaveUp !== undefined) return;
        world.stop();
        expect(violations(world)).toEqual([]);
        for (const next of after) {
          happen(world, next);
          expect(violations(world)).toEqual([]);
        }
        world.settle();
        expect(world.processes.size).toBe(0);
      },
    ),
    { numRuns: 200 },
  );
});

test('every state can end, none is left behind by an exit, and nothing follows the end', () => {
  const states = Object.entries(LIFECYCLE) as Array<[WorkerState, (typeof LIFECYCLE)[WorkerState]]>;
  for (const [state, events] of states) {
    expect(events.exited?.[0] ?? 'gone', state).toBe('gone');
    const retired = events.retire?.[0];
    if (state !== 'gone' && state !== 'draining') expect(retired, state).toBe('draining');
  }
  expect(LIFECYCLE.gone).toEqual({});
});

test('a worker listens only after it is loaded, and serves only after the command to listen', () => {
  const events: readonly WorkerEvent[] = ['loaded', 'promote', 'listening', 'retire', 'failed', 'exited'];
  assertProperty(
    fc.property(
      fc.constantFrom<WorkerState>('loading', 'starting'),
      fc.array(fc.constantFrom(...events)),
      (first, all) => {
        let state = first;
        let loaded = false;
        let told = false;
        for (const event of all) {
          const [next, effect] = LIFECYCLE[state][event] ?? [state];
          if (event === 'loaded' && state !== 'draining' && state !== 'gone') loaded = true;
          if (effect === 'listen') {
            expect(loaded && !told).toBe(true);
            told = true;
          }
          if (next === 'serving') expect(told).toBe(true);
          state = next;
        }
      },
    ),
  );
});
