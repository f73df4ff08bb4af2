import { isCredentialName, credentialsIn, SHORTEST_SECRET } from '../base/credentials.ts';
import { isJsonObject, isOptionsKey, OPTIONS_KEYS } from '../base/json.ts';

/** Keys whose values are not credentials, wherever they appear in the options. A URL under them can contain some. */
const PLAIN_KEYS: ReadonlySet<string> = new Set([
  'base_url',
  'client',
  'default_role',
  'include',
  'max_tokens',
  'model',
  'name',
  'on_loss',
  'primary',
  'provider',
  'retry_policy',
  'route_key',
  'strategy',
  'tags',
  'temperature',
  'type_builder',
]);

const NO_KEYS: ReadonlySet<string> = new Set();

/** The most credentials of one request; with more, svc logs no content of the request. */
const MOST_REQUEST_SECRETS = 64;

/** The most characters of all secrets of a request; a search for more costs too much for a log line. A private key has 3,300. */
const MOST_CHARACTERS = 64 * 1024;

/** The most values to visit in a body that can contain credentials: a log line must not cost more than the call. */
const MOST_VALUES = 25_000;

/** The text of a body without any of these has no credential. An escape can spell a part of a word. */
const HINT =
  /\\u|option|registry|"client|"env|header|params|key|token|secret|pass|pwd|auth|cookie|cred|sig|sas|jwt|bearer|hmac|connection/iu;

/** Keys of options that callers put at the top of the body, or under a misspelled name. Such requests get 400. */
const MISPLACED = /option|registry|^clients?$|^env(?:s|ironment)?$|^headers$|^queryparams$/u;

export interface RequestSecrets {
  readonly values: readonly string[];
  /** The body has a place for credentials, even if it is empty. */
  readonly expected: boolean;
  /** The number of credentials, set if there are too many, or if they are too long, to search for. */
  readonly tooMany?: string;
}

const NONE: RequestSecrets = { values: [], expected: false };

/**
 * Finds the credentials in the body of a request, to hide them in every text about it: in its options, every value of
 * `env` and every string that is not under a plain key; elsewhere, values whose keys look like credentials. If the request
 * was `refused`, keys that resemble options count as options too: no argument has such a key.
 */
export function requestSecrets(body: unknown, text: string | undefined, refused: boolean): RequestSecrets {
  if (!isJsonObject(body)) return NONE;
  const hasOptions = OPTIONS_KEYS.some((key) => Object.hasOwn(body, key));
  if (!hasOptions && text !== undefined && !HINT.test(text)) return NONE;
  const collector = new SecretCollector(refused);
  collector.visitArguments(body);
  return collector.result();
}

/** Recursion is safe because the depth of bodies is limited. */
class SecretCollector {
  readonly found = new Set<string>();
  expected = false;
  readonly #refused: boolean;
  #characters = 0;
  #visited = 0;

  constructor(refused: boolean) {
    this.#refused = refused;
  }

  result(): RequestSecrets {
    const { expected, found } = this;
    if (this.#visited > MOST_VALUES) return { values: [], expected, tooMany: `more than ${found.size}` };
    if (found.size > MOST_REQUEST_SECRETS) return { values: [], expected, tooMany: `${found.size}` };
    if (this.#characters > MOST_CHARACTERS) return { values: [], expected, tooMany: 'long' };
    return { values: [...found], expected };
  }

  visitArguments(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of this.#members(value)) {
      if (isOptionsKey(key) || (this.#refused && MISPLACED.test(folded(key)))) this.#visitOptions(inner, keysIn(key));
      else if (isCredentialName(key)) this.#visitOptions(inner, NO_KEYS);
      else this.visitArguments(inner);
    }
  }

  /** Inside `env`, any key is the name of a variable. */
  #visitOptions(value: unknown, plainKeys: ReadonlySet<string>): void {
    this.expected = true;
    if (typeof value === 'string' || typeof value === 'number') this.#add(String(value));
    else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of this.#members(value)) {
        // A name matters only for the value below it, because a request can have a hundred thousand names.
        if (plainKeys.has(key)) {
          if (typeof inner === 'string') for (const secret of credentialsIn(inner)) this.#add(secret);
          continue;
        }
        const isLeaf = typeof inner !== 'object' || plainKeys === NO_KEYS;
        this.#visitOptions(inner, isLeaf ? NO_KEYS : keysIn(key));
      }
    }
  }

  #add(value: string): void {
    if (value.length < SHORTEST_SECRET || this.found.has(value)) return;
    this.found.add(value);
    this.#characters += value.length;
  }

  /** Yields the members of an object or list until the walk has visited too many values. */
  *#members(value: object): Generator<readonly [string, unknown]> {
    for (const key of Object.keys(value)) {
      this.#visited += 1;
      if (this.#visited > MOST_VALUES) return;
      yield [key, (value as Readonly<Record<string, unknown>>)[key]];
    }
  }
}

function keysIn(key: string): ReadonlySet<string> {
  return key === 'env' || isCredentialName(key) ? NO_KEYS : PLAIN_KEYS;
}

function folded(key: string): string {
  return key
    .slice(0, 64)
    .replaceAll(/[^A-Za-z]/gu, '')
    .toLowerCase();
}
