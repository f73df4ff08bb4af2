import { expect, test } from 'vitest';
import { RawConnection } from '../server/support/raw-connection.ts';
import { TRANSPORTS } from '../server/support/transports.ts';
import { startServer } from '../support/running-server.ts';
import type { AttackedServer } from './support/attacked-server.ts';
import { onBothTransports } from './support/on-both-transports.ts';

const CALL = `
client<llm> Model {
  provider openai-generic
  options {
    model slow
    base_url env.PROVIDER_URL
  }
}
function Tell(topic: string) -> string {
  client Model
  prompt #"{{ topic }}"#
}
`;
const SETUP = { files: { 'main.svc': CALL } };

const BODY = '{"topic":"a"}';
const JSON_POST = 'Host: x\r\nContent-Type: application/json';
const POST = `POST /call/Tell HTTP/1.1\r\n${JSON_POST}\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;
const STREAM = POST.replace('/call', '/stream');
const CHUNKED = `POST /call/Tell HTTP/1.1\r\n${JSON_POST}\r\nTransfer-Encoding: chunked\r\n\r\nd\r\n${BODY}\r\n0\r\n\r\n`;
const DOCS = 'GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n';

function neverAnswer(): void {}

/** No request is in flight, and no call of the model is open. */
async function isQuiet(server: AttackedServer): Promise<void> {
  await expect.poll(() => server.model.unanswered).toBe(0);
  await expect.poll(() => server.metric('svc_requests_in_flight')).toBe(0);
}

for (const [what, requests] of [
  ['5 calls', POST.repeat(5)],
  ['300 streams', STREAM.repeat(300)],
  ['a call behind a chunked one', CHUNKED + POST],
  ['a call with requests for pages behind it', POST + DOCS.repeat(20)],
] as const) {
  onBothTransports(
    `${what} in one packet end with their connection, and so do their calls of the model`,
    SETUP,
    async (server) => {
      server.model.answer(neverAnswer);
      const connections = Array.from({ length: 5 }, () => server.connect());
      for (const connection of connections) connection.write(requests);
      await server.ask('GET', '/livez');
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(server.model.unanswered).toBeLessThanOrEqual(connections.length);
      for (const connection of connections) connection.end();
      await isQuiet(server);
    },
  );
}

test.each(TRANSPORTS)(
  'requests for pages that are pipelined and never read do not hold a SIGTERM (%s)',
  async (transport) => {
    // The test ends long before the drain timeout.
    const flags = ['--transport', transport, '--drain-timeout', '1h'];
    const server = await startServer({ files: SETUP.files, flags });
    const connections = Array.from({ length: 10 }, () => new RawConnection(server.port));
    try {
      for (const [index, connection] of connections.entries()) {
        if (index % 2 === 0) connection.socket.pause();
        connection.write(DOCS.repeat(50));
      }
      // A client that reads gets the first page, or the end of its connection.
      await connections[1]?.until(() => connections[1]?.closed === true || connections[1]?.text !== '');
      expect(await server.stop('SIGTERM')).toBe(0);
    } finally {
      for (const connection of connections) connection.end();
    }
  },
);
