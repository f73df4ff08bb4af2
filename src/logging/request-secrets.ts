import { isCredentialName, credentialsIn, SHORTEST_SECRET } from '../base/credentials.ts';
import { isJsonObject, isOptionsKey } from '../base/json.ts';

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

/** Options of an offline client: what the caller wants to receive. */
const REPLY_KEYS: ReadonlySet<string> = new Set(['replies', 'reply']);

const NO_KEYS: ReadonlySet<string> = new Set();

/** The most credentials of one request; with more, svc logs no content of the request. */
const MOST_REQUEST_SECRETS = 64;

/** The most characters of all secrets of a request; a search for more costs too much for a log line. A private key has 3,300. */
const MOST_CHARACTERS = 64 * 1024;

/** The most values to visit in a body that can contain credentials: a log line must not cost more than the call. */
const MOST_VALUES = 25_000;

/** The text of arguments without any of these has no key of options. An escape can spell a part of a word. */
const NESTED_OPTIONS = /\\u|_options/u;

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

/** The body of a request, as far as it is known. */
export interface SentBody {
  readonly value: unknown;
  /** As received. */
  readonly text: string | undefined;
  /** The function's parameter names; absent if the function does not exist. */
  readonly parameters?: ReadonlySet<string> | undefined;
  /** The request got 400. */
  readonly refused: boolean;
}

const NO_PARAMETERS: ReadonlySet<string> = new Set();

/**
 * Finds the credentials in the body of a request, to hide them in every text about it.
 * - In its options: every value of `env`, and every string that is not under a plain key.
 * - In arguments that the function declares: nothing, whatever their fields are called, except options that a caller put there.
 * - Under any other key: values whose keys look like credentials. If the request was refused, keys that resemble options count
 *   as options too.
 */
export function requestSecrets({ value, text, parameters = NO_PARAMETERS, refused }: SentBody): RequestSecrets {
  if (!isJsonObject(value)) return NONE;
  const isPlain = Object.keys(value).every((key) => parameters.has(key));
  if (isPlain && text !== undefined && !NESTED_OPTIONS.test(text)) return NONE;
  const collector = new SecretCollector(refused);
  collector.visitBody(value, parameters);
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

  visitBody(body: object, parameters: ReadonlySet<string>): void {
    for (const [key, inner] of this.#members(body)) {
      if (parameters.has(key)) this.#visitArgument(inner);
      else this.#visitUnknown(key, inner);
    }
  }

  /** Names of parameters and fields state what a value means to its caller, not that it is a credential. */
  #visitArgument(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of this.#members(value)) {
      if (isOptionsKey(key)) this.#visitOptions(inner, PLAIN_KEYS);
      else this.#visitArgument(inner);
    }
  }

  #visitUnknown(key: string, value: unknown): void {
    if (isOptionsKey(key) || (this.#refused && MISPLACED.test(folded(key)))) this.#visitOptions(value, keysIn(key));
    else if (isCredentialName(key)) this.#visitOptions(value, NO_KEYS);
    else if (typeof value === 'object' && value !== null) {
      for (const [name, inner] of this.#members(value)) this.#visitUnknown(name, inner);
    }
  }

  /** Inside `env`, any key is the name of a variable. */
  #visitOptions(value: unknown, plainKeys: ReadonlySet<string>): void {
    this.expected = true;
    if (typeof value === 'string' || typeof value === 'number') this.#add(String(value));
    else if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of this.#members(value)) {
        // A name matters only for the value below it, because a request can have a hundred thousand names.
        if (plainKeys !== NO_KEYS && REPLY_KEYS.has(key)) continue;
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
