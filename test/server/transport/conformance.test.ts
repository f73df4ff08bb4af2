import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, it } from 'vitest';
import { BodyBudget } from '../../../src/server/admission.ts';
import type { BodyOutcome, HttpResponse, RequestHandler } from '../../../src/server/http/transport.ts';
import { waitUntil } from '../../support/load.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { createOn, listenOn, TRANSPORTS, type Listening, type TransportName } from '../support/transports.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const open: Listening[] = [];
const connections: RawConnection[] = [];

afterEach(() => {
  for (const connection of connections.splice(0)) connection.end();
  for (const listening of open.splice(0)) listening.transport.close();
});

function connectTo(listening: Listening, from?: string): RawConnection {
  const connection = new RawConnection(listening.port, from);
  connections.push(connection);
  return connection;
}

const sendOk: RequestHandler = (_, response) => response.send(200, [['content-type', 'text/plain']], 'ok');

const echo: RequestHandler = (request, response) => {
  request.readBody(1_000, (outcome) => {
    if (outcome.kind === 'body') response.send(200, [], Buffer.from(outcome.bytes).toString('utf8'));
    else response.send(outcome.kind === 'too-large' ? 413 : 408, [], outcome.kind);
  });
};

const sayOutcome: RequestHandler = (request, response) => {
  request.readBody(1_000, (outcome) => {
    if (outcome.kind === 'overloaded') response.send(503, [], outcome.limit);
    else response.send(200, [], outcome.kind);
  });
};

/** Three times what the kernel accepts from a connection whose client reads nothing: up to 4 MB, the largest send buffer. */
const BIG = 'x'.repeat(12_000_000);

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

function post(path: string): string {
  return `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab`;
}

describe.each(TRANSPORTS)('the %s transport', (name) => {
  async function listen(handler: RequestHandler, options = {}): Promise<Listening> {
    const listening = await listenOn(name, handler, options);
    open.push(listening);
    return listening;
  }

  it('answers with status, headers and body, and keeps the connection', async () => {
    const connection = connectTo(await listen(sendOk));
    connection.write(post('/'));
    const first = await connection.answer();
    expect(first.status).toBe(200);
    expect(first.headers.get('content-type')).toBe('text/plain');
    expect(first.headers.get('keep-alive')).toMatch(/^timeout=\d+$/);
    expect(first.body).toBe('ok');
    connection.write(post('/'));
    expect((await connection.answer(1)).body).toBe('ok');
  });

  it.each(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT'])(
    'ends the connection after a %s without a length if headers can be hidden',
    async (method) => {
      const connection = connectTo(await listen(sendOk));
      connection.write(`${method} / HTTP/1.1\r\nHost: x\r\n\r\n`);
      await connection.until(() => connection.answers(false).length === 1);
      const [answer] = connection.answers(false);
      expect(answer?.headers.get('connection')).toBe(name === 'uws' ? 'close' : 'keep-alive');
      if (name === 'uws') await connection.until(() => connection.closed);
    },
  );

  it('copies method, path, query and the headers that the server reads', async () => {
    const seen: unknown[] = [];
    const listening = await listen((request, response) => {
      const { method, path, query } = request;
      response.send(200, [], '');
      setTimeout(() => seen.push({ method, path, query, id: request.header('x-request-id') }), 5);
    });
    const connection = connectTo(listening);
    connection.write('POST /a%20b/c?x=1&y HTTP/1.1\r\nHost: x\r\nX-Request-ID: abc\r\nContent-Length: 0\r\n\r\n');
    await connection.answer();
    await connection.until(() => seen.length === 1);
    expect(seen).toEqual([{ method: 'POST', path: '/a%20b/c', query: 'x=1&y', id: 'abc' }]);
  });

  it('omits the body of an answer to HEAD', async () => {
    const connection = connectTo(await listen(sendOk));
    connection.write('HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await connection.until(() => connection.closed);
    expect(connection.answers(false).map((answer) => answer.status)).toEqual([200]);
    expect(connection.text).not.toContain('ok');
    expect(connection.text).not.toMatch(/content-length: [1-9]/i);
  });

  it.each([204, 304])('sends a %i without a body and without a length', async (status) => {
    const connection = connectTo(await listen((_, response) => response.send(status, [['etag', '"a"']], undefined)));
    connection.write('GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
    await connection.until(() => connection.closed);
    expect(connection.text).toMatch(new RegExp(`^HTTP/1.1 ${status} [^]*etag: "a"[^]*\\r\\n\\r\\n$`, 'iu'));
    expect(connection.text).not.toMatch(/content-length/iu);
  });

  it.each(['close', 'Close, TE'])('ends the connection with the answer when the client sends %j', async (value) => {
    const connection = connectTo(await listen(sendOk));
    connection.write(`GET / HTTP/1.1\r\nHost: x\r\nConnection: ${value}\r\n\r\n`);
    const answer = await connection.answer();
    expect([answer.body, answer.headers.has('keep-alive')]).toEqual(['ok', false]);
    await connection.until(() => connection.closed);
  });

  it('collects a body that arrives in chunks', async () => {
    const connection = connectTo(await listen(echo));
    connection.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\nhello');
    await sleep(20);
    connection.write(' wor');
    await sleep(20);
    connection.write('ld');
    expect((await connection.answer()).body).toBe('hello world');
  });

  it('collects a chunked body and closes the connection after it', async () => {
    const connection = connectTo(await listen(echo));
    connection.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n');
    await sleep(20);
    connection.write('6\r\n world\r\n0\r\n\r\n');
    const answer = await connection.answer();
    expect(answer.body).toBe('hello world');
    expect(answer.headers.get('connection')).toBe('close');
    await connection.until(() => connection.closed);
  });

  it('returns an empty body for a request without one', async () => {
    const connection = connectTo(await listen(echo));
    connection.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n');
    const answer = await connection.answer();
    expect([answer.status, answer.body]).toEqual([200, '']);
  });

  it.each([1_000, 1_001])('accepts a body up to its limit of 1,000 bytes: %i', async (size) => {
    const connection = connectTo(await listen(echo));
    connection.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${size}\r\n\r\n${'a'.repeat(size)}`);
    const answer = await connection.answer();
    expect(answer.status).toBe(size === 1_000 ? 200 : 413);
  });

  it('answers a body over the limit after it was read, so that the answer arrives', async () => {
    const connection = connectTo(await listen(echo));
    connection.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50000\r\n\r\n');
    for (let sent = 0; sent < 40_000; sent += 10_000) {
      connection.write('b'.repeat(10_000));
      await sleep(5);
      expect(connection.text).toBe('');
    }
    connection.write('b'.repeat(10_000));
    expect((await connection.answer()).status).toBe(413);
  });

  it('cuts a connection whose body is far beyond the limit', async () => {
    const connection = connectTo(await listen(echo));
    connection.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 90000000\r\n\r\n');
    for (let sent = 0; sent < 40 && !connection.closed; sent += 1) {
      connection.write('b'.repeat(10_000));
      await sleep(1);
    }
    await connection.until(() => connection.closed);
    expect(connection.text).toBe('');
  });

  it('discards a body that the handler does not read, and keeps the connection', async () => {
    const connection = connectTo(await listen(sendOk));
    connection.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhel');
    await sleep(30);
    expect(connection.text).toBe('');
    connection.write('lo');
    expect((await connection.answer()).body).toBe('ok');
    connection.write(GET);
    expect((await connection.answer(1)).body).toBe('ok');
  });

  it('calls the body listener once when the client leaves', async () => {
    const outcomes: BodyOutcome['kind'][] = [];
    let aborted = 0;
    const listening = await listen((request, response) => {
      response.onAborted(() => (aborted += 1));
      request.readBody(1_000, (outcome) => outcomes.push(outcome.kind));
    });
    const connection = connectTo(listening);
    connection.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhel');
    await sleep(30);
    connection.end();
    await connection.until(() => aborted === 1);
    expect(outcomes).toEqual(['aborted']);
  });

  it('reports that the client left before its answer', async () => {
    let left = false;
    let arrived = false;
    const listening = await listen((_, response) => {
      arrived = true;
      response.onAborted(() => (left = true));
    });
    const connection = connectTo(listening);
    connection.write(GET);
    await connection.until(() => arrived);
    expect(left).toBe(false);
    connection.end();
    await connection.until(() => left);
  });

  it('ignores writes after the end or after the client left', async () => {
    let kept: HttpResponse | undefined;
    const listening = await listen((_, response) => {
      kept = response;
      response.send(200, [], 'one');
      response.send(200, [], 'two');
    });
    const connection = connectTo(listening);
    connection.write(post('/'));
    expect((await connection.answer()).body).toBe('one');
    kept?.start(200, [], '');
    expect(kept?.write('x')).toBe(false);
    kept?.end();
    kept?.destroy();
    connection.write(post('/'));
    expect((await connection.answer(1)).body).toBe('one');
    expect(kept?.closed).toBe(true);
  });

  it('answers 500 when the handler or the body listener throws, and continues', async () => {
    const listening = await listen((request) => {
      if (request.path === '/now') throw new Error('now');
      request.readBody(10, () => {
        throw new Error('later');
      });
    });
    for (const path of ['/now', '/later']) {
      const connection = connectTo(listening);
      connection.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab`);
      expect((await connection.answer()).status).toBe(500);
    }
    expect(listening.errors.map(String)).toEqual(['Error: now', 'Error: later']);
  });

  it('writes no header value that could begin another header', async () => {
    const connection = connectTo(
      await listen((_, response) => response.send(200, [['x-evil', 'a\r\nSet-Cookie: b\0ü']], 'ok')),
    );
    connection.write(GET);
    const answer = await connection.answer();
    expect(answer.headers.has('set-cookie')).toBe(false);
    expect(answer.headers.get('x-evil')).toBe('a??Set-Cookie: b??');
  });

  it('streams chunks in order, and ends', async () => {
    const listening = await listen((_, response) => {
      setTimeout(() => {
        response.start(200, [['content-type', 'text/plain']], ' ');
        response.write('one ');
        response.write('two ');
        setTimeout(() => {
          response.write('three');
          response.end();
        }, 10);
      }, 5);
    });
    const answer = await fetch(`http://127.0.0.1:${listening.port}/`);
    expect(answer.headers.get('content-type')).toBe('text/plain');
    expect(await answer.text()).toBe('one two three');
  });

  it('streams chunks that were written in the turn of the request', async () => {
    const listening = await listen((_, response) => {
      response.start(200, [], ' ');
      response.write('one ');
      response.write('two');
      response.end();
    });
    const answer = await fetch(`http://127.0.0.1:${listening.port}/`);
    expect(await answer.text()).toBe('one two');
  });

  it('sends a large chunk byte for byte to a reader that stalls', async () => {
    const text = Array.from({ length: 300_000 }, (_, index) => `${index} é€😀`).join(',');
    let drains = 0;
    const listening = await listen((_, response) => {
      setTimeout(() => {
        response.start(200, [], '');
        response.onDrain(() => (drains += 1));
        expect(response.write(text)).toBe(false);
        response.end();
      }, 1);
    });
    const connection = connectTo(listening);
    connection.socket.pause();
    connection.write(GET);
    for (let turn = 0; turn < 6; turn += 1) {
      await sleep(30);
      connection.socket.resume();
      await sleep(3);
      connection.socket.pause();
    }
    connection.socket.resume();
    await connection.until(() => connection.text.endsWith('\r\n0\r\n\r\n'));
    const body = dechunk(connection.received.subarray(connection.received.indexOf('\r\n\r\n') + 4));
    expect(body.equals(Buffer.from(text))).toBe(true);
  });

  it('counts complete answers that clients have not received', async () => {
    const listening = await listen((request, response) => {
      setTimeout(() => {
        if (request.path === '/whole') response.send(200, [], BIG);
        else {
          response.start(200, [], '');
          response.write(BIG);
          response.end();
        }
      }, 1);
    });
    for (const path of ['/streamed', '/whole']) {
      const connection = connectTo(listening);
      connection.socket.pause();
      connection.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      await connection.until(() => listening.transport.unsentAnswers === 1);
      await sleep(100);
      expect(listening.transport.unsentAnswers).toBe(1);
      connection.socket.resume();
      await connection.until(() => listening.transport.unsentAnswers === 0);
      expect(listening.transport.unsentAnswers).toBe(0);
    }
  });

  it.each(['', 'Connection: close\r\n'])(
    'sends whole answers byte for byte to a reader that stalls (%j)',
    async (header) => {
      for (const size of [1, 15_000, 16_000, 16_384, 17_000, 3_000_000, 9_000_000]) {
        const text = Array.from({ length: size / 10 + 1 }, (_, index) => `${index} é€😀`).join(',');
        const listening = await listen((_, response) =>
          response.send(200, [], size % 2 === 0 ? text : Buffer.from(text)),
        );
        const connection = connectTo(listening);
        connection.socket.pause();
        connection.write(`GET / HTTP/1.1\r\nHost: x\r\n${header}\r\n`);
        for (let turn = 0; turn < 4; turn += 1) {
          await sleep(10);
          connection.socket.resume();
          await sleep(2);
          connection.socket.pause();
        }
        connection.socket.resume();
        const { body } = await connection.answer();
        expect(Buffer.from(body, 'latin1').equals(Buffer.from(text))).toBe(true);
        if (header !== '') await connection.until(() => connection.closed);
        expect(listening.transport.unsentAnswers).toBe(0);
      }
    },
  );

  it('ends a connection with an answer to HEAD, and with an empty one', async () => {
    const listening = await listen((_, response) => response.send(200, [['x-a', 'b']], ''));
    for (const method of ['HEAD', 'GET']) {
      const connection = connectTo(listening);
      connection.write(`${method} / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      const answer = await connection.answer();
      expect([answer.status, answer.headers.get('connection'), answer.headers.get('x-a')]).toEqual([200, 'close', 'b']);
      expect(answer.headers.has('date')).toBe(true);
      await connection.until(() => connection.closed);
      expect(connection.answers()).toHaveLength(1);
    }
  });

  it('cuts one large answer when clients leave too many bytes unread', async () => {
    const large = 'x'.repeat(18_000_000);
    const listening = await listen(
      (request, response) => response.send(200, [], large.slice(0, Number(request.path.slice(1)))),
      { maxUnreadBytes: 45_000_000 },
    );
    const readers: RawConnection[] = [];
    // Even the smallest is twice what the kernel accepts, so that each answer waits.
    for (const size of [8_000_000, 18_000_000, 18_000_000, 17_000_000]) {
      const connection = connectTo(listening);
      connection.socket.pause();
      readers.push(connection);
      connection.write(`GET /${size} HTTP/1.1\r\nHost: x\r\n\r\n`);
      const held = Math.min(readers.length, 3);
      await connection.until(() => listening.transport.unsentAnswers === held);
    }
    const [small, ...others] = readers;
    await small?.until(() => listening.transport.connections === 3);
    for (const reader of readers) reader.socket.resume();
    // The kernel can accept more of one answer after another one has started to wait, so any large one can be the one that waits longest.
    const ends = await Promise.allSettled(others.map((reader) => reader.answer()));
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    await small?.answer();
    await small?.until(() => listening.transport.unsentAnswers === 0);
  });

  it('does not run the next request of a client that has not read the answer before it', async () => {
    let runs = 0;
    const listening = await listen((_, response) => {
      runs += 1;
      response.send(200, [], BIG);
    });
    const connection = connectTo(listening);
    connection.socket.pause();
    for (let sent = 0; sent < 20; sent += 1) {
      connection.write(GET);
      await sleep(5);
    }
    expect(runs).toBe(1);
    expect(listening.transport.unsentAnswers).toBeLessThanOrEqual(1);
  });

  it('runs pipelined requests one after another, or none of them', async () => {
    const begun: string[] = [];
    let left = 0;
    const finish: (() => void)[] = [];
    const listening = await listen((request, response) => {
      response.onAborted(() => (left += 1));
      const run = {
        proceed() {
          begun.push(request.path);
          finish.push(() => response.send(200, [], request.path));
        },
      };
      request.readBody(1_000, () => {
        if (response.whenAlone(run)) run.proceed();
      });
    });
    const connection = connectTo(listening);
    connection.write(['/a', '/b', '/c', '/d'].map(post).join(''));
    if (name === 'uws') {
      await connection.until(() => connection.closed);
      expect([begun, left]).toEqual([[], 1]);
      return;
    }
    await connection.until(() => begun.length === 1);
    await sleep(20);
    expect(begun).toEqual(['/a']);
    finish[0]?.();
    await connection.until(() => begun.length === 2);
    finish[1]?.();
    expect((await connection.answer(1)).body).toBe('/b');
    await connection.until(() => begun.length === 3);
    connection.end();
    await connection.until(() => left === 1 && listening.transport.connections === 0);
    await sleep(20);
    expect([begun, left]).toEqual([['/a', '/b', '/c'], 1]);
  });

  it.each(['', 'x', 'xy'])('sends the whole last answer of a connection: "%s"', async (body) => {
    const listening = await listen((_, response) => response.send(200, [], body));
    listening.transport.finishConnections();
    const connection = connectTo(listening);
    connection.write(GET);
    await connection.until(() => connection.closed);
    const answer = await connection.answer(0);
    expect([answer.headers.get('content-length'), answer.body]).toEqual([String(body.length), body]);
  });

  it('notices the end of a connection with any number of waiting requests and bodies', async () => {
    let left = 0;
    let begun = 0;
    const listening = await listen((request, response) => {
      response.onAborted(() => (left += 1));
      const run = { proceed: () => (begun += 1) };
      request.readBody(1_000, () => {
        if (response.whenAlone(run)) run.proceed();
      });
    });
    const large = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n${'x'.repeat(2_000_000)}`;
    const chunked = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n';
    for (const behind of [GET.repeat(5), GET.repeat(500), large, chunked.repeat(3), GET + large]) {
      left = 0;
      begun = 0;
      const connection = connectTo(listening);
      connection.write(GET);
      await connection.until(() => begun === 1);
      connection.write(behind);
      await sleep(20);
      connection.socket.end();
      await connection.until(() => left === 1 && listening.transport.connections === 0);
      expect([begun, left]).toEqual([1, 1]);
    }
  });

  it('does not run requests after one that ends the connection', async () => {
    const begun: string[] = [];
    const listening = await listen((request, response) => {
      begun.push(request.path);
      request.readBody(1_000, () => setTimeout(() => response.send(200, [], request.path), 10));
    });
    const chunked = 'POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n';
    const connection = connectTo(listening);
    connection.write(chunked + GET + GET);
    await connection.until(() => connection.closed);
    expect(begun).toEqual(['/a']);
    if (name === 'node') expect(connection.answers().map(({ body }) => body)).toEqual(['/a']);
  });

  it('does not run a request after a stream that ends the connection', async () => {
    const begun: string[] = [];
    const listening = await listen((request, response) => {
      begun.push(request.path);
      request.readBody(1_000, () => {
        response.start(200, [], '');
        response.write('x');
        response.end();
      });
    });
    for (const head of ['Transfer-Encoding: chunked\r\n\r\n0', 'Content-Length: 0\r\nConnection: close']) {
      begun.length = 0;
      const connection = connectTo(listening);
      connection.write(`POST /a HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n`);
      await connection.until(() => connection.text.endsWith('0\r\n\r\n'));
      expect(connection.answers(false)[0]?.headers.get('connection')).toBe('close');
      connection.write(GET);
      // Other requests take several turns of the event loop.
      for (let others = 0; others < 5; others += 1) {
        await (await fetch(`http://127.0.0.1:${listening.port}/other`)).text();
      }
      expect(begun.filter((path) => path !== '/other')).toEqual(['/a']);
    }
  });

  it('survives a client that resets a connection after CONNECT', async () => {
    const listening = await listen((_, response) => response.send(200, [], BIG));
    const connection = connectTo(listening);
    connection.socket.pause();
    connection.write(`${GET}CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n`);
    await sleep(100);
    connection.socket.resetAndDestroy();
    await sleep(100);
    const other = connectTo(listening);
    other.write(GET);
    await other.until(() => other.received.length > BIG.length);
    expect(listening.errors).toEqual([]);
  });

  it('reports when the client falls behind, and when it catches up', async () => {
    let written = 0;
    const listening = await listen((_, response) => {
      setTimeout(() => {
        const fill = () => {
          while (response.write('x'.repeat(10_000)) && written < 5_000) written += 1;
        };
        response.start(200, [], '\n');
        response.onDrain((empty) => empty && fill());
        fill();
      }, 1);
    });
    const connection = connectTo(listening);
    connection.socket.pause();
    connection.write(GET);
    await connection.until(() => written > 0);
    const stuckAt = await restOf(() => written);
    expect(stuckAt).toBeLessThan(5_000);
    connection.socket.resume();
    await connection.until(() => written > stuckAt + 100);
  });

  it('closes each connection with its answer once it stops accepting', async () => {
    const listening = await listen(sendOk);
    const connection = connectTo(listening);
    connection.write(post('/'));
    await connection.answer();
    expect(listening.transport.connections).toBe(1);
    listening.transport.stopAccepting();
    listening.transport.finishConnections();
    await sleep(20);
    connection.write(post('/'));
    expect((await connection.answer(1)).headers.get('connection')).toBe('close');
    await connection.until(() => connection.closed);
    await connection.until(() => listening.transport.connections === 0);
    await expect(fetch(`http://127.0.0.1:${listening.port}/`)).rejects.toThrow('fetch failed');
  });

  it('hands over connections: the next answers, whole or streamed, end as many as requested', async () => {
    const listening = await listen((request, response) => {
      if (request.path === '/stream') {
        response.start(200, [], '\n');
        response.write('a');
        response.end();
      } else sendOk(request, response);
    });
    const clients = [connectTo(listening), connectTo(listening), connectTo(listening)];
    for (const connection of clients) {
      connection.write(post('/'));
      expect((await connection.answer()).headers.get('connection')).not.toBe('close');
    }
    listening.transport.handOver(2);
    const [whole, streamed, kept] = clients;
    whole?.write(post('/'));
    expect((await whole?.answer(1))?.headers.get('connection')).toBe('close');
    await whole?.until(() => whole.closed);
    streamed?.write(post('/stream'));
    expect((await streamed?.answer(1))?.headers.get('connection')).toBe('close');
    kept?.write(post('/'));
    expect((await kept?.answer(1))?.headers.get('connection')).not.toBe('close');
  });

  it('limits the bytes of unfinished bodies over all connections', async () => {
    const bodyBudget = new BodyBudget(700);
    const listening = await listen(sayOutcome, { bodyBudget });
    const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n';
    const first = connectTo(listening);
    first.write(head + 'x'.repeat(500));
    await first.until(() => bodyBudget.held === 500);
    const second = connectTo(listening);
    second.write(head + 'x'.repeat(500));
    await sleep(50);
    expect(bodyBudget.held).toBe(500);
    second.write('x'.repeat(500));
    expect((await second.answer()).status).toBe(503);
    first.write('x'.repeat(100));
    await first.until(() => bodyBudget.held === 600);
    first.write('x'.repeat(400));
    expect((await first.answer()).status).toBe(503);
    const third = connectTo(listening);
    third.write(head + 'x'.repeat(600));
    await third.until(() => bodyBudget.held === 600);
    third.end();
    await third.until(() => bodyBudget.held === 0);
  });

  it('limits the bytes of unfinished bodies of one caller', async () => {
    const bodyBudget = new BodyBudget(2_000, 700);
    const listening = await listen(sayOutcome, { bodyBudget });
    const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n';
    const [first, second, other] = [connectTo(listening), connectTo(listening), connectTo(listening, '127.0.0.2')];
    first.write(head + 'x'.repeat(500));
    await first.until(() => bodyBudget.held === 500);
    other.write(head + 'x'.repeat(600));
    await other.until(() => bodyBudget.held === 1_100);
    second.write(head + 'x'.repeat(500));
    await sleep(50);
    second.write('x'.repeat(500));
    expect(await second.answer()).toMatchObject({ status: 503, body: 'caller' });
    other.write('x'.repeat(50));
    await other.until(() => bodyBudget.held === 1_150);
    for (const connection of [first, other]) connection.end();
    await first.until(() => bodyBudget.held === 0);
  });

  it('refuses requests beyond its number of connections', async () => {
    const listening = await listen(sendOk, { maxConnections: 1 });
    const first = connectTo(listening);
    first.write(post('/'));
    expect((await first.answer()).status).toBe(200);
    const second = connectTo(listening);
    second.write(GET);
    expect((await second.answer()).status).toBe(503);
    await second.until(() => second.closed);
    first.write(post('/'));
    expect((await first.answer(1)).status).toBe(200);
  });

  it('closes silent connections when there are too many', async () => {
    const listening = await listen(sendOk, { maxConnections: 2, closeAbove: 3 });
    const silent = [connectTo(listening), connectTo(listening), connectTo(listening)];
    await silent[0]?.until(() => listening.transport.connections === 3);
    const beyond = connectTo(listening);
    await beyond.until(() => beyond.closed);
    expect(silent.map(({ closed }) => closed)).toEqual([false, false, false]);
    silent[0]?.end();
    silent[1]?.end();
    await beyond.until(() => listening.transport.connections === 1);
    const later = connectTo(listening);
    later.write(GET);
    expect((await later.answer()).status).toBe(200);
  });

  it('recognises a caller on this machine by its connection, its Host and the absence of a proxy', async () => {
    const seen: unknown[] = [];
    const listening = await listen((request, response) => {
      seen.push([request.local, request.peer]);
      response.send(200, [], '');
    });
    const connection = connectTo(listening);
    const heads = ['localhost', 'x', 'localhost\r\nX-Forwarded-For: 8.8.8.8', '127.0.0.1\r\nX-Forwarded-Proto: https'];
    for (const [index, head] of heads.entries()) {
      connection.write(`POST / HTTP/1.1\r\nHost: ${head}\r\nContent-Length: 0\r\n\r\n`);
      await connection.answer(index);
    }
    expect(seen).toEqual([true, false, false, false].map((local) => [local, '127.0.0.1']));
  });

  it('rejects a listen on an address that it does not have', async () => {
    const transport = await createOn(name, sendOk);
    await expect(transport.listen('192.0.2.1', 1)).rejects.toThrow(/listen/);
    transport.close();
  });

  it('lets go of its handler when it is closed', async () => {
    const released = await usedHandler(name);
    await waitUntil('nothing holds the handler', () => {
      collectGarbage();
      return released.deref() === undefined;
    });
    expect(released.deref()).toBeUndefined();
  });
});

/** The handler of a transport that answered a request and is closed. */
async function usedHandler(name: TransportName): Promise<WeakRef<RequestHandler>> {
  const body = `handler of ${name}`;
  const handler: RequestHandler = (_, response) => response.send(200, [], body);
  const { transport, port } = await listenOn(name, handler);
  const connection = new RawConnection(port);
  connection.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await connection.answer();
  connection.end();
  transport.close();
  return new WeakRef(handler);
}

/** The number at which a counter comes to rest. */
async function restOf(counter: () => number): Promise<number> {
  let last = -1;
  while (counter() !== last) {
    last = counter();
    await sleep(150);
  }
  return last;
}

function dechunk(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  for (;;) {
    const end = bytes.indexOf('\r\n', at);
    const size = Number.parseInt(bytes.subarray(at, end).toString('latin1'), 16);
    if (size === 0) return Buffer.concat(parts);
    parts.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}
