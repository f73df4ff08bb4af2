import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fullName } from '../../../src/dev/testing/test-results.ts';
import { selectsAll, selectTests, type TestSelection } from '../../../src/dev/testing/select-tests.ts';
import type { TestType } from '../../../src/schema/program.ts';

function testOf(name: string, functions: readonly string[], file: string): TestType {
  return { name, functions, span: { file, start: 0, end: 1 }, args: [], constraints: [], buildsTypes: false };
}

const TESTS = [
  testOf('Short', ['Extract'], 'svc_src/resume.svc'),
  testOf('Long', ['Extract', 'Summarize'], 'svc_src/resume.svc'),
  testOf('Short', ['Classify'], 'svc_src/tickets/main.svc'),
  testOf('NoFunction', [], 'svc_src/tickets/main.svc'),
];
const ALL: TestSelection = { functions: [], names: [], include: [], exclude: [], paths: [] };

function selected(selection: Partial<TestSelection>): readonly string[] {
  return selectTests(TESTS, { ...ALL, ...selection }).map(fullName);
}

test('without a selection, every test runs once for each of its functions', () => {
  expect(selected({})).toEqual([
    'Extract::Short',
    'Extract::Long',
    'Summarize::Long',
    'Classify::Short',
    '::NoFunction',
  ]);
  expect(selectsAll(ALL)).toBe(true);
  expect(selectsAll({ ...ALL, paths: ['svc_src'] })).toBe(false);
});

test.each<[Partial<TestSelection>, readonly string[]]>([
  [{ functions: ['Extract'] }, ['Extract::Short', 'Extract::Long']],
  [{ functions: ['*a*'] }, ['Extract::Short', 'Extract::Long', 'Summarize::Long', 'Classify::Short']],
  [{ functions: ['extract'] }, []],
  [{ names: ['Short'] }, ['Extract::Short', 'Classify::Short']],
  [{ names: ['L*', 'No*'] }, ['Extract::Long', 'Summarize::Long', '::NoFunction']],
  [{ names: ['Sh.rt'] }, []],
  [{ functions: ['Extract'], names: ['Long'] }, ['Extract::Long']],
  [{ include: ['Extract::Long'] }, ['Extract::Long']],
  [{ include: ['Extract::'] }, ['Extract::Short', 'Extract::Long']],
  [{ include: ['::Short'] }, ['Extract::Short', 'Classify::Short']],
  [{ include: ['*ize::*', 'Classify'] }, ['Summarize::Long', 'Classify::Short']],
  [{ include: ['Long'] }, ['Extract::Long', 'Summarize::Long']],
  [{ exclude: ['Extract::'] }, ['Summarize::Long', 'Classify::Short', '::NoFunction']],
  [{ include: ['Extract::'], exclude: ['::Long'] }, ['Extract::Short']],
  [{ paths: ['svc_src/tickets'] }, ['Classify::Short', '::NoFunction']],
  [{ paths: [join(process.cwd(), 'svc_src/resume.svc')] }, ['Extract::Short', 'Extract::Long', 'Summarize::Long']],
  [{ paths: ['svc_src/tick'] }, []],
])('%j selects %j', (selection, expected) => {
  expect(selected(selection)).toEqual(expected);
});
