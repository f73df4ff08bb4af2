import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { TRANSPORTS } from '../server/support/transports.ts';
import { waitUntil } from '../support/load.ts';
import { startServer } from '../support/running-server.ts';

/** More than the system accepts from a server whose client reads nothing. */
const REPLY = 'x'.repeat(12_000_000);

/** Answers of the model that the test controls. */
const answers: (() => void)[] = [];

const provider = createServer((request, response) => {
  request.resume();
  const choices = [{ index: 0, message: { role: 'assistant', content: REPLY }, finish_reason: 'stop' }];
  answers.push(() => response.end(JSON.stringify({ id: 'c', object: 'chat.completion', choices })));
}).listen(0, '127.0.0.1');
await once(provider, 'listening');
afterAll(() => provider.close());

const FUNCTION = `
client<llm> Large {
  provider openai-generic
  options {
    base_url "http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1"
    api_key "none"
    model "m"
  }
}
function Tell(about: string) -> string {
  client Large
  prompt #"Tell about {{ about }}"#
}
`;

test.each(TRANSPORTS)('a drain waits for an answer that its caller receives slowly (%s)', async (transport) => {
  const server = await startServer({
    files: { 'a.svc': FUNCTION },
    flags: ['--workers', '1', '--transport', transport],
  });
  const socket = connect(server.port, '127.0.0.1');
  let received = 0;
  socket.on('data', (chunk) => (received += chunk.length));
  const body = '{"about":"x"}';
  socket.write(
    `POST /call/Tell HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await waitUntil('the request of the model', () => answers.length > 0);
  const code = server.stop('SIGTERM');
  socket.pause();
  answers.pop()?.();
  await sleep(3_000);
  socket.resume();
  await once(socket, 'close');
  expect(received).toBeGreaterThan(REPLY.length);
  expect(await code).toBe(0);
});
