import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { inEmptyDirectory, svc } from './command-line.ts';

inEmptyDirectory();

/** Runs `use` while a server answers every request with `status`. */
async function withServer(
  status: number,
  use: (port: string, paths: readonly string[]) => Promise<void>,
): Promise<void> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    response.writeHead(status).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  await use(String((server.address() as AddressInfo).port), paths);
  server.close();
}

test('a server that answers /livez is healthy', async () => {
  await withServer(200, async (port, paths) => {
    expect(await svc('healthcheck', '--port', port)).toEqual({ code: 0, out: '', error: '' });
    expect(await svc('healthcheck', '--port', port, '--base-path', '/llm')).toMatchObject({ code: 0 });
    expect(paths).toEqual(['/livez', '/llm/livez']);
  });
});

test('a server that answers with another status is not healthy', async () => {
  await withServer(503, async (port) => {
    const { code, error } = await svc('healthcheck', '--port', port);
    expect(code).toBe(1);
    expect(error).toBe(`svc: http://127.0.0.1:${port}/livez is not healthy: it answered with status 503\n`);
  });
});
