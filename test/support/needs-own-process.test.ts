import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { needsOwnProcess } from './needs-own-process.ts';

const TESTS = fileURLToPath(new URL('..', import.meta.url));

const needs = (path: string): boolean => needsOwnProcess(join(TESTS, path));

test('files that count steps or timers, change flags or replace modules have their own process, and others share one', () => {
  expect(needs('support/count-steps.test.ts')).toBe(true);
  expect(needs('runtime/model/body-buffer.test.ts')).toBe(true);
  expect(needs('server/supervisor.test.ts')).toBe(true);
  expect(needs('base/json.test.ts')).toBe(false);
});

test('a helper that would need its own process is one that the rule knows by its name', () => {
  const helpers = readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !path.includes('node_modules'))
    .filter(needs);
  expect(helpers.toSorted()).toEqual(['support/count-steps.ts']);
});
