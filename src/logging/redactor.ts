import { isRandom, KEY_PREFIXES, SHORTEST_SECRET } from '../base/credentials.ts';

/** The most renewed secrets that svc remembers, the newest ones: more than all accounts of a server need. */
const MOST_RENEWED = 500;

/**
 * Masks credentials in text: the secrets that it knows, in the forms in which programs quote them, and strings with the
 * shape of a key. It processes the whole text, so the nesting of a value does not matter. JSON text stays valid. A text
 * without credentials costs a few scans.
 */
export class Redactor {
  readonly #secrets: ReadonlySet<string>;
  readonly #renewed = new Set<string>();
  #matcher: SecretMatcher | undefined;

  constructor(secrets: Iterable<string>) {
    this.#secrets = new Set(secrets);
  }

  /** Adds a secret that became known after the start, such as an access token. */
  add(secret: string): void {
    if (this.#secrets.has(secret) || this.#renewed.has(secret)) return;
    this.#renewed.add(secret);
    const [oldest] = this.#renewed;
    if (this.#renewed.size > MOST_RENEWED && oldest !== undefined) this.#renewed.delete(oldest);
    this.#matcher = undefined;
  }

  /** For logs, and for the texts of providers in errors. */
  redact(text: string): string {
    return maskKeys(this.redactValues(text));
  }

  /** Masks only the secrets that it knows. For everything that a caller asked for: a reply can contain an invented key. */
  redactValues(text: string): string {
    this.#matcher ??= new SecretMatcher(
      [...this.#secrets, ...this.#renewed].filter((secret) => secret.length >= SHORTEST_SECRET),
    );
    const ranges = this.#matcher.find(text);
    if (ranges.length === 0) return text;
    let result = '';
    let done = 0;
    for (const range of ranges) {
      const { start, end, mask } = maskFor(text, Math.max(range.start, done), Math.max(range.end, done));
      result += text.slice(done, Math.max(start, done)) + (end > done ? mask : '');
      done = Math.max(end, done);
    }
    return result + text.slice(done);
  }
}

interface Masked extends TextRange {
  readonly mask: string;
}

/** Widens the range to whole escapes and numbers, so that JSON text stays valid. */
function maskFor(text: string, start: number, end: number): Masked {
  if (!/^[\d.]+$/u.test(text.slice(start, Math.min(end, start + 64)))) {
    return { start: escapeAt(text, start)?.start ?? start, end: escapeAt(text, end)?.end ?? end, mask: MASK };
  }
  let [from, to] = [start, end];
  while (isNumeric(text[from - 1])) from -= 1;
  while (isNumeric(text[to])) to += 1;
  // Digits can be a number of JSON.
  return { start: from, end: to, mask: '0' };
}

function isNumeric(character: string | undefined): boolean {
  return character !== undefined && /[\d.eE+-]/u.test(character);
}

/** The JSON escape that begins before `at` and ends after it. */
function escapeAt(text: string, at: number): TextRange | undefined {
  for (let start = at - 1; start >= Math.max(0, at - 5); start -= 1) {
    if (text[start] !== '\\' || !beginsEscape(text, start)) continue;
    const length = text[start + 1] === 'u' ? 6 : 2;
    return start + length > at ? { start, end: start + length } : undefined;
  }
  return undefined;
}

/** A backslash after an even number of backslashes. */
function beginsEscape(text: string, at: number): boolean {
  let before = 0;
  while (text[at - before - 1] === '\\') before += 1;
  return before % 2 === 0;
}

// --- known secrets -----------------------------------------------------------------------------------------------------

/** A part of a text, from the first character up to the one before `end`. */
interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** A body in a log line is JSON in JSON, and can quote JSON itself. */
const JSON_LEVELS = 4;

/**
 * Longer forms are split into parts of this length, each of which is masked. So a truncated secret is masked too, and the
 * work for one character of a text does not depend on the length of the secrets.
 */
const PART = 16;

/** Every part has this many characters or more, since secrets have at least 6. */
const GRAM = 4;

/** Every place in a part at which the search can meet it is one bit of a byte. */
const LONGEST_STRIDE = 8;

/** Slots of the table for each gram, so that nearly all grams of a text without secrets meet an empty one. */
const SLOTS_PER_GRAM = 32;

/**
 * Finds known secrets in a text, in the forms in which programs quote them: as they are, in JSON, in a URL, and in base64. The
 * work is linear in the length of the text, whatever the secrets are.
 */
class SecretMatcher {
  readonly #parts = new Set<string>();
  /** The lengths of the parts, longest first. */
  readonly #lengths: readonly number[];
  readonly #stride: number;
  /** For the hash of each gram, the offsets in parts at which it occurs, one bit for each. */
  readonly #offsets: Uint8Array;
  readonly #shift: number;

  /** Each secret has at least 6 characters. */
  constructor(secrets: Iterable<string>) {
    for (const secret of secrets) {
      for (const form of formsOf(secret)) for (const part of partsOf(form)) this.#parts.add(part);
    }
    this.#lengths = [...new Set([...this.#parts].map(({ length }) => length))].toSorted((a, b) => b - a);
    this.#stride = Math.min(LONGEST_STRIDE, (this.#lengths.at(-1) ?? PART) - GRAM + 1);
    const bits = 32 - Math.clz32(this.#parts.size * this.#stride * SLOTS_PER_GRAM);
    this.#shift = 32 - bits;
    this.#offsets = new Uint8Array(1 << bits);
    for (const part of this.#parts) this.#addGrams(part);
  }

  find(text: string): readonly TextRange[] {
    const ranges: Array<{ start: number; end: number }> = [];
    if (this.#parts.size === 0) return ranges;
    const [stride, shift, slots] = [this.#stride, this.#shift, this.#offsets];
    for (let at = 0; at + GRAM <= text.length; at += stride) {
      const offsets = slots[slotAt(text, at, shift)] ?? 0;
      if (offsets === 0) continue;
      for (let offset = stride - 1; offset >= 0; offset -= 1) {
        if ((offsets & (1 << offset)) !== 0) this.#addMatch(text, at - offset, ranges);
      }
    }
    return ranges;
  }

  #addGrams(part: string): void {
    for (let offset = 0; offset < this.#stride; offset += 1) {
      const slot = slotAt(part, offset, this.#shift);
      this.#offsets[slot] = (this.#offsets[slot] ?? 0) | (1 << offset);
    }
  }

  /** Adds the longest part that begins at `start`. The search visits each start once, in order. */
  #addMatch(text: string, start: number, ranges: Array<{ start: number; end: number }>): void {
    const length = this.#lengths.find((each) => this.#parts.has(text.slice(Math.max(0, start), start + each)));
    if (length === undefined || start < 0) return;
    const last = ranges.at(-1);
    if (last !== undefined && start <= last.end) last.end = Math.max(last.end, start + length);
    else ranges.push({ start, end: start + length });
  }
}

function slotAt(text: string, at: number, shift: number): number {
  const gram =
    text.charCodeAt(at) ^
    (text.charCodeAt(at + 1) << 8) ^
    (text.charCodeAt(at + 2) << 16) ^
    (text.charCodeAt(at + 3) << 24);
  // Multiplication by 2^32 divided by the golden ratio spreads similar grams (Knuth, volume 3, 6.4).
  return Math.imul(gram, 0x9e3779b1) >>> shift;
}

function formsOf(secret: string): ReadonlySet<string> {
  const forms = new Set([secret]);
  const quoted = inJson(secret);
  for (let text of [quoted, quoted.replaceAll('/', String.raw`\/`)]) {
    for (let level = 0; level < JSON_LEVELS; level += 1, text = inJson(text)) forms.add(text);
  }
  const inUrl = encodeURIComponent(Buffer.from(secret).toString());
  forms.add(inUrl);
  forms.add(inUrl.replaceAll(/%../gu, (escape) => escape.toLowerCase()));
  forms.add(new URLSearchParams([['', secret]]).toString().slice(1));
  for (const alphabet of ['base64', 'base64url'] as const) forms.add(inBase64(secret, alphabet));
  return forms;
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Leaves out a last digit of fewer than 6 bits: a line break after the secret changes it. */
function inBase64(secret: string, alphabet: 'base64' | 'base64url'): string {
  const bytes = Buffer.from(secret);
  return bytes.toString(alphabet).slice(0, Math.floor((bytes.length * 8) / 6));
}

function partsOf(form: string): readonly string[] {
  const parts: string[] = [];
  for (let start = 0; start + PART < form.length; start += PART) parts.push(form.slice(start, start + PART));
  return [...parts, form.slice(-PART)];
}

const MASK = '[redacted]';

/** The start of a word. In JSON text, a line break before the word is spelled `\n`; in a URL, a space is `%20`. */
const START = String.raw`(?<=^|[^A-Za-z0-9]|\\[nrtbf]|%[\da-fA-F]{2})`;

/** Keys of services, by the prefix with which each service marks its own. The token after it has to look random. */
const SERVICE_KEY = new RegExp(String.raw`${START}(${KEY_PREFIXES})([\w*-]{12,})`, 'gu');

/** Credentials of the header `authorization`. */
const AUTHORIZATION = new RegExp(String.raw`${START}((?:[Bb]earer|[Bb]asic|BEARER|BASIC)\s+)([\w.~+/=%-]{8,})`, 'gu');

/** Ids of AWS keys, and JSON Web Tokens. */
const TOKEN = new RegExp(
  String.raw`${START}(?:(?:AKIA|ASIA)(?=[A-Z]*\d)[A-Z\d]{16}|eyJ[\w-]{8,}\.[\w-]*(?:\.[\w-]*){0,3})`,
  'gu',
);

const PRIVATE_KEY =
  /-----BEGIN [A-Z\d ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[\w+/=\s:,]|\\+[nr])*(?:-----END [A-Z\d ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?/gu;

/** The user and password of a URL. JSON text can escape its slashes. */
const USER_INFO = /(:\\*\/\\*\/)[^\s/?#"'<>\\]+(?=@)/gu;

/** One of these is in every text that one of the first patterns matches. A few short texts in one search are fast. */
const COMMON_HINT = /[srp]k[-_]|earer|EARER|asic|ASIC|AIza|AKIA|ASIA|ya29|eyJ/u;

/** V8 finds a hyphen and then looks behind it in half the time of a search for all of these. Most log lines have no underscore. */
const UNDERSCORE_HINT = /gh[pousr]_|github_pat_|gsk_|hf_|npm_|svc_|whsec_/u;
const HYPHEN_HINT = /[a-z]-(?<=glpat-|nvapi-|pplx-|xai-|xox[abeprs]-)/u;

/**
 * Masks every string with the shape of a credential: keys of well-known services, tokens, private keys, the user and
 * password of URLs. JSON text stays valid: a match contains no quote, and no backslash but those of line breaks. The work is
 * linear in the length of the text.
 */
export function maskKeys(text: string): string {
  let result = text;
  if (hasHint(text)) {
    result = result
      .replace(SERVICE_KEY, (match: string, _prefix: string, token: string) => (isRandom(token) ? MASK : match))
      .replace(AUTHORIZATION, (match: string, scheme: string, token: string) => {
        return isRandom(token) ? scheme + MASK : match;
      })
      .replace(TOKEN, MASK);
  }
  if (result.includes('@')) result = result.replace(USER_INFO, `$1${MASK}`);
  return result.includes('-----BEGIN ') ? result.replace(PRIVATE_KEY, MASK) : result;
}

function hasHint(text: string): boolean {
  return COMMON_HINT.test(text) || (text.includes('_') && UNDERSCORE_HINT.test(text)) || HYPHEN_HINT.test(text);
}

/**
 * A search has to see this many characters after a cut: no search finds the part of a credential that a cut leaves, and the first
 * part of a credential that begins before the cut ends at most this far after it, in every encoding.
 */
const REACH = 1024;

/** At most the first `limit` characters of a text, without any part of the credentials that `redact` masks. */
export function redactedHead(
  text: string,
  limit: number,
  redact: (text: string) => string,
): { readonly head: string; readonly isCut: boolean } {
  const clean = redact(text.slice(0, limit + REACH));
  // Masks can be shorter than what they hide, and the end of the window can have cut a credential.
  const safe = text.length > limit + REACH ? Math.max(0, clean.length - REACH) : clean.length;
  const end = Math.min(limit, safe);
  return { head: clean.slice(0, end), isCut: clean.length > end || text.length > limit + REACH };
}
