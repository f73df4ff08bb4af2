/** Takes credentials out of a text. */
export interface Redactor {
  redact(text: string): string;
}

const MASK = '[redacted]';

interface SecretPattern {
  /** Has to be in the text, or the pattern is not tried: one plain search for a line without it. */
  readonly hint: string;
  readonly pattern: RegExp;
  readonly replacement: string;
}

/** Where a word begins, also in JSON text, where a line break before it reads `\n`. */
const START = String.raw`(?<=^|[^A-Za-z0-9]|\\[nrtbf])`;

/**
 * Shapes of credentials that nobody configured. Values hold no quote, backslash or white space, so a JSON line stays one.
 */
const PATTERNS: readonly SecretPattern[] = [
  pattern('sk-', String.raw`${START}sk-[\w-]{8,}`, MASK),
  pattern('earer ', String.raw`${START}([Bb]earer )[\w.~+/=-]{8,}`, `$1${MASK}`),
  pattern('asic ', String.raw`${START}([Bb]asic )[A-Za-z0-9+/=]{8,}`, `$1${MASK}`),
  pattern('key=', String.raw`(key=)[^\s"'\\&;,<>()]{4,}`, `$1${MASK}`),
  pattern('KEY=', String.raw`(KEY=)[^\s"'\\&;,<>()]{4,}`, `$1${MASK}`),
  pattern('-api-key', String.raw`(-api-key[\\"']*: ?[\\"']*)[^\s"'\\,}]{4,}`, `$1${MASK}`),
  pattern('AIza', String.raw`${START}AIza[\w-]{30,}`, MASK),
  pattern('AKIA', String.raw`${START}AKIA[A-Z0-9]{16}`, MASK),
];

function pattern(hint: string, source: string, replacement: string): SecretPattern {
  return { hint, pattern: new RegExp(source, 'gu'), replacement };
}

/**
 * Redacts every given value, as it is and in the forms it takes inside JSON and URLs, and everything that looks like a
 * credential. Meant to run over whole lines, so it does not matter how deep a value stands.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  const values = formsOf(secrets).map((value) => ({ value, mask: maskOf(value) }));
  return {
    redact(text) {
      let result = text;
      for (const { value, mask } of values) if (result.includes(value)) result = result.replaceAll(value, mask);
      for (const known of PATTERNS) {
        if (result.includes(known.hint)) result = result.replace(known.pattern, known.replacement);
      }
      return result;
    },
  };
}

/** Digits may be a bare number in a JSON line, which has to remain one. */
function maskOf(value: string): string {
  return /^\d+$/u.test(value) ? '0' : MASK;
}

/** Longest first, so that no value is hidden by a shorter one inside it. */
function formsOf(secrets: readonly string[]): readonly string[] {
  const forms = new Set<string>();
  for (const secret of secrets) {
    if (secret === '') continue;
    const inJson = JSON.stringify(secret).slice(1, -1);
    const inJsonText = JSON.stringify(inJson).slice(1, -1);
    forms.add(secret).add(inJson).add(inJsonText).add(urlForm(secret)).add(Buffer.from(secret).toString('base64'));
  }
  return [...forms].toSorted((a, b) => b.length - a.length);
}

/** A lone surrogate cannot be encoded; such a secret has no form in a URL. */
function urlForm(secret: string): string {
  try {
    return encodeURIComponent(secret);
  } catch {
    return secret;
  }
}
