import { DURATION_RULE, durationMs } from '../../base/duration.ts';
import { isJsonObject } from '../../base/json.ts';
import type { ClientType } from '../../schema/client.ts';
import { resolveOptions, type CallEnvironment } from '../model/environment.ts';

/** Reads `ttl` of the option `cache` of a request, in milliseconds; 0 for no cache. Calls `fault` if it is not a duration. */
export function requestTtl(ttl: unknown, fault: (message: string) => void): number | undefined {
  const ms = typeof ttl === 'string' ? durationMs(ttl) : undefined;
  if (ms === undefined) fault(`has to be ${DURATION_RULE} (at most 24d), or "0" for no cache`);
  return ms;
}

/**
 * Reads how long the answers of a client can be returned again, in milliseconds. Undefined if its definition has no option `cache`, or
 * one that is wrong, which makes the call fail.
 */
export function clientTtl(client: ClientType | undefined, environment: CallEnvironment): number | undefined {
  const own = client?.options.filter(({ key }) => key === 'cache') ?? [];
  if (own.length === 0) return undefined;
  const cache = resolveOptions(own, environment).values.get('cache');
  const ttl = isJsonObject(cache) ? cache['ttl'] : undefined;
  return typeof ttl === 'string' ? durationMs(ttl) : undefined;
}
