import type { ClientOptions } from '../options/client-options.ts';

/** Headers of every call of one client, flat, in the order: the provider's, then the client's own, which win. */
export function requestHeaders(
  options: ClientOptions,
  provided: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const all = new Map<string, string>([
    ['content-type', 'application/json'],
    ['accept', '*/*'],
  ]);
  for (const [name, value] of Object.entries(provided)) if (value !== undefined) all.set(name, value);
  for (const [name, value] of options.headers) all.set(name, value);
  // No answer is ever decompressed, whatever a client's headers say.
  all.set('accept-encoding', 'identity');
  return [...all].flat();
}

/** Path and query of a URL below the client's base; `query_params` are appended. */
export function requestPath(baseUrl: string, suffix: string, options: ClientOptions): string {
  const url = new URL(baseUrl + suffix);
  for (const [name, value] of options.queryParams) url.searchParams.set(name, value);
  return url.pathname + url.search;
}
