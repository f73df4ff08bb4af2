import { BodyBudget } from '../../../src/server/admission.ts';
import type { RequestHandler, Transport, TransportOptions } from '../../../src/server/http/transport.ts';
import { createTransport } from '../../../src/server/http/transports/create-transport.ts';

export type TransportName = 'uws' | 'node';

/** There is a binary of uWebSockets.js for Node 20 and 22. */
export const HAS_UWS = Number.parseInt(process.versions.node, 10) <= 22;

/** Both implementations: each suite for transports runs over both, and from Node 24 on over node:http. */
export const TRANSPORTS: readonly TransportName[] = HAS_UWS ? ['uws', 'node'] : ['node'];

export interface Listening {
  readonly transport: Transport;
  readonly port: number;
  /** Codes of the problems that the transport answered without a handler. */
  readonly rejections: readonly string[];
  /** Exceptions of handlers. */
  readonly errors: readonly unknown[];
}

/** A transport that does not listen yet. */
export function createOn(name: TransportName, handler: RequestHandler): Promise<Transport> {
  return createTransport(name, {
    handler,
    reject: () => ({ status: 500, headers: [], body: '' }),
    discardLimit: 1,
    bodyBudget: new BodyBudget(1),
    maxUnreadBytes: 64_000_000,
    maxConnections: 1,
    closeAbove: 1,
  });
}

/** A transport on a free port, which answers a rejected request with the code of its problem. */
export async function listenOn(
  name: TransportName,
  handler: RequestHandler,
  options: Partial<TransportOptions> = {},
): Promise<Listening> {
  const rejections: string[] = [];
  const errors: unknown[] = [];
  const reject: TransportOptions['reject'] = ({ code, status }, request) => {
    rejections.push(code);
    if (request?.error !== undefined) errors.push(request.error);
    return { status, headers: [], body: code };
  };
  const transport = await createTransport(name, {
    handler,
    reject,
    discardLimit: 100_000,
    bodyBudget: new BodyBudget(10_000_000),
    maxUnreadBytes: 64_000_000,
    maxConnections: 1_000,
    closeAbove: 1_000,
    ...options,
  });
  return { transport, port: await transport.listen('127.0.0.1', 0), rejections, errors };
}
