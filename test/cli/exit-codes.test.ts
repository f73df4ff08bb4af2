import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { ROOT } from '../architecture/source-files.ts';
import { describedTable } from '../docs/generated-section.ts';
import { blocksOf } from '../support/documented-page.ts';
import { freePort } from '../support/free-port.ts';
import { inEmptyDirectory, svc } from './command-line.ts';

/** Runs a command line for every exit code in docs/cli.md. */
const PAGE = readFileSync(join(ROOT, 'docs/cli.md'), 'utf8');

/** The commands of which the page has an example. */
const COMMANDS = blocksOf(PAGE).map(({ code }) => code.split(' ')[1]?.trim() ?? '');

const ONE = `function F() -> string {
  client C
  prompt #"hi"#
}
client<llm> C {
  provider offline
  options {
    reply "no"
  }
}
test T {
  functions [F]
  args {}
  @@assert({{ this == "yes" }})
}
`;

/** Command lines that exit with 1, one for each reason in the table, and a part of what they report. On `PORT`, nothing listens. */
const FAILURES = [
  ['init', 'init', 'already exists, so svc wrote nothing'],
  ['check', 'check broken', 'broken/main.svc:1'],
  ['check', 'check missing', '"missing" does not exist'],
  ['test', 'test', '@@assert does not hold'],
  ['fmt', 'fmt broken', 'broken/main.svc:1'],
  ['fmt', 'fmt --check unformatted', 'not formatted: unformatted/main.svc'],
  ['mcp', 'mcp broken', 'broken/main.svc:1'],
  [
    'keys',
    'keys create a --keys missing/keys.yaml',
    '"missing/keys.yaml" cannot be written: its directory does not exist',
  ],
  ['healthcheck', 'healthcheck --port PORT', 'ECONNREFUSED'],
  ['logs', 'logs missing.log', '"missing.log" cannot be read: it does not exist'],
  ['logs', 'logs .', '"." cannot be read: it is a directory'],
  ['calls', 'calls list', '".svc/calls.db" does not exist'],
  ['batch', 'batch F --in rows.jsonl --out answers.jsonl', '1 failed'],
  ['openapi', 'openapi broken', 'broken/main.svc:1'],
  ['types', 'types broken', 'broken/main.svc:1'],
  ['types', 'types --out missing/svc.d.ts', '"missing/svc.d.ts" cannot be written: its directory does not exist'],
] as const;

/**
 * test/e2e/refuses-to-start.test.ts starts the first two: from the sources, each start of their compile thread takes seconds. The
 * language server ends its process, so test/e2e/lsp.test.ts starts it.
 */
const SERVERS = ['dev', 'lsp', 'serve'];

inEmptyDirectory();

beforeEach(() => {
  for (const name of ['svc_src', 'broken', 'unformatted']) mkdirSync(name);
  writeFileSync('svc_src/main.svc', ONE);
  writeFileSync('rows.jsonl', '{"unknown": 1}\n');
  writeFileSync('broken/main.svc', 'function {');
  writeFileSync('unformatted/main.svc', ONE.replace('  client C', 'client    C'));
});

test('the table of exit codes lists every command that can fail', () => {
  const names = [...new Set([...SERVERS, ...FAILURES.map(([name]) => name)])];
  const rows = names.map((name) => [`\`${name}\``]);
  const table = describedTable('docs/cli.md', 'exit codes', ['command', '0', '1'], rows);
  expect(table.actual, 'run the tests with UPDATE_DOCS=1').toBe(table.expected);
  expect(COMMANDS.toSorted()).toEqual([...names, 'help'].toSorted());
});

test.each(FAILURES)('svc %s exits with 1 where the page states it: svc %s', async (_, line, report) => {
  const args = line.replace('PORT', String(await freePort())).split(' ');
  const { code, out, error } = await svc(...args);
  expect(code).toBe(1);
  expect(`${out}${error}`).toContain(report);
});

test.each(COMMANDS)('svc %s exits with 2 for an unknown flag', async (name) => {
  expect((await svc(name, '--nope')).code).toBe(2);
});

test('svc test exits with 2 if no test ran, and every command for a variable with a wrong value', async () => {
  expect((await svc('test', 'broken')).code).toBe(2);
  expect((await svc('types', '--watch')).code).toBe(2);
  vi.stubEnv('SVC_PORT', 'x');
  expect((await svc('check')).code).toBe(2);
  vi.unstubAllEnvs();
});
