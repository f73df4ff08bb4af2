import { connect as connectPlain, type LookupFunction, type Socket, BlockList, isIP } from 'node:net';
import { connect as connectTls, type SecureContext, TLSSocket } from 'node:tls';
import { endpointOf, type Endpoint, addressKind, withoutBrackets } from './address-guard.ts';
import { explainUntrusted, isUntrusted, type SystemTrust } from './system-trust.ts';

/** The target of connections, and the rules for them. */
interface ConnectorParts {
  readonly origin: string;
  /** Resolves the host's name. A proxy resolves it by itself. */
  readonly lookup: LookupFunction;
  readonly trust: SystemTrust;
  /** The URL of a proxy. */
  readonly proxy?: string;
}

/** What a connection is opened for. */
interface ConnectionUse {
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

/** Takes bytes that a socket has read, which are valid during the call. Returns false if they have to wait on the socket. */
type ReadTaker = (bytes: Buffer) => boolean;

const TAKER: unique symbol = Symbol('takes the reads of a socket');

/** The bytes of a plaintext socket of streams are offered to `taker` first. No other socket offers them. */
export function takeReads(socket: Socket, taker: ReadTaker): void {
  Object.assign(socket, { [TAKER]: taker });
}

const SHARED_BUFFER = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * Plaintext sockets of streams read into one buffer, and keep a copy of the few bytes of each read; by default, Node allocates
 * 64 KiB for each read. `pause()` stops such a socket at once, so that the kernel gathers all chunks that follow.
 */
const SHARED_READS = {
  buffer: SHARED_BUFFER,
  callback(this: Socket & { readonly [TAKER]?: ReadTaker }, length: number): boolean {
    const bytes = SHARED_BUFFER.subarray(0, length);
    return this[TAKER]?.(bytes) === true || this.push(Buffer.from(bytes));
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

type Connected = (...result: [null, Socket] | [Error, null]) => void;

/** Ends an attempt that its pool did not end: pools end their attempts as soon as no request waits for them. */
const STUCK_CONNECT_MS = 600_000;

/** An idle connection is checked by TCP after this time, and kept open in NAT tables. */
const TCP_KEEP_ALIVE_MS = 60_000;

/** The error of an attempt that its pool ended. */
export const NO_ONE_WAITS = new Error('no request waits for this connection');

/** The connection attempts of a pool, which end together. */
export class ConnectionAttempts {
  readonly #sockets = new Set<Socket>();

  get size(): number {
    return this.#sockets.size;
  }

  add(socket: Socket): void {
    this.#sockets.add(socket);
  }

  delete(socket: Socket): void {
    this.#sockets.delete(socket);
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy(NO_ONE_WAITS);
  }
}

/** Waits for the end of an attempt and calls `done` once. */
function whenOpen(socket: Socket, attempts: ConnectionAttempts, done: Connected): void {
  const event = socket instanceof TLSSocket ? 'secureConnect' : 'connect';
  const settle = (): void => {
    clearTimeout(timer);
    attempts.delete(socket);
    socket.off(event, opened).off('error', failed).off('close', closed);
  };
  const opened = (): void => {
    settle();
    done(null, socket);
  };
  const failed = (error: Error): void => {
    settle();
    done(error, null);
  };
  const closed = (): void => failed(new Error('the connection was closed before it was established'));
  const timer = setTimeout(() => socket.destroy(CONNECT_TIMEOUT), STUCK_CONNECT_MS);
  timer.unref();
  attempts.add(socket);
  // A socket that no one uses yet can fail too.
  socket.on('error', ignore);
  socket.once(event, opened).once('error', failed).once('close', closed);
  socket.setNoDelay(true).setKeepAlive(true, TCP_KEEP_ALIVE_MS);
}

const CONNECT_TIMEOUT = new Error('did not accept the connection in time');

function ignore(): void {}

interface Tunnel {
  readonly proxy: URL;
  /** `api.example.com:443` */
  readonly authority: string;
  /** The trusted authorities for the certificate of a proxy over https. */
  readonly context: SecureContext | undefined;
  readonly attempts: ConnectionAttempts;
}

/** The head of a proxy's answer; llhttp has the same limit. */
const MAX_HEAD_BYTES = 16 * 1024;

/** Opens a tunnel through a proxy by CONNECT (RFC 9110, 9.3.6). */
function openTunnel(tunnel: Tunnel, done: Connected): void {
  const { proxy, authority, attempts } = tunnel;
  const socket = connectToProxy(tunnel);
  whenOpen(socket, attempts, (...result) => {
    if (result[0] !== null) {
      done(...result);
      return;
    }
    readAnswer(socket, attempts, done);
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n${authorization(proxy)}\r\n`);
  });
}

function connectToProxy({ proxy, context }: Tunnel): Socket {
  const { isSecure, host, port, servername } = endpointOf(proxy);
  if (!isSecure) return connectPlain({ host, port });
  return connectTls({ host, port, servername, ...(context === undefined ? {} : { secureContext: context }) });
}

/** RFC 7617; a header line with its end. */
function authorization({ username, password }: URL): string {
  if (username === '' && password === '') return '';
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `proxy-authorization: Basic ${Buffer.from(credentials).toString('base64')}\r\n`;
}

function readAnswer(socket: Socket, attempts: ConnectionAttempts, done: Connected): void {
  let head: Buffer = Buffer.alloc(0);
  const settle = (): void => {
    attempts.delete(socket);
    socket.off('data', read).off('error', failed).off('close', closed);
  };
  const failed = (error: Error): void => {
    settle();
    socket.destroy();
    done(error, null);
  };
  const closed = (): void => failed(new Error('the proxy closed the connection'));
  const read = (data: Buffer): void => {
    head = Buffer.concat([head, data]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0 && head.length <= MAX_HEAD_BYTES) return;
    const status = /^HTTP\/1\.[01] (\d{3})\b/u.exec(head.toString('latin1', 0, Math.min(end, 100)))?.[1];
    if (end < 0 || status === undefined) failed(new Error('the proxy sent an answer that is not HTTP'));
    else if (!status.startsWith('2')) failed(new Error(`the proxy answered ${status}`));
    else {
      settle();
      socket.pause();
      if (head.length > end + 4) socket.unshift(head.subarray(end + 4));
      done(null, socket);
    }
  };
  attempts.add(socket);
  socket.on('data', read).once('error', failed).once('close', closed);
}

/**
 * The proxy for an origin, from the variables that all tools share: `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and
 * `NO_PROXY`, in upper or lower case. Undefined if the connection is direct, as it always is to this machine, or if the
 * variable names a proxy of another kind (SOCKS).
 */
export function proxyFor(origin: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const target = endpointOf(new URL(origin));
  const proxy = variable(env, target.isSecure ? 'HTTPS_PROXY' : 'HTTP_PROXY') ?? variable(env, 'ALL_PROXY');
  if (proxy === undefined || isThisMachine(target.host) || isExempt(target, variable(env, 'NO_PROXY') ?? '')) {
    return undefined;
  }
  const address = proxy.includes('://') ? proxy : `http://${proxy}`;
  return URL.canParse(address) && /^https?:/u.test(address) ? address : undefined;
}

function variable(env: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  const value = env[name.toLowerCase()] ?? env[name];
  return value === '' ? undefined : value;
}

function isThisMachine(host: string): boolean {
  if (isIP(host) === 0) return host === 'localhost' || host.endsWith('.localhost');
  return host === '::1' || (host.startsWith('127.') && addressKind(host) === 'private');
}

/**
 * Entries are hosts, with or without a port; an entry also matches the names below it, and `*` matches all. Networks
 * (`10.0.0.0/8`) match the addresses in them, as in curl and Go; names are not resolved for that.
 */
function isExempt({ host, port }: Endpoint, list: string): boolean {
  return list
    .toLowerCase()
    .split(/[\s,]+/u)
    .some((entry) => entry !== '' && matches(entry, host, port));
}

function matches(entry: string, host: string, port: number): boolean {
  if (entry === '*') return true;
  if (entry.includes('/')) return isInNetwork(host, entry);
  // A bare IPv6 address contains colons; with a port it is in brackets.
  const [, named = entry, at] = isIP(entry) === 6 ? [] : (/^(.*?)(?::(\d+))?$/u.exec(entry) ?? []);
  if (at !== undefined && Number(at) !== port) return false;
  const name = withoutBrackets(named).replace(/^\*?\./u, '');
  return host === name || (isIP(host) === 0 && host.endsWith(`.${name}`));
}

function isInNetwork(host: string, network: string): boolean {
  const [address = '', bits = ''] = network.split('/');
  const family = isIP(address);
  if (family === 0 || isIP(host) !== family || !/^\d{1,3}$/u.test(bits)) return false;
  if (Number(bits) > (family === 4 ? 32 : 128)) return false;
  const addresses = new BlockList();
  addresses.addSubnet(address, Number(bits), family === 4 ? 'ipv4' : 'ipv6');
  return addresses.check(host, family === 4 ? 'ipv4' : 'ipv6');
}
