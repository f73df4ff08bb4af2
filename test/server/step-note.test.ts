import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readStep, removeStep, StepNote } from '../../src/server/step-note.ts';

const DIRECTORY = mkdtempSync(join(tmpdir(), 'svc-steps-'));

it('the primary reads the last step that a worker noted, until a heartbeat', () => {
  const note = new StepNote(DIRECTORY, 1);
  expect(readStep(DIRECTORY, 1)).toBeUndefined();
  note.begin('First', 'request', 2_000_000);
  note.begin('Zweite Größe', 'reply', 12);
  expect(readStep(DIRECTORY, 1)).toEqual({ functionName: 'Zweite Größe', input: 'reply', size: 12 });
  note.clear();
  expect(readStep(DIRECTORY, 1)).toBeUndefined();
  note.begin('Zweite Größe', 'reply', 12);
  expect(readStep(DIRECTORY, 1)).toMatchObject({ size: 12 });
});

it('notes a step of the same function again once it is more than twice as large', () => {
  const note = new StepNote(DIRECTORY, 2);
  for (const size of [100, 150, 200, 201, 300]) note.begin('F', 'reply', size);
  expect(readStep(DIRECTORY, 2)).toMatchObject({ size: 201 });
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
  expect(readStep(nowhere, 4)).toBeUndefined();
});
