import { isCredentialName } from './credential-name.ts';
import { isJsonObject, parseJson } from './json.ts';
import { percentDecoded } from './percent-encoding.ts';

/** A shorter value is a word, not a credential: masking it everywhere would make ordinary text unreadable. */
export const SHORTEST_SECRET = 6;

/** Names of headers and query parameters whose values are not secrets, although they can look like secrets. */
const PLAIN_HEADER =
  /^(?:accept|accept-.*|anthropic-(?:beta|version)|api-version|content-.*|http-referer|openai-beta|referer|user-agent|x-.*-version|x-title)$/iu;

/** A string that a program generated: long, without spaces, with letters and digits. */
const GENERATED = /^(?=\S*\d)(?=\S*[A-Za-z])\S{16,}$/u;

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
