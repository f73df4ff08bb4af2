import type { Transport, TransportOptions } from '../transport.ts';
import { NodeTransport } from './node-transport.ts';
import { UwsTransport } from './uws-transport.ts';

/**
 * `auto` is uWebSockets.js where its binary loads, node:http elsewhere. Rejects when `uws` was asked for and there is no
 * binary.
 */
export async function createTransport(choice: 'auto' | 'uws' | 'node', options: TransportOptions): Promise<Transport> {
  if (choice === 'node') return new NodeTransport(options);
  try {
    return await UwsTransport.load(options);
  } catch (error) {
    if (choice === 'uws') throw error;
    return new NodeTransport(options);
  }
}
