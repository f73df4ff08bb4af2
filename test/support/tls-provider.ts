import type { ServerHttp2Session, Settings } from 'node:http2';
import type { Socket } from 'node:net';
import { TLSSocket, createSecureContext } from 'node:tls';
import type { SecureContext } from 'node:tls';
import { credentials, type CertificateName } from './certificates.ts';
import { LoopbackProvider } from './fake-provider.ts';
import type { ConnectionOwner, Wire } from './fake-wire.ts';
import { answerHttp1 } from './http1-connection.ts';
import { answerHttp2, type Http2Wire } from './http2-connection.ts';

export interface TlsProviderOptions {
  /** The protocols that the provider speaks, the preferred one first; by default, only HTTP/2. */
  readonly speaks?: readonly ('h2' | 'http/1.1')[];
  /** By default, the one for loopback. */
  readonly certificate?: CertificateName;
  /** Its settings for HTTP/2. */
  readonly settings?: Settings;
}

/** Does something else than HTTP on a connection. The provider leaves the bytes of the client unused. */
export type Greeting = (socket: TLSSocket) => void;

/** A provider over TLS, which speaks HTTP/2 or HTTP/1.1 as its client selects (ALPN). */
export class TlsProvider extends LoopbackProvider<Http2Wire> {
  #context: SecureContext;
  #protocols: readonly string[];
  readonly #settings: Settings;
  readonly #sessions = new Set<ServerHttp2Session>();
  #greeting: Greeting | undefined;

  private constructor({ certificate, speaks = ['h2'], settings = {} }: TlsProviderOptions) {
    super('https');
    this.#context = createSecureContext(credentials(certificate));
    this.#protocols = speaks;
    this.#settings = settings;
  }

  static async start(options: TlsProviderOptions = {}): Promise<TlsProvider> {
    const provider = new TlsProvider(options);
    await provider.listen();
    return provider;
  }

  /** The next connection gets this instead of HTTP. */
  greet(greeting: Greeting): void {
    this.#greeting = greeting;
  }

  /** The next connections get this certificate. Clients cannot resume earlier TLS sessions. */
  present(certificate: CertificateName): void {
    this.#context = createSecureContext(credentials(certificate));
  }

  /** The next connections speak these protocols. */
  speak(...protocols: readonly ('h2' | 'http/1.1')[]): void {
    this.#protocols = protocols;
  }

  /** Ends all connections as a server that stops: with GOAWAY, and after the requests that it took. */
  leave(): void {
    for (const session of this.#sessions) session.close();
  }

  protected override accept(raw: Socket): void {
    const ALPNProtocols = [...this.#protocols];
    // Otherwise, the kernel holds small frames back until the client acknowledges earlier ones.
    raw.setNoDelay(true);
    const socket = new TLSSocket(raw, { isServer: true, secureContext: this.#context, ALPNProtocols });
    socket.on('error', () => socket.destroy()).on('_tlsError', () => socket.destroy());
    socket.once('secure', () => this.#greet(socket, () => raw.resetAndDestroy()));
  }

  #greet(socket: TLSSocket, cut: () => void): void {
    const greeting = this.#greeting;
    this.#greeting = undefined;
    // A connection that no one reads from never ends once bytes of the client have arrived.
    if (greeting !== undefined) greeting(socket.resume());
    else if (socket.alpnProtocol === 'h2') {
      const session = answerHttp2(socket, { cut, settings: this.#settings }, this);
      this.#sessions.add(session);
      session.on('close', () => this.#sessions.delete(session));
    } else {
      const owner: ConnectionOwner<Wire> = {
        handle: (request, wire) => this.handle(request, withoutFrames(wire)),
        left: (path) => this.left(path),
      };
      answerHttp1(socket, cut, owner);
    }
  }
}

/** A behaviour that needs HTTP/2 fails on a connection with HTTP/1.1. */
function withoutFrames(wire: Wire): Http2Wire {
  return Object.assign(wire, { streamId: 0, inject: refuse, freeze: refuse });
}

function refuse(): never {
  throw new Error('this connection speaks HTTP/1.1');
}
