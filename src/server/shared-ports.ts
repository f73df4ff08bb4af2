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
 * The sockets from which workers on node:http accept, each worker by itself. The primary binds them, sends them along
 * and never listens on them. As long as it holds one, connections wait in the system's queue even while no worker is
 * alive, and no worker that ends takes a part of the queue with it. (With node:cluster's own sharing the primary lets go
 * after the last worker, and resets what came in between.)
 */
export class SharedPorts {
  readonly #ports = new Map<number, SharedPort>();

  /** The same socket for every worker that asks. The failure is the reason, for people. */
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

  /** Before the workers stop to accept: the last of them ends the socket, at a moment when its queue is empty. */
  close(): void {
    for (const port of this.#ports.values()) port.close();
    this.#ports.clear();
  }
}

/** Node has no public way to bind without listening; this one is what node:cluster uses, since its beginnings. */
function bind(address: string, port: number, family: number): SharedPort {
  const create: unknown = Reflect.get(net, '_createServerHandle');
  if (typeof create !== 'function') throw new Error(`Node ${process.version} cannot share a socket`);
  const bound = create(address, port, family) as SharedPort | number;
  if (typeof bound === 'number') throw new Error(`cannot bind to ${address}:${port}: ${getSystemErrorName(bound)}`);
  return bound;
}
