import { connect as connectPlain } from 'node:net';
import type { LookupFunction, Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { SecureContext, TLSSocket } from 'node:tls';
import { whenOpen, type Connected, type ConnectionAttempts } from './connection-attempts.ts';
import { endpointOf, type Endpoint } from './address-guard.ts';
import { openTunnel } from './proxy.ts';
import { explainUntrusted, isUntrusted, type SystemTrust } from './system-trust.ts';

/** The target of connections, and the rules for them. */
export interface ConnectorParts {
  readonly origin: string;
  /** Resolves the host's name. A proxy resolves it by itself. */
  readonly lookup: LookupFunction;
  readonly trust: SystemTrust;
  /** The URL of a proxy. */
  readonly proxy?: string;
}

/** What a connection is opened for. */
export interface ConnectionUse {
  /** The versions of HTTP that svc offers in the TLS handshake (ALPN), the preferred one first. */
  readonly protocols: readonly string[];
  /** Replies are streamed, and reading can pause. */
  readonly streamed: boolean;
}

/**
 * Secure sockets of streams stop reading as soon as a paused reader has unread bytes, so that the kernel gathers the rest; by
 * default they read another 64 KiB, with a wake-up for each chunk. This costs two system calls per read, which is too much
 * for replies that are not streamed.
 */
const READ_WHEN_ASKED = { highWaterMark: 1 };

/**
 * Plaintext sockets of streams read into one buffer, and keep a copy of the few bytes of each read; by default, Node allocates
 * 64 KiB for each read. `pause()` stops such a socket at once, so that the kernel gathers all chunks that follow.
 */
const SHARED_READS = {
  buffer: Buffer.allocUnsafeSlow(64 * 1024),
  callback(this: Socket, bytes: number, buffer: Uint8Array): boolean {
    return this.push(Buffer.from(buffer.subarray(0, bytes)));
  },
};

/**
 * Opens the connections to one origin: directly or through a proxy, with or without TLS. It resumes TLS sessions. It
 * trusts Node's authorities; if none of them signed the host's certificate, it connects again and trusts the system's
 * authorities as well, and from then on every connection begins with both. Company authorities are common behind
 * proxies, so the system's count there from the start.
 */
export class Connector {
  readonly #parts: ConnectorParts;
  readonly #target: Endpoint;
  /** The latest TLS session: with Node's authorities, and with those of the system too. */
  readonly #sessions: { own?: Buffer; widened?: Buffer } = {};

  constructor(parts: ConnectorParts) {
    this.#parts = parts;
    this.#target = endpointOf(new URL(parts.origin));
  }

  /** Opens a connection. `attempts` contains its socket until `done` is called, once. */
  connect(use: ConnectionUse, attempts: ConnectionAttempts, done: Connected): void {
    const { trust, proxy } = this.#parts;
    if (this.#target.isSecure && (trust.wasNeeded || proxy !== undefined)) {
      this.#connectWidened(use, attempts, done);
      return;
    }
    this.#open(use, undefined, attempts, (...result) => {
      if (result[0] === null || !isUntrusted(result[0])) done(...result);
      else this.#connectWidened(use, attempts, done);
    });
  }

  #connectWidened(use: ConnectionUse, attempts: ConnectionAttempts, done: Connected): void {
    this.#open(use, this.#parts.trust.context(), attempts, (...result) => {
      if (result[0] !== null) explainUntrusted(result[0]);
      done(...result);
    });
  }

  #open(use: ConnectionUse, context: SecureContext | undefined, attempts: ConnectionAttempts, done: Connected): void {
    const { proxy } = this.#parts;
    const { isSecure, authority } = this.#target;
    if (proxy === undefined) {
      const socket = isSecure ? this.#secure(use, context) : this.#plain(use);
      whenOpen(socket, attempts, done);
      return;
    }
    openTunnel({ proxy: new URL(proxy), authority, context, attempts }, (...result) => {
      if (result[0] !== null || !isSecure) done(...result);
      else whenOpen(this.#secure(use, context, result[1]), attempts, done);
    });
  }

  #plain({ streamed }: ConnectionUse): Socket {
    const { lookup } = this.#parts;
    const { host, port } = this.#target;
    return connectPlain({ host, port, lookup, ...(streamed ? { onread: SHARED_READS } : {}) });
  }

  #secure({ protocols, streamed }: ConnectionUse, context: SecureContext | undefined, tunnel?: Socket): TLSSocket {
    const { host, port, servername } = this.#target;
    const kind = context === undefined ? 'own' : 'widened';
    const session = this.#sessions[kind];
    const socket = connectTls({
      ...(tunnel === undefined ? { host, port, lookup: this.#parts.lookup } : { socket: tunnel }),
      ...(context === undefined ? {} : { secureContext: context }),
      ...(session === undefined ? {} : { session }),
      ...(streamed ? READ_WHEN_ASKED : {}),
      servername,
      ALPNProtocols: [...protocols],
    });
    socket.on('session', (ticket: Buffer) => (this.#sessions[kind] = ticket));
    // The ticket can be the reason: the next handshake is a full one.
    const forget = (): boolean => delete this.#sessions[kind];
    socket.once('error', forget).once('secureConnect', () => socket.off('error', forget));
    return socket;
  }
}
