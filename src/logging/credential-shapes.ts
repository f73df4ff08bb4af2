import { isCredentialName, mayEndCredentialName } from '../base/credentials.ts';
import { depthOf, findStringEnd, skipContainer } from './quoted-value.ts';

export const MASK = '[redacted]';

/** Values that are not credentials, whatever their name. */
const PLAIN_VALUE = /^(?:true|false|null|undefined|none|env\.\w+)$/iu;

/** In prose, a word after a colon continues the sentence: `token: expected a string`. */
const PROSE = /^(?:[A-Za-z]+|[A-Z][A-Z\d]*(?:_[A-Z\d]+)+)[.,;:!?]?$/u;

const BARE_VALUE = /[^\s,;&)}\]"'`<>\\|]+/uy;

/** The first word of a header value, when the credential follows. */
const SCHEME = /^(?:bearer|basic|token|digest|apikey|key|sharedkey)$/iu;

const NEXT_WORD = / +[^\s,;&)}\]"'`<>\\|]+/uy;

/** A cookie header has a list of cookies. */
const REST_OF_LINE = /[^\r\n"'`\\]+/uy;

/**
 * Masks every value whose name looks like a credential, and every string with the shape of one: keys of well-known services,
 * tokens, private keys, the user and password of URLs. JSON text stays valid. Takes linear time.
 */
export function redactShapes(text: string): string {
  return redactPatterns(redactAssigned(text));
}

/** The part of a text that `mask` replaces. */
export interface Masked {
  readonly start: number;
  readonly end: number;
  readonly mask: string;
}

/** Searches for `:` and `=`, which are rare: a name can precede them, and its value can follow. */
function redactAssigned(text: string): string {
  let result = '';
  let done = 0;
  let colon = indexOrEnd(text, ':', 0);
  let equals = indexOrEnd(text, '=', 0);
  while (colon < text.length || equals < text.length) {
    const sign = Math.min(colon, equals);
    const value = maskedBehind(text, sign);
    const next = value === undefined ? sign + 1 : Math.max(value.end, sign + 1);
    if (value !== undefined) {
      result += text.slice(done, value.start) + value.mask;
      done = value.end;
    }
    if (colon < next) colon = indexOrEnd(text, ':', next);
    if (equals < next) equals = indexOrEnd(text, '=', next);
  }
  return done === 0 ? text : result + text.slice(done);
}

function indexOrEnd(text: string, character: string, from: number): number {
  const at = text.indexOf(character, from);
  return at < 0 ? text.length : at;
}

/** The user and password of a URL, after its scheme. */
const USER_INFO = /\\*\/\\*\/(?<info>[^\s/?#"'<>\\]*)@/uy;

function maskedBehind(text: string, sign: number): Masked | undefined {
  if (text.charCodeAt(sign) === COLON && slashFollows(text, sign + 1)) {
    USER_INFO.lastIndex = sign + 1;
    const info = USER_INFO.exec(text);
    const end = USER_INFO.lastIndex - 1;
    if (info !== null) return { start: end - (info.groups?.['info'] ?? '').length, end, mask: MASK };
  }
  const name = nameBefore(text, sign);
  return name === undefined ? undefined : valueOf(text, sign, name);
}

/** True for a slash, also behind backslashes: nearly all other colons of JSON text precede a quote. */
function slashFollows(text: string, at: number): boolean {
  let place = at;
  while (text.charCodeAt(place) === BACKSLASH) place += 1;
  return text.charCodeAt(place) === SLASH;
}

interface Name {
  readonly text: string;
  /** The quote after the name, with the backslashes that all quotes of its JSON text have; empty if it has none. */
  readonly mark: string;
}

/** An assignment does not have more spaces or backslashes. */
const MOST_SPACES = 16;

/** Returns the name that is assigned at `sign`, if it looks like the name of a credential. */
function nameBefore(text: string, sign: number): Name | undefined {
  let end = sign;
  while (text.charCodeAt(end - 1) === SPACE_CODE && sign - end < MOST_SPACES) end -= 1;
  const quoted = isQuote(text.charCodeAt(end - 1));
  const quote = end;
  if (quoted) end -= 1;
  while (quoted && text.charCodeAt(end - 1) === BACKSLASH && quote - end < MOST_SPACES) end -= 1;
  if (!mayEndCredentialName(text, end) || isOwnField(text, sign)) return undefined;
  const mark = quoted ? markOf(text, end, quote) : '';
  const name = wordBefore(text, end);
  const isPair = quoted && /^value$/iu.test(name);
  const judged = isPair ? pairedName(text, end - name.length - mark.length) : name;
  return isCredentialName(judged) ? { text: judged, mark } : keyOf(text, sign, name);
}

/** The fields of every request line with the ending of a credential's name, as JSON. None of them is one. */
const OWN_FIELDS = ['requestId', 'function', 'finishReason', 'inputTokens', 'outputTokens'].map((name) => `"${name}"`);

function isOwnField(text: string, sign: number): boolean {
  if (text.charCodeAt(sign - 1) !== DOUBLE_QUOTE) return false;
  for (const field of OWN_FIELDS) if (text.startsWith(field, sign - field.length)) return true;
  return false;
}

/** Backslashes of the name itself can come before those of its quote. */
function markOf(text: string, start: number, quote: number): string {
  return '\\'.repeat(depthOf(quote - 1 - start)) + text.slice(quote - 1, quote);
}

/** `key=` alone is a credential of URLs and forms. */
function keyOf(text: string, sign: number, name: string): Name | undefined {
  return text[sign] === '=' && /^n?key$/iu.test(name) ? { text: 'key', mark: '' } : undefined;
}

const SPACE_CODE = 0x20;
const DOUBLE_QUOTE = 0x22;
const SLASH = 0x2f;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/** `"`, `'` or a backtick. */
function isQuote(code: number): boolean {
  return code === 0x22 || code === 0x27 || code === 0x60;
}

const LONGEST_NAME = 128;

/** Letters, digits, `_`, `-`, `.` and `$`. In JSON text, a line break before a name is spelled `\n`. */
function wordBefore(text: string, end: number): string {
  let start = end;
  while (end - start < LONGEST_NAME && isNameCode(text.charCodeAt(start - 1))) start -= 1;
  if (text[start - 1] === '\\' && /[nrtbf]/u.test(text[start] ?? '')) start += 1;
  return text.slice(start, end);
}

function isNameCode(code: number): boolean {
  const lower = code | 0x20;
  return (
    (lower >= 0x61 && lower <= 0x7a) ||
    (code >= 0x30 && code <= 0x39) ||
    code === 0x5f ||
    code === 0x2d ||
    code === 0x2e ||
    code === 0x24
  );
}

/** Lists of headers have the form `{"name": "x-api-key", "value": "…"}`. */
function pairedName(text: string, end: number): string {
  const before = text.slice(Math.max(0, end - 2 * LONGEST_NAME), end);
  return /(?<name>[\w$.-]{1,128})\\*["']\s*,\s*$/u.exec(before)?.groups?.['name'] ?? '';
}

const SPACE = /(?:>?(?:\s|\\+[nrt])*)/uy;

const OPENING = /\\*["'`]/uy;

function valueOf(text: string, sign: number, name: Name): Masked | undefined {
  const at = sign + 1 + matchAt(SPACE, text, sign + 1).length;
  if (text[at] === '{' || text[at] === '[') return container(text, at, name.mark);
  const opened = matchAt(OPENING, text, at);
  if (opened === '') return bareValue(text, at, { ...name, assigned: text[sign] === '=' });
  const start = at + opened.length;
  return opensString(text, start, { mark: name.mark, opened }) ? quotedValue(text, start, opened) : undefined;
}

/** What a quote can follow that ends a string. */
const CLOSED = /\s*(?:[,}\]:]|$)/uy;

/** After a name with other quotes, a quote can end the string that contains them: `{"text": "password:"}`. */
function opensString(
  text: string,
  start: number,
  { mark, opened }: { readonly mark: string; readonly opened: string },
): boolean {
  const slashes = opened.length - 1;
  if (depthOf(slashes) !== slashes) return false;
  CLOSED.lastIndex = start;
  return opened === mark || !CLOSED.test(text);
}

function container(text: string, start: number, mark: string): Masked | undefined {
  const end = skipContainer(text, start, mark);
  if (/^[[{]\s*[\]}]?$/u.test(text.slice(start, Math.min(end, start + 8)))) return undefined;
  // A value that takes the place of an object in JSON text needs quotes.
  return { start, end, mask: mark + MASK + mark };
}

function quotedValue(text: string, start: number, opened: string): Masked | undefined {
  const end = findStringEnd(text, start, opened);
  const value = text.slice(start, Math.min(end, start + 64));
  return value === '' || value.startsWith(MASK) || PLAIN_VALUE.test(value) ? undefined : { start, end, mask: MASK };
}

function bareValue(
  text: string,
  start: number,
  { text: name, mark, assigned }: Name & { readonly assigned: boolean },
): Masked | undefined {
  const value = matchAt(BARE_VALUE, text, start);
  if (value === '' || PLAIN_VALUE.test(value) || value.startsWith(MASK.slice(0, -1))) return undefined;
  if (mark !== '') return { start, end: start + value.length, mask: mark + MASK + mark };
  const isHeader = /^[\w-]*-[\w-]*$|^(?:authorization|cookie)$/iu.test(name);
  if (!assigned && !isHeader && PROSE.test(value)) return undefined;
  if (assigned && value.length < SHORTEST_ASSIGNED) return undefined;
  return { start, end: start + lengthOf(text, start, { name, value }), mask: MASK };
}

/** Shorter values belong to formulas and switches. */
const SHORTEST_ASSIGNED = 4;

function lengthOf(
  text: string,
  start: number,
  { name, value }: { readonly name: string; readonly value: string },
): number {
  if (/cookie$/iu.test(name)) return matchAt(REST_OF_LINE, text, start).length;
  return SCHEME.test(value) ? value.length + matchAt(NEXT_WORD, text, start + value.length).length : value.length;
}

function matchAt(sticky: RegExp, text: string, at: number): string {
  sticky.lastIndex = at;
  return sticky.exec(text)?.[0] ?? '';
}

/** The start of a word. In JSON text, a line break before the word is spelled `\n`. */
const START = String.raw`(?<=^|[^A-Za-z0-9]|\\[nrtbf]|%[\da-fA-F]{2})`;

/** One of these begins each pattern of general use. A few short texts in one search cost a third of a microsecond per KB. */
const COMMON_HINT = /sk[-_]|rk[-_]|pk[-_]|earer |EARER |asic |ASIC |AIza|AKIA|ASIA|ya29|eyJ/u;

/** The marks of services. V8 finds a hyphen and then looks behind it in half the time of a search for all of these. */
const UNDERSCORE_HINT = /gh[pousr]_|github_pat_|gsk_|npm_|whsec_|hf_|svc_/u;
const HYPHEN_HINT = /[a-z]-(?<=glpat-|pplx-|nvapi-|xox[abeprs]-|xai-)/u;

/** Most log lines have no underscore. */
function hasServiceHint(text: string): boolean {
  return (text.includes('_') && UNDERSCORE_HINT.test(text)) || HYPHEN_HINT.test(text);
}

const PRIVATE_KEY = '-----BEGIN ';

/** They match no quote, and no backslash except those of line breaks, so that a JSON line stays valid. */
type Pattern = readonly [pattern: RegExp, replacement: string];

const COMMON_PATTERNS: readonly Pattern[] = [
  [shape(String.raw`(?:sk|rk|pk)-(?:(?=[A-Za-z_*-]{0,64}\d)[\w*-]{4,}|[\w*-]{8,})`), MASK],
  [shape(String.raw`(?:sk|rk|pk)_(?:live|test)_\w{8,}`), MASK],
  [shape(String.raw`([Bb]earer|[Bb]asic|BEARER|BASIC)(\s+)[\w.~+/=%-]{8,}`), `$1$2${MASK}`],
  [shape(String.raw`AIza[\w-]{16,}`), MASK],
  [shape('(?:AKIA|ASIA)[A-Z0-9]{16}'), MASK],
  [shape(String.raw`ya29\.[\w-]{8,}`), MASK],
  [shape(String.raw`eyJ[\w-]{8,}\.[\w-]*(?:\.[\w-]*){0,3}`), MASK],
];

const SERVICE_PATTERNS: readonly Pattern[] = [
  [shape(String.raw`(?:gh[pousr]_|github_pat_|hf_|gsk_|npm_|whsec_)\w{16,}`), MASK],
  // The keys of `svc keys create`. Names of metrics are shorter.
  [shape(String.raw`svc_[\w-]{43}(?![\w-])`), MASK],
  [shape(String.raw`(?:glpat-|xox[abeprs]-|pplx-|xai-|nvapi-)[\w-]{12,}`), MASK],
];

const PRIVATE_KEYS: readonly Pattern[] = [
  [
    /-----BEGIN [A-Z\d ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[\w+/=\s:,]|\\+[nr])*(?:-----END [A-Z\d ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?/gu,
    MASK,
  ],
];

function shape(source: string): RegExp {
  return new RegExp(START + source, 'gu');
}

function redactPatterns(text: string): string {
  let result = text;
  if (COMMON_HINT.test(result)) result = replaceAll(result, COMMON_PATTERNS);
  if (hasServiceHint(result)) result = replaceAll(result, SERVICE_PATTERNS);
  return result.includes(PRIVATE_KEY) ? replaceAll(result, PRIVATE_KEYS) : result;
}

function replaceAll(text: string, patterns: readonly Pattern[]): string {
  let result = text;
  for (const [pattern, replacement] of patterns) result = result.replace(pattern, replacement);
  return result;
}
