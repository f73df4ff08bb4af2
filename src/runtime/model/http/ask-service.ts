import type { Result } from '../../../base/result.ts';
import { err, ok } from '../../../base/result.ts';
import { BodyBuffer } from './body-buffer.ts';
import type { ConnectionPools } from './connection-pools.ts';
import { DEFAULT_LIMITS } from './exchange-clock.ts';
import { HttpExchange } from './http-exchange.ts';
import type { UpstreamFailure } from './upstream-failure.ts';

/** A token service answers at once or not at all. */
const TIMEOUT_MS = 15_000;

export interface ServiceRequest {
  /** POST when it says nothing. */
  readonly method?: 'GET' | 'PUT';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** In place of the usual 15 s. */
  readonly timeoutMs?: number;
}

/** Asks what is asked beside models, such as access tokens, and gives the text of the answer. */
export function askService(
  pools: ConnectionPools,
  url: string,
  request: ServiceRequest,
): Promise<Result<string, string>> {
  const target = new URL(url);
  const headers = [...Object.entries(request.headers ?? {}).flat(), 'accept-encoding', 'identity'];
  const method = request.method === undefined ? {} : { method: request.method };
  const call = { ...method, path: target.pathname + target.search, headers, body: request.body ?? '' };
  const upstream = pools.to({ origin: target.origin, guard: 'none' });
  const deadlineAt = performance.now() + (request.timeoutMs ?? TIMEOUT_MS);
  return new Promise((resolve) => {
    const body = new BodyBuffer();
    const exchange = new HttpExchange(
      { upstream, call, limits: DEFAULT_LIMITS, deadlineAt, streamed: false },
      {
        accepted: () => {},
        data: (chunk) => body.add(chunk),
        ended: () => resolve(ok(body.take().toString('utf8'))),
        failed: (fault) => resolve(err(described(fault))),
      },
    );
    exchange.start();
  });
}

/** Without the body of an error: it may quote what was sent. */
function described(fault: UpstreamFailure): string {
  if (fault.kind === 'status') return `the service answered ${fault.status}`;
  return fault.kind === 'timeout' ? 'the service did not answer in time' : fault.message;
}
