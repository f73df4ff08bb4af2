import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { ONLY_PROGRESS } from '../support/batch-rows.ts';
import { dataDefinitions } from '../support/data-definitions.ts';
import { startFakeProvider } from '../support/fake-provider.ts';
import { runSvc, temporaryFolder } from '../support/running-server.ts';

const ROWS = 200;
const FORMATS = ['pretty', 'json', 'junit', 'csv', 'html'] as const;
const COMPARED = [
  'test',
  '--data',
  'rows.csv',
  '--function',
  'Read',
  '--client',
  'A',
  '--client',
  'B',
  '--judge',
  'Grade',
];

/** A is wrong about the ages that 10 divides, and B about those that 25 divides. */
const AGES = {
  a: (age: number) => (age % 10 === 0 ? age + 1 : age),
  b: (age: number) => (age % 25 === 0 ? age + 1 : age),
};

function rows(): string {
  const lines = Array.from(
    { length: ROWS },
    (_, row) => `t-${row},"P${row % 7}, ${100 + row}",P${row % 7},${100 + row}\n`,
  );
  return `id,text,expected.name,expected.age\n${lines.join('')}`;
}

interface Report {
  readonly variants: ReadonlyArray<{ readonly passed: number; readonly interval: readonly [number, number] }>;
  readonly comparisons: ReadonlyArray<{
    readonly p: number;
    readonly better: readonly string[];
    readonly worse: readonly string[];
  }>;
  readonly rows: ReadonlyArray<{ readonly id: string }>;
}

test('200 rows with two clients are recorded, and every report of a replay without a provider is the same', async () => {
  const provider = await startFakeProvider();
  const cwd = temporaryFolder({ 'svc_src/main.svc': dataDefinitions(provider, 'e2e', AGES), 'rows.csv': rows() });
  const recorded = await runSvc(
    [...COMPARED, '--record', 'replies', '--format', 'json'],
    { FAKE_KEY: 'key-of-e2e-0123' },
    cwd,
  );
  expect(recorded).toMatchObject({ code: 1, stderr: ONLY_PROGRESS });
  const calls = provider.requests.length;
  expect(calls).toBeGreaterThan(2 * ROWS);
  expect(readdirSync(join(cwd, 'replies'))).toHaveLength(calls);
  await provider.close();

  const replay = async (format: string, parallel: string) => {
    const args = [...COMPARED, '--replay', 'replies', '--parallel', parallel, '--format', format];
    const ended = await runSvc(args, {}, cwd);
    expect(ended).toMatchObject({ code: 1, stderr: ONLY_PROGRESS });
    return ended.stdout;
  };
  const reports = await Promise.all(FORMATS.map((format) => replay(format, '1')));
  // Another order of the calls changes nothing.
  expect(await replay('json', '50')).toBe(reports[1]);
  expect(await replay('html', '50')).toBe(reports[4]);

  const [pretty = '', json = '', junit = '', csv = '', html = ''] = reports;
  expect(json).toBe(recorded.stdout);
  const { variants, comparisons, rows: all } = JSON.parse(json) as Report;
  expect(variants.map(({ passed }) => passed)).toEqual([180, 192]);
  expect(variants[0]?.interval.map((share) => share.toFixed(4))).toEqual(['0.8506', '0.9343']);
  // B is right about the 16 ages that only 10 divides, and wrong about the 4 that only 25 divides.
  expect(comparisons.map(({ better, worse, p }) => [better.length, worse.length, p.toFixed(4)])).toEqual([
    [16, 4, '0.0118'],
  ]);
  expect(all.map(({ id }) => id)).toEqual(Array.from({ length: ROWS }, (_, row) => `t-${row}`));
  expect(pretty).toContain('B compared with A: 16 rows better, 4 worse, 180 the same; +6.0 points, p = 0.012');
  expect(junit.match(/<testcase /gu)).toHaveLength(2 * ROWS);
  expect(parse(csv, { columns: true })).toHaveLength(2 * ROWS);
  expect(html.match(/<tr id="row-/gu)).toHaveLength(ROWS);
});

test('the replies of another version of the definitions are recorded apart', async () => {
  const provider = await startFakeProvider();
  const cwd = temporaryFolder({
    'svc_src/main.svc': dataDefinitions(provider, 'now', AGES),
    'rows.csv': rows().split('\n').slice(0, 31).join('\n'),
  });
  mkdirSync(join(cwd, 'before'));
  const before = dataDefinitions(provider, 'before', { a: (age) => age + 1, b: (age) => age });
  writeFileSync(join(cwd, 'before/main.svc'), before);
  const args = ['test', '--data', 'rows.csv', '--function', 'Read', '--against', 'before', '--format', 'json'];
  const recorded = await runSvc(
    [...args, '--record', 'replies', '--pass-rate', '90%'],
    { FAKE_KEY: 'key-of-e2e-0123' },
    cwd,
  );
  expect(recorded).toMatchObject({ code: 0, stderr: ONLY_PROGRESS });
  await provider.close();
  const replayed = await runSvc([...args, '--replay', 'replies', '--pass-rate', '90%'], {}, cwd);
  expect(replayed.stdout).toBe(recorded.stdout);
  expect((JSON.parse(replayed.stdout) as Report).variants.map(({ passed }) => passed)).toEqual([0, 27]);
});
