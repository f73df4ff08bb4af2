import { createSecureServer } from 'node:http2';
import type {
  Http2SecureServer,
  Http2ServerRequest,
  IncomingHttpHeaders,
  ServerHttp2Session,
  ServerHttp2Stream,
  Settings,
} from 'node:http2';
import type { IncomingMessage } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Server as HttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { credentials } from './certificates.ts';
import { chatCompletion } from './fake-provider.ts';

/** A request that arrived whole. */
export interface Http2Asked {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly stream: ServerHttp2Stream;
  readonly session: ServerHttp2Session;
}

export type Http2Behaviour = (asked: Http2Asked) => void;

interface Http2ServerOptions {
  readonly settings?: Settings;
  /** HTTP/1.1 is offered too, or nothing else is. */
  readonly http1?: 'too' | 'only';
}

/** A server that speaks HTTP/2 over TLS on loopback. By default it answers each request with a chat completion, `ok`. */
export class Http2Server {
  answer: Http2Behaviour = reply('ok');
  readonly asked: Http2Asked[] = [];
  /** All sessions so far. */
  readonly sessions: ServerHttp2Session[] = [];
  /** Paths of streams that the client reset with CANCEL. */
  readonly cancelled: string[] = [];
  /** Handshakes, and those that resumed a TLS session. */
  readonly handshakes = { all: 0, resumed: 0 };
  openConnections = 0;
  readonly #server: Http2SecureServer | HttpsServer;

  private constructor({ settings = {}, http1 }: Http2ServerOptions) {
    if (http1 === 'only') this.#server = createHttpsServer(credentials(), answerHttp1);
    else {
      const server = createSecureServer({ ...credentials(), settings, allowHTTP1: http1 === 'too' });
      server.on('session', (session) => this.#accept(session));
      server.on('stream', (stream, headers) => this.#read(stream, headers));
      // A listener for requests changes how Node treats streams.
      if (http1 === 'too') server.on('request', answerHttp1);
      this.#server = server;
    }
    this.#server.on('secureConnection', (socket: TLSSocket) => {
      this.handshakes.all += 1;
      if (socket.isSessionReused()) this.handshakes.resumed += 1;
    });
    this.#server.on('connection', (socket: Socket) => {
      this.openConnections += 1;
      socket.on('close', () => (this.openConnections -= 1));
    });
    this.#server.on('sessionError', () => {}).on('tlsClientError', () => {});
  }

  static async start(options: Http2ServerOptions = {}): Promise<Http2Server> {
    const server = new Http2Server(options);
    await new Promise<void>((resolve) => {
      server.#server.listen(0, '127.0.0.1', resolve);
    });
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get origin(): string {
    return `https://localhost:${this.port}`;
  }

  async close(): Promise<void> {
    for (const session of this.sessions) session.destroy();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  #accept(session: ServerHttp2Session): void {
    this.sessions.push(session);
    session.on('error', () => {});
  }

  #read(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    const path = headers[':path'] ?? '';
    let body = '';
    stream
      .setEncoding('utf8')
      .on('data', (text: string) => (body += text))
      .on('end', () => {
        const session = stream.session as ServerHttp2Session | undefined;
        if (session === undefined) return;
        const asked = { path, headers, body, stream, session };
        this.asked.push(asked);
        this.answer(asked);
      })
      .on('error', () => {})
      .on('aborted', () => {
        if (stream.rstCode === CANCEL) this.cancelled.push(path);
      })
      .on('close', () => {
        if (stream.rstCode === CANCEL && !stream.aborted) this.cancelled.push(path);
      });
  }
}

const CANCEL = 8;
const OK = JSON.stringify(chatCompletion('ok'));

function answerHttp1(request: IncomingMessage | Http2ServerRequest, response: { end(text: string): unknown }): void {
  if (request.httpVersionMajor === 1) request.resume().on('end', () => response.end(OK));
}

/** A chat completion with this text. */
export function reply(text: string): Http2Behaviour {
  return ({ stream }) => {
    stream.respond({ ':status': 200, 'content-type': 'application/json' });
    stream.end(JSON.stringify(chatCompletion(text)));
  };
}
