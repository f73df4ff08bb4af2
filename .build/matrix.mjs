// Runs the tests on versions of Node, and prints a table: node .build/matrix.mjs [--node 24]... [--suite unit]... [filter of vitest]...
// test/package installs the versions: npm ci --ignore-scripts --prefix test/package. The suites `unit` and `attacks` run over both transports
// by themselves; the end-to-end tests run once with each transport as the default. Build first.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const installed = join(root, 'test/package/node_modules');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { node: { type: 'string', multiple: true }, suite: { type: 'string', multiple: true } },
});

/** Suites with the transport that svc takes by default in them; undefined where the tests choose it. */
const SUITES = [
  { suite: 'unit' },
  { suite: 'attacks' },
  { suite: 'clock', filter: 'faults' },
  { suite: 'e2e', transport: 'uws' },
  { suite: 'e2e', transport: 'node' },
];

const versions = existsSync(installed) ? readdirSync(installed).filter((name) => /^node-\d+$/u.test(name)) : [];
if (versions.length === 0) throw new Error('no version of Node: npm ci --ignore-scripts --prefix test/package');
const majors = versions
  .map((name) => name.slice('node-'.length))
  .filter((major) => values.node?.includes(major) ?? true);

const folder = mkdtempSync(join(tmpdir(), 'svc-matrix-'));
const rows = [];
for (const major of majors.toSorted()) {
  const node = join(installed, `node-${major}`, 'bin/node');
  const hasBinary = existsSync(join(root, `dist/node_modules/svc-functions-uws-linux-x64-${abiOf(node)}`));
  for (const cell of SUITES.filter(({ suite }) => values.suite?.includes(suite) ?? true)) {
    if (cell.transport === 'uws' && !hasBinary) rows.push([major, cell.suite, 'uws', 'no binary', '', '']);
    else rows.push([major, cell.suite, cell.transport ?? 'both', ...counts(node, cell)]);
  }
}
rmSync(folder, { recursive: true });

console.log('| Node | suite | transport | passed | failed | skipped |\n|---|---|---|---|---|---|');
for (const row of rows) console.log(`| ${row.join(' | ')} |`);
process.exitCode = rows.some(([, , , , failed]) => failed > 0) ? 1 : 0;

function abiOf(node) {
  return spawnSync(node, ['-p', 'process.versions.modules'], { encoding: 'utf8' }).stdout.trim();
}

/** The numbers of tests that passed, failed and did not run in a cell. */
function counts(node, { suite, filter, transport }) {
  const report = join(folder, 'report.json');
  const filters = positionals.length > 0 ? positionals : filter === undefined ? [] : [filter];
  const flags = ['--project', suite, '--reporter', 'default', '--reporter', 'json', '--outputFile', report];
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const { status } = spawnSync(node, [vitest, 'run', '--config', 'test/vitest.config.ts', ...flags, ...filters], {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...process.env,
      PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
      ...(transport !== undefined && { SVC_TRANSPORT: transport }),
    },
  });
  if (!existsSync(report)) return ['', 1, ''];
  const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(report, 'utf8'));
  rmSync(report);
  // An error outside of the tests fails the run too.
  return [numPassedTests, status === 0 ? numFailedTests : Math.max(1, numFailedTests), numPendingTests];
}
