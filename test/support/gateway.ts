import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { waitUntil } from './load.ts';
import { temporaryFolder } from './running-server.ts';

/** A program that forwards requests to servers. */
export interface Gateway {
  readonly url: string;
  stop(): Promise<void>;
}

export interface GatewayProgram {
  readonly name: string;
  readonly program: string;
  /** The path of the configuration follows them. */
  readonly flags: readonly string[];
}

export const NGINX: GatewayProgram = { name: 'nginx', program: '/usr/sbin/nginx', flags: ['-c'] };
export const HAPROXY: GatewayProgram = { name: 'HAProxy', program: '/usr/sbin/haproxy', flags: ['-db', '-f'] };
export const CADDY: GatewayProgram = {
  name: 'Caddy',
  program: '/usr/bin/caddy',
  flags: ['run', '--adapter', 'caddyfile', '--config'],
};
export const APACHE: GatewayProgram = { name: 'Apache', program: '/usr/sbin/apache2', flags: ['-DFOREGROUND', '-f'] };

/**
 * Starts a gateway with this configuration, in which `LISTEN` becomes its address and `FOLDER` a folder for its files. Resolves when a
 * server behind it is ready.
 */
export async function startGateway({ name, program, flags }: GatewayProgram, configuration: string): Promise<Gateway> {
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const folder = temporaryFolder({});
  const placed = (text: string): string =>
    text.replaceAll('FOLDER', folder).replaceAll('LISTEN', address).replaceAll('PORT', String(port));
  const file = join(folder, 'gateway.conf');
  writeFileSync(file, placed(configuration));
  // Caddy saves its configuration there.
  const env = { ...process.env, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder };
  const child = spawn(program, [...flags.map(placed), file], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const url = `http://${address}`;
  const output = outputOf(child);
  await waitUntil(`${name} to answer`, () => answers(url)).catch((error: unknown) => {
    child.kill('SIGKILL');
    throw new Error(output(), { cause: error });
  });
  return {
    url,
    stop: async () => {
      const closed = once(child, 'close');
      child.kill('SIGTERM');
      await closed;
    },
  };
}

function outputOf(child: ChildProcess): () => string {
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return () => output;
}

function answers(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`).then(
    (response) => response.ok,
    () => false,
  );
}
