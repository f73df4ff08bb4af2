import { isJsonObject, type JsonValue } from '../../base/json.ts';
import { OPTIONS_KEYS } from '../../base/options-keys.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { didYouMean } from '../../base/suggestion.ts';
import { optionOfJson, type ClientType } from '../../schema/client.ts';
import { providerNamed, PROVIDERS } from '../../schema/providers/providers.ts';
import type { Provider } from '../../schema/providers/providers.ts';
import type { Failure } from '../../schema/failure.ts';
import type { TypeSource } from '../../schema/type-extension.ts';
import type { Violation } from '../../schema/violation.ts';
import { ViolationList } from '../../schema/violation.ts';
import { requestTtl } from './cache-ttl.ts';
import { ON_LOSS, type OnLoss } from './losses.ts';
import { oversizeFaults } from './option-limits.ts';

/** A fact about a call, as a member of `meta` in its answer. */
export type MetaPart = 'usage' | 'client' | 'attempts' | 'raw' | 'reasoning' | 'prompt' | 'timing';

/** A part of an answer beside the value. `warnings`: what the value lacks; `trace`: everything that happened. */
export type AnswerPart = 'warnings' | MetaPart | 'trace';

const CALL_PARTS: readonly AnswerPart[] = [
  'warnings',
  'usage',
  'client',
  'attempts',
  'raw',
  'reasoning',
  'prompt',
  'timing',
];

/** The parts that show the prompt of the owner, or what the model wrote beside the value. */
const PROMPT_PARTS: readonly unknown[] = ['raw', 'reasoning', 'prompt'] satisfies readonly AnswerPart[];

export const NO_PARTS: ReadonlySet<AnswerPart> = new Set();

/** The options of one request that concern its value. */
export interface ReplyOptions {
  /** The parts that the caller asks for. */
  readonly include: ReadonlySet<AnswerPart>;
  /** Absent: the setting of the server applies. */
  readonly onLoss?: OnLoss;
}

/** The options of one request: how svc serves it. */
export interface CallOptions extends ReplyOptions {
  /** The name under which the request sent them; the paths of violations begin with it. */
  readonly key: string;
  /** The client to call instead of the function's own, and the path at which the request names it. */
  readonly client?: { readonly name: string; readonly path: string };
  /** Clients to try in this order when the first one fails. */
  readonly fallback: readonly string[];
  readonly clients: readonly ClientType[];
  readonly env: ReadonlyMap<string, string | null>;
  /** `ctx.tags` in the prompt. */
  readonly tags: ReadonlyMap<string, string>;
  /** Decides the members of round-robin clients. */
  readonly routeKey?: string;
  /** How long the answer can be returned again, in milliseconds; 0: not at all. Absent: the client decides. */
  readonly cacheTtlMs?: number;
}

export function hasCallOptions(body: Readonly<Record<string, unknown>>): boolean {
  return OPTIONS_KEYS.some((key) => Object.hasOwn(body, key));
}

/** Reads the options of a request strictly and reports every violation, up to the first hundred. */
export function readCallOptions(
  body: Readonly<Record<string, unknown>>,
  allowed: AllowedOptions,
): Result<CallOptions, Failure> {
  return readOptions(body, (key, value, faults) => new CallOptionsReader(key, allowed, faults).read(value));
}

/** What the server allows requests to ask for. */
export interface AllowedOptions {
  readonly clientRegistry: 'open' | 'known' | 'off';
  readonly traces?: boolean;
  /** Requests can ask for the prompt and the reply. A server that allows traces allows these too. */
  readonly exposePrompts?: boolean;
  /** Requests can ask for a cache. */
  readonly cache?: boolean;
  /** Compiles the types with which requests extend those of the definitions. Absent: requests cannot. */
  readonly typeSource?: TypeSource | undefined;
}

/** Reads the options of a request to parse a reply, which calls no client. */
export function readReplyOptions(
  body: Readonly<Record<string, unknown>>,
  { typeSource }: Pick<AllowedOptions, 'typeSource'>,
): Result<ReplyOptions, Failure> {
  return readOptions(body, (key, value, faults) =>
    new CallOptionsReader(key, { clientRegistry: 'off', typeSource }, faults).readReply(value),
  );
}

/** The options as a request sends them. */
interface SentOptions {
  readonly key: string;
  readonly value: unknown;
  /** Further names for options in the same request, which is an error. */
  readonly others: readonly string[];
}

/** Finds the options of a request; undefined if it has none, which is the usual case. */
export function sentOptions(body: Readonly<Record<string, unknown>>): SentOptions | undefined {
  if (!hasCallOptions(body)) return undefined;
  const [key = OPTIONS_KEYS[0], ...others] = OPTIONS_KEYS.filter((name) => Object.hasOwn(body, name));
  return { key, value: body[key], others };
}

function readOptions<Options>(
  body: Readonly<Record<string, unknown>>,
  read: (key: string, value: unknown, faults: ViolationList) => Options,
): Result<Options | CallOptions, Failure> {
  const sent = sentOptions(body);
  if (sent === undefined) return ok(NO_OPTIONS);
  const { key, value, others } = sent;
  const faults = new ViolationList();
  for (const other of others) {
    const message = `"${key}" and "${other}" are two names for the same object: send only one of them`;
    faults.add({ path: '', message });
  }
  const oversize = oversizeFaults(value, key);
  if (oversize.all.length > 0) return err(invalidOptions(oversize.all));
  const options = read(key, value, faults);
  return faults.all.length === 0 ? ok(options) : err(invalidOptions(faults.all));
}

const NO_OPTIONS: CallOptions = {
  key: OPTIONS_KEYS[0],
  fallback: [],
  clients: [],
  env: new Map(),
  tags: new Map(),
  include: NO_PARTS,
};

const REPLY_KEYS: readonly string[] = ['include', 'on_loss', 'type_builder'];

const CALL_KEYS: readonly string[] = ['client_registry', 'env', 'client', 'tags', 'route_key', 'cache', ...REPLY_KEYS];

export function invalidOptions(details: readonly Violation[]): Failure {
  const [first] = details;
  const where = first === undefined || first.path === '' ? '' : `${first.path}: `;
  const more = details.length > 1 ? ` (and ${details.length - 1} more)` : '';
  return {
    code: 'invalid_options',
    message: `The options of the request are not valid. ${where}${first?.message ?? ''}${more}`,
    details,
  };
}

/** A kind of map in the options: the values that it accepts, and the words for messages about it. */
interface MapKind<Text> {
  readonly entries: string;
  readonly value: string;
  accepts(value: unknown): value is Text;
}

const TAGS: MapKind<string> = {
  entries: 'tags to strings',
  value: 'a string',
  accepts: (value) => typeof value === 'string',
};

const VARIABLES: MapKind<string | null> = {
  entries: 'variables to strings or null',
  value: 'a string, or null to remove the variable',
  accepts: (value) => typeof value === 'string' || value === null,
};

/** An identifier of a user or a session is shorter. */
const ROUTE_KEY = /^.{1,256}$/su;

const ROUTE_KEY_RULE = 'has to be a string of 1 to 256 characters';

function isRouteKey(value: unknown): value is string {
  return typeof value === 'string' && ROUTE_KEY.test(value);
}

const SWITCHED_OFF = 'is disabled on this server';

class CallOptionsReader {
  readonly #key: string;
  readonly #registry: 'open' | 'known' | 'off';
  /** The parts that the answer of a call or stream can have. */
  readonly #parts: readonly AnswerPart[];
  readonly #showsPrompts: boolean;
  readonly #extendsTypes: boolean;
  readonly #cache: boolean;
  readonly #faults: ViolationList;

  constructor(
    key: string,
    { clientRegistry, traces = false, exposePrompts = false, typeSource, cache = false }: AllowedOptions,
    faults: ViolationList,
  ) {
    this.#key = key;
    this.#registry = clientRegistry;
    this.#parts = traces ? [...CALL_PARTS, 'trace'] : CALL_PARTS;
    this.#showsPrompts = traces || exposePrompts;
    this.#extendsTypes = typeSource !== undefined;
    this.#cache = cache;
    this.#faults = faults;
  }

  #fault(path: string, message: string): void {
    this.#faults.add({ path, message });
  }

  readReply(value: unknown): ReplyOptions {
    return this.#replyOptions(this.#members(value, this.#key, REPLY_KEYS), ['warnings']);
  }

  read(value: unknown): CallOptions {
    const members = this.#members(value, this.#key, CALL_KEYS);
    const registry = this.#readRegistry(members['client_registry']);
    const client = this.#client(members['client'], `${this.#key}.client`);
    if (client !== undefined && this.#registry === 'off') this.#fault(client.path, SWITCHED_OFF);
    const primary = registry.client;
    if (client !== undefined && primary !== undefined && client.name !== primary.name) {
      this.#fault(client.path, 'names a different client than "client_registry.primary": send only one of them');
    }
    const chosen = primary ?? client;
    const routeKey = members['route_key'];
    if (routeKey !== undefined && !isRouteKey(routeKey)) this.#fault(`${this.#key}.route_key`, ROUTE_KEY_RULE);
    const cacheTtlMs = this.#cacheTtl(members['cache'], `${this.#key}.cache`);
    return {
      ...registry,
      key: this.#key,
      ...(chosen === undefined ? {} : { client: chosen }),
      env: this.#stringMap(members['env'], `${this.#key}.env`, VARIABLES),
      tags: this.#stringMap(members['tags'], `${this.#key}.tags`, TAGS),
      ...(isRouteKey(routeKey) ? { routeKey } : {}),
      ...(cacheTtlMs === undefined ? {} : { cacheTtlMs }),
      ...this.#replyOptions(members, this.#parts),
    };
  }

  #cacheTtl(value: unknown, path: string): number | undefined {
    if (value === undefined) return undefined;
    if (!this.#cache) this.#fault(path, `${SWITCHED_OFF}: it needs --cache (SVC_CACHE)`);
    return requestTtl(this.#members(value, path, ['ttl'])['ttl'], (message) => this.#fault(`${path}.ttl`, message));
  }

  #replyOptions(members: Readonly<Record<string, unknown>>, parts: readonly AnswerPart[]): ReplyOptions {
    const included = this.#list(members['include'], `${this.#key}.include`);
    for (const [index, name] of included.entries()) this.#part(name, `${this.#key}.include[${index}]`, parts);
    // `DynamicTypes` reads its value.
    if (members['type_builder'] !== undefined && !this.#extendsTypes) {
      this.#fault(`${this.#key}.type_builder`, `${SWITCHED_OFF}: it needs --dynamic-types on (SVC_DYNAMIC_TYPES)`);
    }
    const onLoss = members['on_loss'];
    if (onLoss !== undefined) this.#choice(onLoss, `${this.#key}.on_loss`, ON_LOSS);
    return {
      include: new Set(parts.filter((part) => included.includes(part))),
      ...(onLoss === undefined ? {} : { onLoss: onLoss as OnLoss }),
    };
  }

  #part(name: unknown, path: string, parts: readonly AnswerPart[]): void {
    this.#choice(name, path, parts);
    if (this.#showsPrompts || !PROMPT_PARTS.includes(name) || !parts.includes(name as AnswerPart)) return;
    this.#fault(path, `${SWITCHED_OFF}: it needs --expose-prompts (SVC_EXPOSE_PROMPTS)`);
  }

  #choice(value: unknown, path: string, allowed: readonly string[]): void {
    if (allowed.includes(value as string)) return;
    const words = allowed.map((word) => `"${word}"`).join(', ');
    this.#fault(path, `has to be ${words.replace(/, (?=[^,]*$)/u, ' or ')}`);
  }

  #client(value: unknown, path: string): CallOptions['client'] {
    const name = this.#name(value, path);
    return name === undefined ? undefined : { name, path };
  }

  #readRegistry(value: unknown): Pick<CallOptions, 'client' | 'fallback' | 'clients'> {
    const path = `${this.#key}.client_registry`;
    if (value === undefined) return { fallback: [], clients: [] };
    if (this.#registry === 'off') this.#fault(path, SWITCHED_OFF);
    const members = this.#members(value, path, ['primary', 'fallback', 'clients']);
    const primary = this.#client(members['primary'], `${path}.primary`);
    const clients = this.#readClients(members['clients'], `${path}.clients`);
    if (clients.length > 0 && this.#registry === 'known') {
      this.#fault(
        `${path}.clients`,
        'is not allowed on this server: a request can name only the clients of its definition files',
      );
    }
    return {
      ...(primary === undefined ? {} : { client: primary }),
      fallback: this.#readNames(members['fallback'], `${path}.fallback`),
      clients,
    };
  }

  #readNames(value: unknown, path: string): readonly string[] {
    const names: string[] = [];
    for (const [index, item] of this.#list(value, path).entries()) {
      const name = this.#name(item, `${path}[${index}]`);
      if (name !== undefined) names.push(name);
    }
    return names;
  }

  #readClients(value: unknown, path: string): readonly ClientType[] {
    const clients: ClientType[] = [];
    for (const [index, item] of this.#list(value, path).entries()) {
      const client = this.#readClient(item, `${path}[${index}]`);
      if (client === undefined) continue;
      if (clients.some((other) => other.name === client.name)) this.#fault(`${path}[${index}].name`, 'appears twice');
      clients.push(client);
    }
    return clients;
  }

  #readClient(value: unknown, path: string): ClientType | undefined {
    const members = this.#members(value, path, ['name', 'provider', 'options', 'retry_policy']);
    if (members !== value) return undefined;
    const name = this.#required(members['name'], `${path}.name`);
    const provider = this.#provider(this.#required(members['provider'], `${path}.provider`), `${path}.provider`);
    const retryPolicy =
      members['retry_policy'] === null ? undefined : this.#name(members['retry_policy'], `${path}.retry_policy`);
    const options = members['options'] ?? {};
    if (!isJsonObject(options)) {
      this.#fault(`${path}.options`, 'has to be an object');
      return undefined;
    }
    if (name === undefined || provider === undefined) return undefined;
    return {
      name,
      provider,
      options: Object.entries(options).map(([key, option]) => ({ key, value: optionOfJson(option as JsonValue) })),
      ...(retryPolicy === undefined ? {} : { retryPolicy }),
    };
  }

  #provider(name: string | undefined, path: string): Provider | undefined {
    if (name === undefined) return undefined;
    const provider = providerNamed(name);
    if (provider !== undefined) return provider;
    this.#fault(
      path,
      `"${name}" is not a provider; allowed: ${PROVIDERS.join(', ')}. ${didYouMean(name, PROVIDERS)}`.trim(),
    );
    return undefined;
  }

  #stringMap<Text extends string | null>(value: unknown, path: string, kind: MapKind<Text>): ReadonlyMap<string, Text> {
    const map = new Map<string, Text>();
    if (value === undefined) return map;
    if (!isJsonObject(value)) {
      this.#fault(path, `has to be an object that maps names of ${kind.entries}`);
      return map;
    }
    for (const [name, text] of Object.entries(value)) {
      if (kind.accepts(text)) map.set(name, text);
      else this.#fault(`${path}.${name}`, `has to be ${kind.value}`);
    }
    return map;
  }

  #list(value: unknown, path: string): readonly unknown[] {
    if (value === undefined) return [];
    if (Array.isArray(value)) return value;
    this.#fault(path, 'has to be a list');
    return [];
  }

  #required(value: unknown, path: string): string | undefined {
    if (value !== undefined) return this.#name(value, path);
    this.#fault(path, 'is missing');
    return undefined;
  }

  #name(value: unknown, path: string): string | undefined {
    if (value === undefined) return undefined;
    if (typeof value === 'string' && value !== '') return value;
    this.#fault(path, 'has to be a string that is not empty');
    return undefined;
  }

  #members(value: unknown, path: string, allowed: readonly string[]): Readonly<Record<string, unknown>> {
    if (!isJsonObject(value)) {
      this.#fault(path, 'has to be an object');
      return {};
    }
    for (const name of Object.keys(value)) {
      if (allowed.includes(name)) continue;
      const near = didYouMean(name, allowed);
      this.#fault(`${path}.${name}`, `is unknown; allowed: ${allowed.join(', ')}${near === '' ? '' : `. ${near}`}`);
    }
    return value;
  }
}
