import { afterAll, expect, test } from 'vitest';
import { HI_FUNCTION } from '../support/hi-function.ts';
import { startServer, temporaryFolder, type RunningServer, type ServerOptions } from '../support/running-server.ts';

const BAML_PROJECT = { 'baml_src/clients.baml': HI_FUNCTION, 'notes.txt': 'nothing' };

const servers: RunningServer[] = [];
afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop('SIGKILL')));
});

async function outputOf(options: ServerOptions): Promise<string> {
  const server = await startServer({ ...options, flags: ['--workers', '1', ...(options.flags ?? [])] });
  servers.push(server);
  // After a reload, the log contains everything that a start writes.
  server.child.kill('SIGHUP');
  await until(() => server.output().includes('the definitions did not change'));
  return server.output();
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10));
}

const HINT = /for callers of BAML's server: stream events are wrapped .* docs\/migrating-from-baml\.md/gu;

test('in a BAML project, svc serves ./baml_src, names it in the start line, and lists once what differs for callers', async () => {
  const output = await outputOf({ cwd: temporaryFolder(BAML_PROJECT) });
  expect(output).toMatch(/listening on http:\/\/0\.0\.0\.0:\d+ \(1 function from "baml_src", /u);
  expect(output.match(HINT)).toHaveLength(1);
});

test('with the root of a project as the argument, svc serves the directory inside it', async () => {
  const root = temporaryFolder(BAML_PROJECT);
  const output = await outputOf({ cwd: root, flags: [root] });
  expect(output).toContain(`1 function from "${root}/baml_src"`);
});

test('if both directories exist, svc serves ./svc_src, and does not mention BAML', async () => {
  const output = await outputOf({ cwd: temporaryFolder({ ...BAML_PROJECT, 'svc_src/a.svc': HI_FUNCTION }) });
  expect(output).toContain('1 function from "svc_src"');
  expect(output).not.toMatch(HINT);
});
