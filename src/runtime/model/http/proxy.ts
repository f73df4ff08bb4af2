import { BlockList, connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';
import { addressKind, type Endpoint, endpointOf, withoutBrackets } from './address-guard.ts';
import { type Connected, type ConnectionAttempts, whenOpen } from './connection-attempts.ts';

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
export function openTunnel(tunnel: Tunnel, done: Connected): void {
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
