/** Takes credentials out of a text. */
export interface Redactor {
  redact(text: string): string;
}

const MASK = '[redacted]';

interface SecretPattern {
  /** One of these has to be in the text, or the pattern is not tried. */
  readonly hints: readonly string[];
  readonly pattern: RegExp;
  readonly replacement: string;
}

/** Where a word begins, also in JSON text, where a line break before it reads `\n`. */
const START = String.raw`(?<=^|[^A-Za-z0-9]|\\[nrtbf])`;

/**
 * Shapes of credentials that nobody configured. Values hold no quote, backslash or white space, so a JSON line stays one.
 */
const PATTERNS: readonly SecretPattern[] = [
  pattern(['sk-'], String.raw`${START}sk-[\w-]{8,}`, MASK),
  pattern(['Bearer ', 'bearer '], String.raw`${START}([Bb]earer )[\w.~+/=-]{8,}`, `$1${MASK}`),
  pattern(['Basic ', 'basic '], String.raw`${START}([Bb]asic )[A-Za-z0-9+/=]{8,}`, `$1${MASK}`),
  pattern(['key=', 'KEY='], String.raw`((?:key|KEY)=)[^\s"'\\&;,<>()]{4,}`, `$1${MASK}`),
  pattern(['-api-key'], String.raw`(-api-key[\\"']*: ?[\\"']*)[^\s"'\\,}]{4,}`, `$1${MASK}`),
  pattern(['AIza'], String.raw`${START}AIza[\w-]{30,}`, MASK),
  pattern(['AKIA'], String.raw`${START}AKIA[A-Z0-9]{16}`, MASK),
];

const ANY_HINT = anyOf(PATTERNS.flatMap((known) => known.hints));

function pattern(hints: readonly string[], source: string, replacement: string): SecretPattern {
  return { hints, pattern: new RegExp(source, 'gu'), replacement };
}

/**
 * Redacts every given value, as it is and in the forms it takes inside JSON and URLs, and everything that looks like a
 * credential. Meant to run over whole lines, so it does not matter how deep a value stands. A line with nothing to redact
 * costs two scans, which an alternation of plain texts does faster than one search for each.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  const values = formsOf(secrets).map((value) => ({ value, mask: maskOf(value) }));
  const anyValue = anyOf(values.map((entry) => entry.value));
  return {
    redact(text) {
      const withoutValues = anyValue?.test(text) === true ? redactValues(text, values) : text;
      return ANY_HINT?.test(withoutValues) === true ? redactPatterns(withoutValues) : withoutValues;
    },
  };
}

interface MaskedValue {
  readonly value: string;
  readonly mask: string;
}

function redactValues(text: string, values: readonly MaskedValue[]): string {
  let result = text;
  for (const { value, mask } of values) result = result.replaceAll(value, mask);
  return result;
}

function redactPatterns(text: string): string {
  let result = text;
  for (const { hints, pattern: shape, replacement } of PATTERNS) {
    if (hints.some((hint) => result.includes(hint))) result = result.replace(shape, replacement);
  }
  return result;
}

/** One scan for many plain texts; undefined when there are none. */
function anyOf(texts: readonly string[]): RegExp | undefined {
  if (texts.length === 0) return undefined;
  return new RegExp(texts.map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`)).join('|'));
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
