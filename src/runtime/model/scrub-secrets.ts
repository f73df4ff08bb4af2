const MASK = '[redacted]';

/** A secret shorter than this is not searched for by value: it would mask half of any text. */
const SHORTEST_SECRET = 4;

/** What keys look like, wherever they come from: OpenAI-style keys, bearer tokens, `key=` in URLs, Google and AWS keys. */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\b(?:sk|rk|pk)-[A-Za-z0-9_*-]{4,}/gu, MASK],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{4,}/giu, `$1 ${MASK}`],
  [/\b((?:api[-_]?)?key|token|secret|signature|password)=[^\s&"']{1,4096}/giu, `$1=${MASK}`],
  [/\bAIza[A-Za-z0-9_-]{16,}/gu, MASK],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/gu, MASK],
];

/**
 * The text without the given secrets and without anything that looks like a key. For texts from providers, which
 * quote the key they refuse. Linear in the text.
 */
export function scrubSecrets(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) {
    if (secret.length >= SHORTEST_SECRET) clean = clean.replaceAll(secret, MASK);
  }
  for (const [pattern, replacement] of PATTERNS) clean = clean.replace(pattern, replacement);
  return clean;
}
