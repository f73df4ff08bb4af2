import { ByteBudget } from '../../../src/base/byte-budget.ts';
import type { Answer, RequestHandler, Transport, TransportOptions } from '../../../src/server/http/transport.ts';
import { createTransport } from '../../../src/server/http/transports/create-transport.ts';

/** Both implementations: every suite over transports runs over these. */
export const TRANSPORTS = ['uws', 'node'] as const;

export type TransportName = (typeof TRANSPORTS)[number];

export interface Listening {
  readonly transport: Transport;
  readonly port: number;
  /** What was refused before it became a request. */
  readonly refusals: readonly string[];
  /** What handlers threw. */
  readonly errors: readonly unknown[];
}

/** A transport that does not listen yet. */
export function createOn(name: TransportName, handler: RequestHandler): Promise<Transport> {
  return createTransport(name, {
    handler,
    refuse: () => ({ status: 500, headers: [], body: '' }),
    discardLimit: 1,
    bodyBudget: new ByteBudget(1),
    keepAliveTimeoutMs: 10_000,
    maxConnections: 1,
    closeAbove: 1,
  });
}

/** A transport on a free port, with answers to refusals that name them. */
export async function listenOn(
  name: TransportName,
  handler: RequestHandler,
  options: Partial<TransportOptions> = {},
): Promise<Listening> {
  const refusals: string[] = [];
  const errors: unknown[] = [];
  const refuse: TransportOptions['refuse'] = (refusal, _, of) => {
    refusals.push(refusal);
    if (of?.error !== undefined) errors.push(of.error);
    return { status: STATUS[refusal], headers: [], body: refusal } satisfies Answer;
  };
  const transport = await createTransport(name, {
    handler,
    refuse,
    discardLimit: 100_000,
    bodyBudget: new ByteBudget(10_000_000),
    keepAliveTimeoutMs: 10_000,
    maxConnections: 1_000,
    closeAbove: 1_000,
    ...options,
  });
  return { transport, port: await transport.listen('127.0.0.1', 0), refusals, errors };
}

const STATUS = {
  malformed: 400,
  'not-implemented': 501,
  'headers-too-large': 431,
  'request-timeout': 408,
  'too-many': 503,
  crashed: 500,
} as const;
