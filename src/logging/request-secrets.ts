import { isJsonObject, ownValue } from '../base/json.ts';

/** The two names of the options object in a request body. */
const OPTIONS_KEYS = ['svc_options', '__svc_options__'];

/** Option names whose values are no credentials, whatever the caller puts there. */
const PLAIN_OPTIONS: ReadonlySet<string> = new Set(['model', 'base_url', 'temperature', 'max_tokens', 'default_role']);

/** Shorter values would tear holes into ordinary words. */
const MIN_LENGTH = 6;

/** How deep options are searched: headers stand at depth 2, credentials of providers at 3. */
const MAX_DEPTH = 6;

/**
 * Credentials that a caller sent for this one request: every value of `env`, and every text in the options of a client of
 * its registry except the plain ones. Empty for nearly all requests, at the cost of two lookups.
 */
export function requestSecrets(body: unknown): readonly string[] {
  if (!isJsonObject(body)) return [];
  const found = new Set<string>();
  for (const key of OPTIONS_KEYS) {
    const options = ownValue(body, key);
    if (!isJsonObject(options)) continue;
    collectTexts(ownValue(options, 'env'), found, 0);
    collectClientSecrets(ownValue(options, 'client_registry'), found);
  }
  return [...found];
}

function collectClientSecrets(registry: unknown, found: Set<string>): void {
  const clients = isJsonObject(registry) ? ownValue(registry, 'clients') : undefined;
  if (!Array.isArray(clients)) return;
  for (const client of clients) {
    const options: unknown = isJsonObject(client) ? ownValue(client, 'options') : undefined;
    if (!isJsonObject(options)) continue;
    for (const [name, value] of Object.entries(options)) {
      if (!PLAIN_OPTIONS.has(name)) collectTexts(value, found, 0);
    }
  }
}

function collectTexts(value: unknown, found: Set<string>, depth: number): void {
  if (typeof value === 'string') {
    if (value.length >= MIN_LENGTH) found.add(value);
  } else if (typeof value === 'object' && value !== null && depth < MAX_DEPTH) {
    for (const inner of Object.values(value)) collectTexts(inner, found, depth + 1);
  }
}
