import { afterEach, expect, test } from 'vitest';
import { runSvc, startServer, temporaryFolder, type RunningServer } from '../support/running-server.ts';
import { readStream } from '../support/sse.ts';

let server: RunningServer | undefined;
afterEach(async () => {
  await server?.stop('SIGKILL');
});

const TEMPLATES = ['resume', 'chat', 'classify', 'agent', 'rag'];

test('the commands that svc init prints work: svc dev serves every template, and the call streams its answer', async () => {
  const cwd = temporaryFolder({});
  const printed: string[] = [];
  for (const flags of [[], ...TEMPLATES.map((name) => ['--template', name])]) {
    const { code, stdout } = await runSvc(['init', ...flags], {}, cwd);
    expect(code).toBe(0);
    expect(stdout).toContain('\n  svc dev\n');
    printed.push(stdout.slice(stdout.indexOf('  curl ')));
  }
  server = await startServer({ command: 'dev', cwd });
  for (const command of printed) {
    const [, path = '', body = ''] = /localhost:2024(\S+) .* -d '(.*)'\n$/u.exec(command) ?? [];
    const { status, messages } = await readStream(`${server.url}${path}`, JSON.parse(body));
    expect(status, command).toBe(200);
    expect(messages.length).toBeGreaterThan(3);
    expect(messages.at(-1)?.data).toEqual({ final_result: expect.anything() });
  }
});
