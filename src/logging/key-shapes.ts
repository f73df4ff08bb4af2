export const MASK = '[redacted]';

/** The start of a word. In JSON text, a line break before the word is spelled `\n`; in a URL, a space is `%20`. */
const START = String.raw`(?<=^|[^A-Za-z0-9]|\\[nrtbf]|%[\da-fA-F]{2})`;

/** Keys of services, by the prefix with which each service marks its own. The token after it has to look random. */
const SERVICE_KEY = new RegExp(
  String.raw`${START}([srp]k-|[srp]k_(?:live|test)_|AIza|ya29\.|gh[pousr]_|github_pat_|glpat-|gsk_|hf_|npm_|nvapi-|pplx-|svc_|whsec_|xai-|xox[abeprs]-)([\w*-]{12,})`,
  'gu',
);

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

/** A change from a letter to a digit or back, or from lower to upper case. */
const CHANGE = /[A-Za-z](?=\d)|\d(?=[A-Za-z])|[a-z](?=[A-Z])/gu;

/** Words and dates have fewer. Of 16 random letters and digits, one in 500 has so few. */
const RANDOM_CHANGES = 3;

/** Random characters change their kind often; words do not. Asterisks mark a key that a service quotes in part. */
function isRandom(token: string): boolean {
  return token.includes('***') || (token.match(CHANGE)?.length ?? 0) >= RANDOM_CHANGES;
}
