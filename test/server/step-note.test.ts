import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readSteps, removeStep, StepNote } from '../../src/server/step-note.ts';

const DIRECTORY = mkdtempSync(join(tmpdir(), 'svc-steps-'));

it('the primary reads the last step that a worker noted, until a heartbeat', () => {
  const note = new StepNote(DIRECTORY, 1);
  expect(readSteps(DIRECTORY, 1)).toEqual([]);
  note.begin('First', 'request', 2_000_000);
  note.begin('Zweite Größe', 'reply', 12);
  expect(readSteps(DIRECTORY, 1)[0]).toEqual({ functionName: 'Zweite Größe', input: 'reply', size: 12 });
  note.clear();
  expect(readSteps(DIRECTORY, 1)).toEqual([]);
  note.begin('Zweite Größe', 'reply', 12);
  expect(readSteps(DIRECTORY, 1)).toMatchObject([{ size: 12 }]);
});

it('notes a step of the same function again once it is more than twice as large', () => {
  const note = new StepNote(DIRECTORY, 2);
  for (const size of [100, 150, 200, 201, 300]) note.begin('F', 'reply', size);
  expect(readSteps(DIRECTORY, 2)).toMatchObject([{ size: 201 }]);
});

/** The functions in the note, and the number of times that it was written. */
function notes(pid: number, steps: readonly (readonly [functionName: string, size: number])[]) {
  const note = new StepNote(DIRECTORY, pid);
  let last = '';
  let writes = 0;
  for (const [functionName, size] of steps) {
    note.begin(functionName, 'reply', size);
    const now = JSON.stringify(readSteps(DIRECTORY, pid));
    if (now !== last) writes += 1;
    last = now;
  }
  return { writes, functions: readSteps(DIRECTORY, pid).map(({ functionName }) => functionName) };
}

it('small steps of functions that take turns cost one write per function', () => {
  const steps = Array.from({ length: 1000 }, (_, at) => [`F${at % 5}`, 300] as const);
  expect(notes(5, steps)).toEqual({ writes: 5, functions: ['F4', 'F3', 'F2', 'F1', 'F0'] });
});

it('a large step is noted if the last note is of another function', () => {
  const steps = [
    ['Large', 5000],
    ['Small', 10],
    ['Large', 5000],
    ['Small', 12],
    ['Large', 5000],
  ] as const;
  expect(notes(6, steps)).toEqual({ writes: 3, functions: ['Large', 'Small'] });
});

it('a note names at most eight functions, and the newest one whatever the length of its name', () => {
  const long = 'L'.repeat(5000);
  const steps = [...Array.from({ length: 20 }, (_, at) => [`F${at}`, 10] as const), [long, 10] as const];
  const { functions } = notes(7, steps);
  expect(functions).toHaveLength(1);
  expect(long.startsWith(functions[0] ?? 'none')).toBe(true);
  expect(notes(8, steps.slice(0, -1)).functions).toHaveLength(8);
});

it('the note of a worker that ended can be removed, even twice', () => {
  new StepNote(DIRECTORY, 3).begin('F', 'request', 1);
  removeStep(DIRECTORY, 3);
  removeStep(DIRECTORY, 3);
  expect(readdirSync(DIRECTORY)).not.toContain('step-3');
});

it('without a directory, there are no notes and no error', () => {
  const nowhere = join(DIRECTORY, 'nowhere');
  new StepNote(nowhere, 4).begin('F', 'request', 1);
  expect(readSteps(nowhere, 4)).toEqual([]);
});
