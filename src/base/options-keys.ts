/**
 * The names under which a request can send its options. All of them mean the same object, so a request sends at most one.
 * The last one is for callers that migrate from BAML's server.
 */
export const OPTIONS_KEYS = ['svc_options', '__svc_options__', '__baml_options__'] as const;

const KEYS: ReadonlySet<string> = new Set(OPTIONS_KEYS);

export function isOptionsKey(key: string): boolean {
  return KEYS.has(key);
}
