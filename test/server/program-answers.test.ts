import { expect, test } from 'vitest';
import { silentLogger } from '../../src/logging/logger.ts';
import { ok } from '../../src/base/result.ts';
import type { TypeOutcome, TypeRefusal } from '../../src/schema/type-extension.ts';
import { TypeCompilations, WAITING_TYPES } from '../../src/server/program-answers.ts';

const OUTCOME: TypeOutcome = ok({ extension: '{}' });

/** The primary's answers with a thread that compiles when `finish` is called. */
class World {
  readonly waiting: Array<(outcome: TypeOutcome | undefined) => void> = [];
  readonly #types: TypeCompilations;

  constructor(callerShare: number) {
    const program = {
      validators: () => Promise.resolve(''),
      types: () => new Promise<TypeOutcome | undefined>((resolve) => void this.waiting.push(resolve)),
    };
    this.#types = new TypeCompilations(new Map([[1, program]]), silentLogger, callerShare);
  }

  ask(builder: string, caller?: string): Promise<TypeOutcome | TypeRefusal> {
    return this.#types.compile(1, { functionName: 'F', builder }, caller);
  }

  finish(): void {
    for (const resolve of this.waiting.splice(0)) resolve(OUTCOME);
  }

  refuse(): void {
    for (const resolve of this.waiting.splice(0)) resolve(undefined);
  }
}

test('one caller gets its share of the requests that wait for types, and others get the rest', async () => {
  const world = new World(0.25);
  const share = WAITING_TYPES / 4;
  const own = Array.from({ length: share }, (_, at) => world.ask(`${at}`, 'a'));
  expect(await world.ask('more', 'a')).toBe('share');
  const others = [world.ask('b', 'b'), world.ask('c', 'c')];
  expect(world.waiting).toHaveLength(share + 2);
  world.finish();
  expect(await Promise.all([...own, ...others])).toEqual(Array.from({ length: share + 2 }, () => OUTCOME));
  const again = world.ask('more', 'a');
  expect(world.waiting).toHaveLength(1);
  world.finish();
  expect(await again).toBe(OUTCOME);
});

test('requests for types that are being compiled wait for them, and take nothing from a share', async () => {
  const world = new World(1 / WAITING_TYPES);
  const asked = [world.ask('x', 'a'), world.ask('x', 'a'), world.ask('x', 'b')];
  expect(await world.ask('y', 'a')).toBe('share');
  const other = world.ask('y', 'b');
  expect(world.waiting).toHaveLength(2);
  world.finish();
  expect(await Promise.all([...asked, other])).toEqual([OUTCOME, OUTCOME, OUTCOME, OUTCOME]);
});

test('a caller whose types were not compiled gets its places back', async () => {
  const world = new World(1 / WAITING_TYPES);
  const first = world.ask('x', 'a');
  world.refuse();
  expect(await first).toBe('full');
  const second = world.ask('y', 'a');
  world.finish();
  expect(await second).toBe(OUTCOME);
});
