import { isJsonObject, ownValue } from '../base/json.ts';

/** The two names of the options object in a request body. */
const OPTIONS_KEYS = ['svc_options', '__svc_options__'];

/** Keys whose values are no credentials, wherever in the options they stand. */
const PLAIN_KEYS: ReadonlySet<string> = new Set([
  'base_url',
  'client',
  'default_role',
  'max_tokens',
  'model',
  'name',
  'primary',
  'provider',
  'retry_policy',
  'strategy',
  'temperature',
]);

/** Shorter values would tear holes into ordinary words. */
const MIN_LENGTH = 6;

/** Whether a body brings options of its own, which may hold credentials. */
export function hasOptions(body: unknown): boolean {
  return isJsonObject(body) && OPTIONS_KEYS.some((key) => ownValue(body, key) !== undefined);
}

/**
 * Credentials that a caller sent for this one request: every value of `env`, and every text in its options except under plain
 * keys, also where it is misplaced, for the answer to that is an error, and errors are logged. Empty for nearly all requests,
 * at the cost of two lookups.
 */
export function requestSecrets(body: unknown): readonly string[] {
  if (!isJsonObject(body)) return [];
  const found = new Set<string>();
  for (const key of OPTIONS_KEYS) collectTexts(ownValue(body, key), found);
  return [...found];
}

/** Bodies are not deep. Names of variables are anything. */
function collectTexts(value: unknown, found: Set<string>, plainKeys: ReadonlySet<string> = PLAIN_KEYS): void {
  if (typeof value === 'string') {
    if (value.length >= MIN_LENGTH) found.add(value);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) {
      if (!plainKeys.has(key)) collectTexts(inner, found, key === 'env' ? NO_KEYS : plainKeys);
    }
  }
}

const NO_KEYS: ReadonlySet<string> = new Set();
