import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { RawConnection } from '../support/raw-connection.ts';
import { listenOn, TRANSPORTS, type Listening } from '../support/transports.ts';

/** Two parsers could disagree about where these requests end; `SMUGGLED` is what one of them would run. */
const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';
const LENGTH = SMUGGLED.length;

interface FramingCase {
  readonly title: string;
  readonly bytes: string;
  /** Undefined: the connection may also be cut without an answer. */
  readonly status: readonly number[];
  /** The request itself is fine and may be answered; only what follows it must not run. */
  readonly reaches?: boolean;
  /** uWebSockets.js answers nothing and cuts the connection when its idle timer is over. */
  readonly mayHang?: true;
}

const CASES: readonly FramingCase[] = [
  {
    title: 'two different Content-Length headers',
    bytes: `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: ${LENGTH}\r\n\r\n${SMUGGLED}`,
    status: [400],
  },
  {
    title: 'two equal Content-Length headers',
    bytes: `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${LENGTH}\r\nContent-Length: ${LENGTH}\r\n\r\n${SMUGGLED}`,
    status: [400],
  },
  {
    title: 'an empty Content-Length',
    bytes: `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \r\n\r\n${SMUGGLED}`,
    status: [400],
  },
  {
    title: 'a Content-Length with a sign',
    bytes: `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +5\r\n\r\nhello${SMUGGLED}`,
    status: [400],
  },
  {
    title: 'a Content-Length in hexadecimal',
    bytes: `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x5\r\n\r\nhello${SMUGGLED}`,
    status: [400],
  },
  {
    title: 'a negative Content-Length',
    bytes: `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n${SMUGGLED}`,
    status: [400],
  },
  {
    title: 'a Content-Length beyond all numbers',
    bytes: `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n${SMUGGLED}`,
    status: [400],
  },
  {
    title: 'Content-Length and Transfer-Encoding',
    bytes: `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
    status: [400],
  },
  {
    title: 'a Transfer-Encoding that is not chunked',
    bytes: `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n${SMUGGLED}`,
    status: [400],
  },
  {
    title: 'a list of transfer codings',
    bytes: `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
    status: [400],
  },
  {
    title: 'two Transfer-Encoding headers',
    bytes: `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${SMUGGLED}`,
    status: [400],
  },
  {
    title: 'a Transfer-Encoding with a vertical tab',
    bytes: `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \u000bchunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
    status: [400],
    mayHang: true,
  },
  { title: 'two Host headers', bytes: `GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n${SMUGGLED}`, status: [400] },
  { title: 'no Host header', bytes: `GET / HTTP/1.1\r\nX: y\r\n\r\n${SMUGGLED}`, status: [400] },
  { title: 'an empty Host header', bytes: `GET / HTTP/1.1\r\nHost: \r\n\r\n${SMUGGLED}`, status: [400] },
  {
    title: 'a header without a name before the length',
    bytes: `POST / HTTP/1.1\r\nHost: x\r\n: y\r\nContent-Length: ${LENGTH}\r\n\r\n${SMUGGLED}`,
    status: [200, 400],
    reaches: true,
  },
  {
    title: 'a space before the colon of a header',
    bytes: `POST / HTTP/1.1\r\nHost: x\r\nContent-Length : ${LENGTH}\r\n\r\n${SMUGGLED}`,
    status: [400],
    mayHang: true,
  },
  {
    title: 'trailers of a chunked body that look like a request',
    bytes: `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n${SMUGGLED}`,
    status: [200, 400],
    reaches: true,
  },
  {
    title: 'a chunk size that is no number',
    bytes: `POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n\r\n${SMUGGLED}`,
    status: [200, 400],
    reaches: true,
  },
  { title: 'an unknown method', bytes: `BREW / HTTP/1.1\r\nHost: x\r\n\r\n${SMUGGLED}`, status: [501] },
  { title: 'TRACE', bytes: `TRACE / HTTP/1.1\r\nHost: x\r\n\r\n${SMUGGLED}`, status: [501] },
  { title: 'CONNECT', bytes: `CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n${SMUGGLED}`, status: [501, 505] },
  { title: 'a line that is no request', bytes: 'hello\r\n\r\n', status: [400, 501], mayHang: true },
  { title: 'headers of 40 KB', bytes: `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(40_000)}\r\n\r\n`, status: [431] },
];

const open: Listening[] = [];
const connections: RawConnection[] = [];

afterEach(() => {
  for (const connection of connections.splice(0)) connection.end();
  for (const listening of open.splice(0)) listening.transport.close();
});

describe.each(TRANSPORTS)('the %s transport', (name) => {
  it.each(CASES)('runs no request that is smuggled behind $title', async (row) => {
    const { bytes, status, reaches = false } = row;
    const paths: string[] = [];
    const listening = await listenOn(name, (request, response) => {
      paths.push(request.path);
      request.readBody(1_000, (outcome) => response.send(outcome.kind === 'body' ? 200 : 400, [], ''));
    });
    open.push(listening);
    const connection = new RawConnection(listening.port);
    connections.push(connection);
    connection.write(bytes);
    const silentAt = performance.now() + 300;
    const gaveUp = () => row.mayHang === true && name === 'uws' && performance.now() > silentAt;
    await connection.until(() => connection.closed || connection.answers().length > 0 || gaveUp());
    await sleep(20);
    // What a client under attack sends next must not be answered as if nothing had been.
    if (!connection.closed) connection.write(SMUGGLED);
    await sleep(20);
    expect(paths).not.toContain('/smuggled');
    expect(paths.length).toBeLessThanOrEqual(reaches ? 1 : 0);
    const statuses = connection.answers().map((answer) => answer.status);
    expect(statuses.length).toBeLessThanOrEqual(1);
    expect(statuses.filter((one) => !status.includes(one))).toEqual([]);
    const plain = await fetch(`http://127.0.0.1:${listening.port}/plain`);
    expect(plain.status).toBe(200);
  });
});
