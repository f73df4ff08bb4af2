import { connect as connectPlain } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { SecureContext } from 'node:tls';
import { whenOpen } from './connection-attempts.ts';
import type { Connected, ConnectionAttempts } from './connection-attempts.ts';
import { endpointOf } from './endpoint.ts';

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
