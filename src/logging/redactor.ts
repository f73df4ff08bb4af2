/** Replaces credentials in a text. */
export interface Redactor {
  redact(text: string): string;
}

const MASK = '[redacted]';

interface SecretPattern {
  /** The pattern is tried only on texts that contain one of these. */
  readonly hints: readonly string[];
  readonly pattern: RegExp;
  readonly replacement: string;
}

/** The start of a word. In JSON text, a line break before the word is spelled `\n`. */
const START = String.raw`(?<=^|[^A-Za-z0-9]|\\[nrtbf])`;

/**
 * Forms of credentials that are not configured. They match no quote, backslash or white space, so that a JSON line stays
 * valid.
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
 * Creates a redactor for the given values, in plain form and as they appear inside JSON, URLs and base64, and for anything
 * that looks like a credential. It runs over whole lines, so the nesting of a value does not matter. A line without
 * credentials costs two scans: one alternation of all texts is faster than one search for each.
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

/** Finds any of the texts in one scan; undefined if there are none. */
function anyOf(texts: readonly string[]): RegExp | undefined {
  if (texts.length === 0) return undefined;
  return new RegExp(texts.map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`)).join('|'));
}

/** Digits can be a number in a JSON line, which must stay valid. */
function maskOf(value: string): string {
  return /^\d+$/u.test(value) ? '0' : MASK;
}

/** All forms of the secrets, longest first, so that none hides inside another. */
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

/** A secret with a lone surrogate cannot be encoded, so it has no form in a URL. */
function urlForm(secret: string): string {
  try {
    return encodeURIComponent(secret);
  } catch {
    return secret;
  }
}
