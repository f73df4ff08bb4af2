import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, type TestContext } from 'vitest';
import { RawConnection } from '../server/support/raw-connection.ts';
import { success } from '../server/support/scripted-runtime.ts';
import { startServer } from '../server/support/test-server.ts';
import { listenOn, TRANSPORTS } from '../server/support/transports.ts';
import { until } from '../server/support/until.ts';

// uWebSockets.js closes silent connections after 8 to 12 seconds of its own clock, which no test can move. These tests wait
// for it concurrently, and check only the data that arrives.

/** Longer than the timers of the libraries. */
const LONGER_MS = 15_000;

/** More than the kernel accepts at once. */
const BIG = 'x'.repeat(12_000_000);

type Finished = TestContext['onTestFinished'];

function connectTo(port: number, onTestFinished: Finished): RawConnection {
  const connection = new RawConnection(port);
  onTestFinished(() => connection.end());
  return connection;
}

it.concurrent.for(TRANSPORTS)(
  'answers a stalled body with a timeout before the library cuts it (%s)',
  async (name, { onTestFinished }) => {
    const { port, transport } = await listenOn(name, (request, response) => {
      request.readBody(1_000, (outcome) => response.send(408, [], outcome.kind));
    });
    onTestFinished(() => transport.close());
    const connection = connectTo(port, onTestFinished);
    connection.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhel');
    const answer = await connection.answer();
    expect([answer.status, answer.body]).toEqual([408, 'timeout']);
    await connection.until(() => connection.closed);
  },
);

it.concurrent.for(TRANSPORTS)(
  'answers request_timeout in the form of every other error (%s)',
  async (name, { onTestFinished }) => {
    const server = await startServer(name);
    onTestFinished(() => server.close());
    const connection = connectTo(server.port, onTestFinished);
    connection.write(
      'POST /call/Greet HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
    );
    const answer = await connection.answer();
    expect(answer.status).toBe(408);
    const problem = JSON.parse(answer.body) as Record<string, unknown>;
    expect(problem).toMatchObject({ error: 'request_timeout', request_id: answer.headers.get('x-request-id') });
    expect(String(problem['message'])).toMatch(/^\S.*\.$/);
    await connection.until(() => connection.closed);
  },
);

it.concurrent.for(TRANSPORTS)(
  'closes an idle connection after a large answer as after a small one (%s)',
  async (name, { onTestFinished }) => {
    const { port, transport } = await listenOn(name, (_, response) => response.send(200, [], BIG), {
      keepAliveTimeoutMs: 300,
    });
    onTestFinished(() => transport.close());
    const connection = connectTo(port, onTestFinished);
    connection.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await connection.until(() => connection.closed);
    expect(connection.received.length).toBeGreaterThan(BIG.length);
  },
);

it.concurrent.for(TRANSPORTS)(
  'waits for a reader that takes nothing, longer than the libraries do (%s)',
  async (name, { onTestFinished }) => {
    const server = await startServer(name, { partialIntervalMs: 0 });
    onTestFinished(() => server.close());
    const readers = [connectTo(server.port, onTestFinished), connectTo(server.port, onTestFinished)];
    for (const reader of readers) {
      reader.write(
        'POST /stream/Greet HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}',
      );
      reader.socket.pause();
    }
    await until(() => server.runtime.streams.length === 2);
    const [open, ended] = server.runtime.streams;
    if (open === undefined || ended === undefined) throw new Error('no stream');
    for (let turn = 0; turn < 40; turn += 1) {
      for (const stream of [open, ended]) stream.grow(`${turn}${'x'.repeat(500_000)}`);
      await sleep(2);
    }
    ended.observer.ended(success('all'));
    await sleep(LONGER_MS);
    expect(open.context.cancellation.cancelled).toBe(false);
    for (const reader of readers) reader.socket.resume();
    open.observer.ended(success('all'));
    for (const reader of readers) {
      await reader.until(() => reader.text.endsWith('data: {"final_result":"all"}\n\n\r\n0\r\n\r\n'));
    }
  },
);
