import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A proxy on loopback that leads every tunnel to one port. */
export interface ConnectProxy {
  readonly url: string;
  /** The targets that clients named, in order. */
  readonly targets: readonly string[];
  close(): void;
}

export async function startConnectProxy(port: number): Promise<ConnectProxy> {
  const targets: string[] = [];
  const server = createServer().on('connect', (request, socket: Socket) => {
    targets.push(request.url ?? '');
    const upstream = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port: own } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${own}`, targets, close: () => server.close() };
}
