import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { TRANSPORTS } from '../server/support/transports.ts';
import { freePort } from '../support/free-port.ts';
import { HI_FUNCTION } from '../support/hi-function.ts';
import { waitUntil } from '../support/load.ts';
import { runSvc, startServer, temporaryFolder } from '../support/running-server.ts';
import { onBothTransports } from './support/on-both-transports.ts';

const FILES = { 'main.svc': HI_FUNCTION };

const NOBODY = 65_534;

/** Only root can start a process of another user. */
const isRoot = process.platform === 'linux' && process.geteuid?.() === 0;

test.runIf(isRoot).each(TRANSPORTS)(
  'another user who holds the names of port claims does not keep svc from a port, and a second svc is still refused (%s)',
  async (transport) => {
    const port = String(await freePort());
    const names = ['0.0.0.0', '127.0.0.1', '::'].map((host) => JSON.stringify(`\0svc-${host}-${port}`));
    const hold = `for (const name of [${names.join()}]) require('node:net').createServer().listen(name); console.log('held')`;
    const squatter = spawn(process.execPath, ['-e', hold], { uid: NOBODY, gid: NOBODY, cwd: '/' });
    await once(squatter.stdout, 'data');
    const flags = ['--transport', transport, '--port', port];
    const server = await startServer({ files: FILES, flags });
    try {
      expect((await fetch(`${server.url}/livez`)).status).toBe(200);
      const second = await runSvc(['serve', '--from', temporaryFolder(FILES), ...flags]);
      expect([second.code, second.stderr]).toEqual([1, expect.stringContaining(`Failed to bind to port ${port}`)]);
    } finally {
      squatter.kill('SIGKILL');
      await server.stop('SIGKILL');
    }
  },
);

onBothTransports('without a password, the log states what anyone can do and what to set', {}, async (server) => {
  // The log is written after the start line.
  await waitUntil('the warnings', () => server.output.includes('--client-registry known or off'));
  expect(server.output).toContain('anyone who can reach this server can call every function');
  expect(server.output).toContain('anyone who can reach this server can make svc send requests to any public address');
  expect(server.output).toContain('Set SVC_PASSWORD');
});
