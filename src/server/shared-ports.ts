import { lookup } from 'node:dns/promises';
import * as net from 'node:net';
import { getSystemErrorName } from 'node:util';
import { messageOf } from '../base/invariant.ts';
import { err, ok, type Result } from '../base/result.ts';

/** A bound socket that several processes accept from. */
export interface SharedPort {
  close(): void;
}

/**
 * The listening sockets of workers on node:http, from which each worker accepts connections itself. The primary binds them,
 * sends them to the workers, and never listens on them. While it holds one, connections wait in the kernel's queue even if no
 * worker is alive, and no exiting worker takes a part of the queue with it. (Under the sharing of node:cluster, the primary
 * closes the socket after its last worker, which resets the connections that arrived since.)
 */
export class SharedPorts {
  readonly #ports = new Map<number, SharedPort>();

  /** Returns the same socket to every worker that asks. The failure is the reason, for users. */
  async get(host: string, port: number): Promise<Result<SharedPort, string>> {
    const held = this.#ports.get(port);
    if (held !== undefined) return ok(held);
    try {
      const { address, family } = await lookup(host);
      const shared = this.#ports.get(port) ?? bind(address, port, family);
      this.#ports.set(port, shared);
      return ok(shared);
    } catch (error) {
      return err(messageOf(error));
    }
  }

  /** To be called before the workers stop accepting: the last of them then closes the socket while its queue is empty. */
  close(): void {
    for (const port of this.#ports.values()) port.close();
    this.#ports.clear();
  }
}

/**
 * Node has no public function that binds without listening. node:cluster uses this one; `test/architecture/private-parts.test.ts`
 * checks that it exists.
 */
function bind(address: string, port: number, family: number): SharedPort {
  const create: unknown = Reflect.get(net, '_createServerHandle');
  if (typeof create !== 'function') throw new Error(`Node ${process.version} cannot share a socket between processes`);
  const bound = create(address, port, family) as SharedPort | number;
  if (typeof bound === 'number') throw new Error(`cannot bind to ${address}:${port}: ${getSystemErrorName(bound)}`);
  return bound;
}
