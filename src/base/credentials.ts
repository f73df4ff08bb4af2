import { isJsonObject, parseJson } from './json.ts';
import { percentDecoded } from './percent-encoding.ts';

/** For longer names, only the end decides, so that a hostile name costs little. */
const LONGEST_NAME = 128;

/** Ends of names, without separators and in lower case, whose values are credentials. */
const CREDENTIAL_END =
  /(?:passwords?|passwds?|passphrases?|passcodes?|secrets?|(?:api|access|secret|private|auth|account|shared|signing|encryption|master|admin|subscription|client|service)keys?|accesskeyids?|secretids?|credentials?|creds|authorization|authorisation|cookies?|signatures?|(?:access|auth|session|security|refresh|id|api|bearer|sas|csrf|xsrf)tokens?|token|connectionstrings?|bearer|jwts?|assertion)$/u;

/** Words that mark the name of a credential, unless the last word shows that the value only describes the credential. */
const CREDENTIAL_WORDS: ReadonlySet<string> = new Set([
  'apikey',
  'authorization',
  'cookie',
  'credential',
  'credentials',
  'passphrase',
  'passwd',
  'password',
  'secret',
  'signature',
]);

/** Last words of names such as `token_count`, `secret_name`, `cookie_policy`: the value is not the credential itself. */
const ABOUT_CREDENTIALS: ReadonlySet<string> = new Set(
  'age algorithm alg at budget count counts dir directory domain enabled env expires expiry file folder format header host hint id ids in index kind length limit limits max method methods min missing mode name names param parameter path policy port prefix provider ratio required rotation rule rules scheme size sock source status suffix ttl type types uri url usage used valid validity variable version window'.split(
    ' ',
  ),
);

/** Words before `token` that mark parts of text and positions in pages rather than credentials. */
const PLAIN_TOKENS: ReadonlySet<string> = new Set(
  'begin bos cls continuation cursor end eos first last mask max min next pad page per prev previous sep special start stop unk'.split(
    ' ',
  ),
);

/** Words before `key` that mark the keys of data. */
const PLAIN_KEYS: ReadonlySet<string> = new Set(
  'answer array bucket cache candidate column composite config data dedupe dict field foreign group hash hot i18n idempotency index issue item json label locale lookup map message music name natural object option order parent partition primary project property public range registry routing row s3 search shard sort surrogate template ticket translation type unique value'.split(
    ' ',
  ),
);

/** Last words that mark a credential only as separate words: `author` and `design` contain them too. */
const SHORT_WORDS: ReadonlySet<string> = new Set(['auth', 'hmac', 'pwd', 'sas', 'sig']);

const judged = new Map<string, boolean>();

/** Requests choose the names, so their number is limited. */
const MOST_JUDGED = 4096;

/**
 * True if the shape of a name shows that its values are credentials: `api_key`, `X-Api-Key`, `clientSecret`,
 * `AWS_SESSION_TOKEN`, `set-cookie`. Names of counts and types (`max_tokens`, `token_type`) and of other keys
 * (`primary_key`) are not.
 */
export function isCredentialName(name: string): boolean {
  if (!mayEndCredentialName(name, name.length)) return false;
  const short = name.length > LONGEST_NAME ? name.slice(-LONGEST_NAME) : name;
  const known = judged.get(short);
  if (known !== undefined) return known;
  const verdict = judge(short);
  if (judged.size >= MOST_JUDGED) judged.clear();
  judged.set(short, verdict);
  return verdict;
}

function judge(name: string): boolean {
  const words = wordsOf(name);
  const last = words.at(-1) ?? '';
  const before = words.at(-2) ?? '';
  if (/accesskeyids?$|secretids?$/u.test(words.join(''))) return true;
  if (ABOUT_CREDENTIALS.has(last)) return false;
  if (last === 'token' && PLAIN_TOKENS.has(before)) return false;
  if (/^keys?$/u.test(last)) return words.length > 1 && !PLAIN_KEYS.has(before);
  if (last === 'pass') return words.length > 1;
  if (SHORT_WORDS.has(last) || words.some((word) => CREDENTIAL_WORDS.has(word))) return true;
  return CREDENTIAL_END.test(words.join(''));
}

/** The words of `snake_case`, `kebab-case`, `camelCase`, `PascalCase` and `ABBRWords`, in lower case, without digits at ends. */
function wordsOf(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])|([A-Z])([A-Z][a-z])/gu, '$1$3 $2$4')
    .split(/[^A-Za-z0-9]+/u)
    .map((word) => word.toLowerCase().replace(/\d+$/u, ''))
    .filter((word) => word !== '');
}

/** Last words of credential names, also of those that have a word such as `password` before them. */
const LAST_WORDS =
  'key keys token tokens password passwords passwd passwds passphrase passphrases passcode passcodes secret secrets credential credentials creds authorization authorisation cookie cookies signature signatures string strings bearer jwt jwts assertion auth hmac pwd sas sig pass ' +
  'content json value old new current previous backup raw plain base confirm confirmation string secret _id -id yid tid';

/** Marks the last three letters of `LAST_WORDS`, each as the five bits that ASCII has in common for both cases. */
const ENDS = new Uint8Array(1 << 15);

for (const word of LAST_WORDS.split(' ')) ENDS[endOf(word, word.length)] = 1;

/**
 * True if the name of a credential can end before the character `end` of a text: a quick test that rules out nearly all names.
 * Digits at the end do not count.
 */
function mayEndCredentialName(text: string, end: number): boolean {
  let last = end;
  while (last > end - MOST_DIGITS && isDigitOrMark(text.charCodeAt(last - 1))) last -= 1;
  return ENDS[endOf(text, last)] === 1;
}

/** In `api_key_2` and `base64`. */
const MOST_DIGITS = 4;

function isDigitOrMark(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || code === 0x5f || code === 0x2d;
}

function endOf(text: string, end: number): number {
  return (
    ((text.charCodeAt(end - 3) & 31) << 10) | ((text.charCodeAt(end - 2) & 31) << 5) | (text.charCodeAt(end - 1) & 31)
  );
}

/** A shorter value is a word, not a credential: masking it everywhere would make ordinary text unreadable. */
export const SHORTEST_SECRET = 6;

/** Names of headers and query parameters whose values are not secrets, although they can look like secrets. */
const PLAIN_HEADER =
  /^(?:accept|accept-.*|anthropic-(?:beta|version)|api-version|content-.*|http-referer|openai-beta|referer|user-agent|x-.*-version|x-title)$/iu;

/** A string that a program generated: long, without spaces, with letters and digits. */
const GENERATED = /^(?=\S*\d)(?=\S*[A-Za-z])\S{16,}$/u;

/** The prefixes with which services mark their keys, as alternatives of a pattern. */
export const KEY_PREFIXES = String.raw`[srp]k-|[srp]k_(?:live|test)_|AIza|ya29\.|gh[pousr]_|github_pat_|glpat-|gsk_|hf_|npm_|nvapi-|pplx-|svc_|whsec_|xai-|xox[abeprs]-`;

const KEY = new RegExp(String.raw`^(?:${KEY_PREFIXES})(?<token>[\w-]{12,})$`, 'u');

/** No word of a language is that long. */
const LONG_WORD = /^[A-Za-z\d]{20,}$/u;

/** True for a string with the form of a key of a well-known service. */
export function isKey(text: string): boolean {
  const token = KEY.exec(text)?.groups?.['token'];
  return token !== undefined && (isRandom(token) || LONG_WORD.test(token));
}

/** A change from a letter to a digit or back, or from lower to upper case. */
const CHANGE = /[A-Za-z](?=\d)|\d(?=[A-Za-z])|[a-z](?=[A-Z])/gu;

/** Words and dates have fewer. Of 16 random letters and digits, one in 500 has so few. */
const RANDOM_CHANGES = 3;

/** Random characters change their kind often; words do not. Asterisks mark a key that a service quotes in part. */
export function isRandom(token: string): boolean {
  return token.includes('***') || (token.match(CHANGE)?.length ?? 0) >= RANDOM_CHANGES;
}

/** True for a string with the form of a generated key under the name of a credential. A short one, such as `ollama`, is a placeholder. */
export function isGeneratedCredential(name: string, text: string): boolean {
  return isCredentialName(name) && GENERATED.test(text.replace(/^[A-Za-z]\S*\s+(?=\S+$)/u, ''));
}

/** The user and password of a URL. */
const USER_INFO = /^[a-z][a-z0-9+.-]*:\/\/(?<info>[^/?#\s]*)@/iu;

/**
 * Returns the credentials in the options of a client, as JSON data: strings under names of credentials, headers and query
 * parameters whose name or value looks like a credential, and credentials in URLs. Searches a string that contains JSON like
 * the value that it represents.
 */
export function credentialsIn(options: unknown): ReadonlySet<string> {
  const found = new Set<string>();
  collect(options, { inHeaders: false, secret: false }, found);
  return found;
}

interface Place {
  /** Names are those of headers or query parameters. */
  readonly inHeaders: boolean;
  /** The name of the value, or of one around it, looks like a credential. */
  readonly secret: boolean;
}

function collect(value: unknown, place: Place, found: Set<string>): void {
  if (typeof value === 'string') collectText(value, place, found);
  else if (Array.isArray(value)) for (const item of value) collect(item, place, found);
  else if (isJsonObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      const isSecret = place.secret || isCredentialName(name) || (place.inHeaders && isSecretHeader(name, member));
      collect(member, { inHeaders: /^(?:headers|query_params)$/u.test(name), secret: isSecret }, found);
    }
  }
}

function isSecretHeader(name: string, value: unknown): boolean {
  if (PLAIN_HEADER.test(name) || typeof value !== 'string') return false;
  return /^key$/iu.test(name) || GENERATED.test(value);
}

function collectText(text: string, { secret }: Place, found: Set<string>): void {
  const data = text.trimStart().startsWith('{') ? parseJson(text) : undefined;
  if (data !== undefined) {
    // An account has public parts too, such as its type: they keep their own names.
    collect(data, { inHeaders: false, secret: false }, found);
    return;
  }
  if (secret) addCredential(text, found);
  addUrlCredentials(text, found);
}

/** Others can quote `Bearer abc`, or `abc` alone. */
function addCredential(text: string, found: Set<string>): void {
  for (const each of [text, text.replace(/^[A-Za-z]\S*\s+(?=\S+$)/u, '')]) {
    if (each.length >= SHORTEST_SECRET) found.add(each);
  }
}

/** The user, the password and the query keys of a URL, as it spells them and decoded. */
function addUrlCredentials(text: string, found: Set<string>): void {
  if (!text.includes('://')) return;
  const info = USER_INFO.exec(text)?.groups?.['info'];
  if (info !== undefined) {
    const [user = '', ...password] = info.split(':');
    const credential = password.length === 0 ? user : password.join(':');
    addCredential(percentDecoded(credential) ?? credential, found);
  }
  const query = /\?(?<query>[^#]*)/u.exec(text)?.groups?.['query'] ?? '';
  for (const [name, value] of new URLSearchParams(query)) {
    if (isCredentialName(name) || isSecretHeader(name, value)) addCredential(value, found);
  }
}
