import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RawConnection } from '../server/support/raw-connection.ts';
import { TRANSPORTS } from '../server/support/transports.ts';
import { waitUntil } from '../support/load.ts';
import { startServer, type RunningServer } from '../support/running-server.ts';

/** Several milliseconds of a fast core: the calls of four connections keep the worker busy, not the test. */
const LOOPS = '{% for number in range(20000) %}{% if number < 0 %}{{ name }}{% endif %}{% endfor %}'.repeat(5);

const FILES = {
  'main.svc': `
client<llm> Quick {
  provider offline
  options { reply "done" }
}
function Work(name: string) -> string {
  client Quick
  prompt #"${LOOPS}{{ name }}"#
}
`,
};

const CONNECTIONS = 4;

describe.each(TRANSPORTS)('on %s', (transport) => {
  let running: RunningServer;

  beforeAll(async () => {
    const flags = ['--transport', transport, '--workers', '2', '--log-level', 'debug'];
    running = await startServer({ files: FILES, flags });
  });

  afterAll(() => running.stop('SIGKILL'));

  test('a busy worker that has all connections ends some of them with an answer, and no call fails', async () => {
    const connections = await connectionsOfOneWorker(running);
    const surplus = connections.length / 2;
    const ended = () => connections.filter(({ closed }) => closed).length;
    const calls = connections.map((connection) => callUntil(connection, () => ended() >= surplus));
    const statuses = await Promise.all(calls);
    expect(statuses.flat().every((status) => status === 200)).toBe(true);
    expect(ended()).toBeGreaterThanOrEqual(surplus);
    expect(running.output()).toContain('a worker hands connections over');
    for (const connection of connections) connection.end();
  });
});

/** Opens connections until one worker has enough of them, and closes the others. */
async function connectionsOfOneWorker(running: RunningServer): Promise<readonly RawConnection[]> {
  const byWorker = new Map<number, RawConnection[]>();
  for (let count = 0; ; count += 1) {
    const connection = new RawConnection(running.port);
    const id = `connection-${count}`;
    connection.write(request(id));
    await connection.answer();
    const worker = await workerOf(running, id);
    const own = [...(byWorker.get(worker) ?? []), connection];
    byWorker.set(worker, own);
    if (own.length < CONNECTIONS) continue;
    for (const other of [...byWorker.values()].flat()) if (!own.includes(other)) other.end();
    return own;
  }
}

/** The worker that logged the request. */
async function workerOf(running: RunningServer, id: string): Promise<number> {
  const line = (): string | undefined =>
    running
      .output()
      .split('\n')
      .find((each) => each.includes(`"requestId":"${id}"`) && each.endsWith('}'));
  await waitUntil('the log line', () => line() !== undefined);
  return (JSON.parse(line() ?? '{}') as { readonly worker: number }).worker;
}

/** Sends one call after another until the server ends the connection, or until `enough` holds. Returns the statuses. */
async function callUntil(connection: RawConnection, enough: () => boolean): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (let index = 1; !enough(); index += 1) {
    connection.write(request(`call-${index}`));
    const { status, headers } = await connection.answer(index);
    statuses.push(status);
    if (headers.get('connection') === 'close') {
      await connection.until(() => connection.closed);
      return statuses;
    }
  }
  return statuses;
}

function request(id: string): string {
  const body = '{"name":"Ada"}';
  const headers = [
    'Host: a',
    `X-Request-Id: ${id}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ];
  return `POST /call/Work HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n${body}`;
}
