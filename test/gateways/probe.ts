import {
  createServer,
  request,
  type ClientRequest,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A server behind a gateway that shows what the gateway does. It answers `/readyz`, and everything else as a probe asks. */
export class ProbeServer {
  readonly #server = createServer({ maxHeaderSize: 512 * 1024, keepAliveTimeout: 0 });
  readonly #sockets = new Set<Socket>();
  answer: RequestListener = (_, response) => response.end('{}');
  /** Requests that arrived for the current probe. */
  arrived: IncomingMessage[] = [];

  async listen(): Promise<number> {
    const handle: RequestListener = (incoming, response) => {
      response.on('error', () => undefined);
      if (incoming.url === '/readyz') {
        response.end('{"status":"ready"}');
        return;
      }
      this.arrived.push(incoming);
      this.answer(incoming, response);
    };
    this.#server.on('request', handle);
    this.#server.on('checkContinue', handle);
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('error', () => undefined);
    });
    await new Promise<void>((resolve) => {
      this.#server.listen(0, '127.0.0.1', resolve);
    });
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}

/** What a gateway does, in the words of the table in docs/operating.md. */
export interface Behaviour {
  readonly events: string;
  readonly leavesStream: string;
  readonly leavesCall: string;
  readonly repeats: string;
  readonly body: string;
  readonly expects: string;
  readonly headers: string;
}

/** Long enough for a gateway that acts at all: no probe passes or fails because of it unless a gateway does nothing. */
const NEVER_MS = 3_000;

const STREAM = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

const LAST_EVENT = 'data: {"final_result":1}\n\n';

/** The kilobytes of one header that a probe tries. */
const HEADER_SIZES = [2, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128];

interface Received {
  readonly status: number;
  readonly text: string;
}

/** Measures one gateway in front of the server. */
export class Probe {
  readonly #url: string;
  readonly #server: ProbeServer;

  constructor(url: string, server: ProbeServer) {
    this.#url = url;
    this.#server = server;
  }

  async behaviour(): Promise<Behaviour> {
    return {
      events: await this.#events(),
      leavesStream: await this.#leaves(true),
      leavesCall: await this.#leaves(false),
      repeats: await this.#repeats(),
      body: await this.#body(),
      expects: await this.#expects(),
      headers: await this.#headers(),
    };
  }

  /** The status of a silent call (0: cut), and whether a stream of several seconds with comments ends as the server ends it. */
  async silence(): Promise<{ readonly callStatus: number; readonly streamEnds: boolean }> {
    this.#on(() => undefined);
    const { status: callStatus } = await this.#ask();
    this.#on((_, response) => {
      openStream(response);
      let comments = 0;
      const timer = setInterval(() => {
        comments += 1;
        if (comments < 15) response.write(':\n');
        else response.end(LAST_EVENT);
        if (comments === 15) clearInterval(timer);
      }, 300);
    });
    return { callStatus, streamEnds: (await this.#ask()).text.endsWith(LAST_EVENT) };
  }

  /** The time that an event takes: the median of nine, or that none arrives before the end. */
  async #events(): Promise<string> {
    let text = '';
    let ended = false;
    let stream: ServerResponse | undefined;
    this.#on((_, response) => (stream = openStream(response)));
    const sent = this.#post({}, (incoming) => {
      incoming.on('data', (chunk: Buffer) => (text += chunk.toString()));
      incoming.on('end', () => (ended = true));
    });
    sent.end('{}');
    await happens(() => this.#server.arrived.length > 0);
    const times: number[] = [];
    for (let at = 0; at < 9; at += 1) {
      const event = `data: {"partial_result":${at}}\n\n`;
      await sleep(60);
      const started = performance.now();
      stream?.write(event);
      if (!(await happens(() => text.includes(event)))) break;
      times.push(performance.now() - started);
    }
    stream?.end();
    await happens(() => ended);
    sent.destroy();
    if (times.length < 9) return text.includes('data: ') ? 'all at the end' : 'lost';
    const median = times.toSorted((a, b) => a - b)[4] ?? 0;
    return median < 100 ? 'at once' : `${(median / 1000).toFixed(1)} s late`;
  }

  /** When the server learns that the caller of a silent stream or call left. */
  async #leaves(isStream: boolean): Promise<string> {
    let gone = false;
    let stream: ServerResponse | undefined;
    this.#on((incoming, response) => {
      incoming.socket.on('close', () => (gone = true));
      if (isStream) stream = openStream(response);
    });
    let received = !isStream;
    const sent = this.#post({}, (incoming) => {
      incoming.on('data', () => (received = true));
      incoming.on('error', () => undefined);
    });
    sent.end('{}');
    await happens(() => received && this.#server.arrived.length > 0);
    await sleep(100);
    sent.destroy();
    if (await happens(() => gone)) return 'at once';
    if (!isStream) return 'never';
    for (let writes = 1; writes <= 20; writes += 1) {
      stream?.write(':\n');
      await sleep(100);
      if (gone) return 'at a later write';
    }
    return 'never';
  }

  /** Whether a POST whose connection breaks reaches the server again: on a new connection, and on one that served another. */
  async #repeats(): Promise<string> {
    let most = 0;
    for (const before of [0, 1]) {
      this.#on((incoming, response) => {
        incoming.resume();
        if (this.#server.arrived.length <= before) response.end('{}');
        else incoming.on('end', () => incoming.socket.destroy());
      });
      for (let at = 0; at <= before; at += 1) {
        await this.#ask();
        await sleep(50);
      }
      most = Math.max(most, this.#server.arrived.length - before);
    }
    return most <= 1 ? 'no' : `${most - 1} times`;
  }

  /** Whether the server sees the first part of a body before the caller has sent the rest. */
  async #body(): Promise<string> {
    let seen = 0;
    this.#on((incoming, response) => {
      incoming.on('data', (chunk: Buffer) => (seen += chunk.length));
      incoming.on('end', () => response.end('{}'));
    });
    const half = 'x'.repeat(100_000);
    let done = false;
    const sent = this.#post({ 'content-length': String(2 * half.length) }, (incoming) => {
      incoming.resume();
      incoming.on('end', () => (done = true));
    });
    sent.write(half);
    const early = await happens(() => seen === half.length);
    sent.end(half);
    await happens(() => done);
    return early ? 'passed on' : 'whole';
  }

  /** Who answers `Expect: 100-continue`. */
  async #expects(): Promise<string> {
    this.#on((incoming, response) => {
      if (incoming.headers.expect !== undefined) response.writeContinue();
      incoming.resume();
      incoming.on('end', () => response.end('{}'));
    });
    const seen = { continued: false, status: 0 };
    const sent = this.#post({ expect: '100-continue' }, (incoming) => {
      seen.status = incoming.statusCode ?? 0;
      incoming.resume();
    });
    sent.on('continue', () => {
      seen.continued = true;
      sent.end('{}');
    });
    sent.flushHeaders();
    await happens(() => seen.status > 0);
    sent.destroy();
    if (seen.status !== 200) return seen.status === 0 ? 'no answer' : `status ${seen.status}`;
    if (!seen.continued) return 'ignored';
    return this.#server.arrived[0]?.headers.expect === undefined ? 'answered' : 'passed on';
  }

  /** The largest header of a request that arrives, in kilobytes, and the status above it. */
  async #headers(): Promise<string> {
    this.#on((_, response) => response.end('{}'));
    let largest = 0;
    for (const size of HEADER_SIZES) {
      const { status } = await this.#ask({ 'x-probe': 'x'.repeat(size * 1024 - 300) });
      if (status !== 200) return `${largest} KB (${status})`;
      largest = size;
    }
    return `over ${largest} KB`;
  }

  #on(answer: RequestListener): void {
    this.#server.arrived = [];
    this.#server.answer = answer;
  }

  #post(headers: Readonly<Record<string, string>>, onAnswer: (incoming: IncomingMessage) => void): ClientRequest {
    const all = { 'content-type': 'application/json', 'content-length': '2', ...headers };
    const sent = request(`${this.#url}/stream/Probe`, { method: 'POST', agent: false, headers: all }, onAnswer);
    return sent.on('error', () => undefined);
  }

  /** Sends a small POST; resolves to status 0 if the connection breaks. */
  #ask(headers: Readonly<Record<string, string>> = {}): Promise<Received> {
    return new Promise((resolve) => {
      const sent = this.#post(headers, (incoming) => {
        let text = '';
        incoming.on('data', (chunk: Buffer) => (text += chunk.toString()));
        incoming.on('close', () => resolve({ status: incoming.statusCode ?? 0, text }));
      });
      sent.on('error', () => resolve({ status: 0, text: '' }));
      sent.end('{}');
    });
  }
}

/** As svc opens a stream. */
function openStream(response: ServerResponse): ServerResponse {
  response.writeHead(200, STREAM);
  response.write(':\n');
  return response;
}

/** Resolves to true when the condition holds, or to false if it does not within `NEVER_MS`. */
async function happens(condition: () => boolean): Promise<boolean> {
  for (let left = NEVER_MS; left > 0; left -= 10) {
    if (condition()) return true;
    await sleep(10);
  }
  return condition();
}
