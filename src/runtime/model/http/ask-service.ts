import { type Result, err, ok } from '../../../base/result.ts';
import { BodyBuffer, HttpExchange } from './http-exchange.ts';
import type { ConnectionPools } from './connection-pools.ts';
import { DEFAULT_LIMITS } from './exchange-clock.ts';
import type { UpstreamFailure } from './upstream-failure.ts';

/** A token service answers immediately or not at all. */
const TIMEOUT_MS = 15_000;

export interface ServiceRequest {
  /** POST by default. */
  readonly method?: 'GET' | 'PUT';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** 15 s by default. */
  readonly timeoutMs?: number;
}

/** Sends a request to a service other than a model, such as one for access tokens, and returns the text of the answer. */
export function askService(
  pools: ConnectionPools,
  url: string,
  request: ServiceRequest,
): Promise<Result<string, string>> {
  const target = new URL(url);
  const headers = [...Object.entries(request.headers ?? {}).flat(), 'accept-encoding', 'identity'];
  const method = request.method === undefined ? {} : { method: request.method };
  const call = { ...method, path: target.pathname + target.search, headers, body: request.body ?? '' };
  const destination = { origin: target.origin, guard: 'none' } as const;
  const deadlineAt = performance.now() + (request.timeoutMs ?? TIMEOUT_MS);
  return new Promise((resolve) => {
    const body = new BodyBuffer();
    const exchange = new HttpExchange(
      { pools, destination, call, limits: DEFAULT_LIMITS, deadlineAt, streamed: false },
      {
        accepted: () => {},
        data: (chunk) => body.add(chunk),
        ended: () => {
          exchange.release();
          resolve(ok(body.take().toString('utf8')));
        },
        failed: (failure) => resolve(err(described(failure))),
      },
    );
    exchange.start();
  });
}

/** Leaves out the body of an error: it can quote the request. */
function described(failure: UpstreamFailure): string {
  if (failure.kind === 'status') return `the service answered ${failure.status}`;
  return failure.kind === 'timeout' ? 'the service did not answer in time' : failure.message;
}
