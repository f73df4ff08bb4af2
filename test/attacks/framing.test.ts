import { expect } from 'vitest';
import { FRAMING_ROWS } from '../server/support/framing-rows.ts';
import { onBothTransports } from './support/on-both-transports.ts';

const CALL = `
client<llm> Model {
  provider openai-generic
  options {
    model hidden
    base_url env.PROVIDER_URL
  }
}
function Tell(topic: string) -> string {
  client Model
  prompt #"{{ topic }}"#
}
`;

const BODY = '{"topic":"a"}';
const SMUGGLED = `POST /call/Tell HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`;

for (const [when, latency] of [
  ['in the same packet', undefined],
  ['in a later packet', 100],
] as const) {
  onBothTransports(
    `calls after ${FRAMING_ROWS.length} requests with broken framing never run, ${when}`,
    { files: { 'main.svc': CALL } },
    async (server) => {
      for (const { bytes } of FRAMING_ROWS) {
        const connection = server.connect();
        connection.socket.setNoDelay(true);
        if (latency === undefined) connection.write(bytes + SMUGGLED);
        else {
          connection.write(bytes);
          setTimeout(() => connection.socket.destroyed || connection.write(SMUGGLED), latency);
        }
      }
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      expect(server.model.requests).toEqual([]);
      await server.ask('GET', '/livez');
      expect(server.model.requests).toEqual([]);
    },
  );
}

onBothTransports(
  'ten variants of a call whose end is not certain never run',
  { files: { 'main.svc': CALL } },
  async (server) => {
    const head = 'POST /call/Tell HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
    const lines = [
      `: y\r\nContent-Length: ${BODY.length}`,
      `Content-Length: ${BODY.length}\r\nContent-Length: ${BODY.length}`,
      `Content-Length: ${BODY.length}, ${BODY.length}`,
      `Content-Length: ${BODY.length}\r\nTransfer-Encoding: chunked`,
      `Content-Length : ${BODY.length}`,
      `Content-Length:\r\n ${BODY.length}`,
      `Transfer-Encoding: chunked, chunked`,
      `Transfer-Encoding: xchunked`,
      `Transfer-Encoding: identity\r\nContent-Length: ${BODY.length}`,
      `Content-Length: ${BODY.length}\r\nHost: y`,
    ];
    for (const line of lines) server.connect().write(`${head}${line}\r\n\r\n${BODY}`);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(server.model.requests).toEqual([]);
  },
);
