import { isJsonObject, type JsonValue, OPTIONS_KEYS, ownValue } from '../../base/json.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { didYouMean } from '../../base/suggestion.ts';
import { optionOfJson, type ClientType } from '../../schema/client.ts';
import { providerNamed, PROVIDERS, type Provider, PROVIDER_DESCRIPTIONS } from '../../schema/providers/providers.ts';
import type { Failure } from '../../schema/failure.ts';
import type { TypeSource } from '../../schema/type-extension.ts';
import { type Violation, ViolationList } from '../../schema/violation.ts';
import { ON_LOSS, type OnLoss } from './losses.ts';
import { pathStep, pathText, type ValuePath } from '../../base/value-path.ts';
import { DURATION_RULE, durationMs } from '../../base/amounts.ts';
import { resolveOptions, type CallEnvironment } from '../model/client-options.ts';

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
interface ReplyOptions {
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
interface AllowedOptions {
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

/** Finds the options of a request; undefined if it has none, or null, which is the usual case. */
export function sentOptions(body: Readonly<Record<string, unknown>>): SentOptions | undefined {
  const [key, ...others] = OPTIONS_KEYS.filter((name) => (ownValue(body, name) ?? null) !== null);
  return key === undefined ? undefined : { key, value: body[key], others };
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
    if (!isJsonObject(value)) return undefined;
    const name = this.#required(members['name'], `${path}.name`);
    const provider = this.#provider(this.#required(members['provider'], `${path}.provider`), `${path}.provider`);
    const retryPolicy = this.#name(members['retry_policy'], `${path}.retry_policy`);
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

  /** Returns the members of an object. Null counts as absent, as many callers write it for an option that they do not set. */
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
    return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
  }
}

/** The most entries of a map or list that svc reads itself: more clients, variables, tags or headers than any request needs. */
const MOST_ENTRIES = 100;

/**
 * The maximum number of entries in a map or list that goes to the provider or defines types: OpenAI accepts 128 tools, and enums of 1,000
 * values.
 */
const MOST_ENTRIES_OF_BODY = 1000;

/** All maps and lists together: svc goes through the options several times, at less than a microsecond for each entry. */
const MOST_ENTRIES_IN_ALL = 10_000;

/** Keys and strings together: svc encodes them for URLs, headers and bodies, at about ten nanoseconds for each character. */
const MOST_CHARACTERS = 2 ** 20;

/** The options of a client that svc reads entry by entry. All others go to the provider as they are. */
const READ_BY_ENTRY: ReadonlySet<string> = new Set(
  Object.values(PROVIDER_DESCRIPTIONS).flatMap(({ options }) =>
    Object.entries(options).flatMap(([key, { shape }]) =>
      ['list', 'map', 'settings', 'either'].includes(shape.kind) ? [key] : [],
    ),
  ),
);

/** The depth of a client's options: `svc_options.client_registry.clients[0].options`. */
const CLIENT_OPTIONS_DEPTH = 4;

/**
 * Returns the faults of options that are too large: maps and lists with too many entries, too many characters, and numbers
 * that JSON.parse cannot represent. `key` is the name under which the request sent the options. Takes few steps for options
 * of any size, because it does not walk a map or list that is too large.
 */
export function oversizeFaults(options: unknown, key: string): ViolationList {
  const walk = new SizeWalk();
  walk.measure(options, pathStep(undefined, key), MOST_ENTRIES);
  return walk.faults;
}

class SizeWalk {
  readonly faults = new ViolationList();
  #entries = 0;
  #characters = 0;
  /** The limit on all entries or characters is exceeded. */
  #stopped = false;
  /** The values are those of `type_builder`. Schemas have bounds beyond the exact integers, and their compiler checks them. */
  #inTypes = false;

  measure(value: unknown, path: ValuePath, mostEntries: number): void {
    if (typeof value === 'string') this.#countText(value, path);
    else if (typeof value === 'number') this.#checkNumber(value, path);
    else if (Array.isArray(value)) {
      if (this.#countEntries(value.length, path, mostEntries)) this.#measureList(value, path, mostEntries);
    } else if (isJsonObject(value)) {
      const keys = Object.keys(value);
      if (this.#countEntries(keys.length, path, mostEntries)) this.#measureMap(value, keys, { path, mostEntries });
    }
  }

  #measureList(list: readonly unknown[], path: ValuePath, mostEntries: number): void {
    for (let at = 0; at < list.length && !this.#stopped; at += 1) {
      this.measure(list[at], pathStep(path, at), mostEntries);
    }
  }

  #measureMap(
    map: Readonly<Record<string, unknown>>,
    keys: readonly string[],
    { path, mostEntries }: { readonly path: ValuePath; readonly mostEntries: number },
  ): void {
    const isClient = path.depth === CLIENT_OPTIONS_DEPTH && path.step === 'options';
    for (const key of keys) {
      if (this.#stopped) return;
      this.#countText(key, path);
      const isOfTypes = path.depth === 0 && key === 'type_builder';
      const isLarge = isClient ? !READ_BY_ENTRY.has(key) : isOfTypes;
      const most = isLarge ? MOST_ENTRIES_OF_BODY : mostEntries;
      if (isOfTypes) this.#inTypes = true;
      this.measure(map[key], pathStep(path, key), most);
      if (isOfTypes) this.#inTypes = false;
    }
  }

  /** Returns false if there are too many entries to walk. */
  #countEntries(count: number, path: ValuePath, most: number): boolean {
    if (count > most) {
      this.#fault(path, `has more than ${most} entries`);
      return false;
    }
    this.#entries += count;
    if (this.#entries > MOST_ENTRIES_IN_ALL) {
      this.#stop(path, `has more than ${MOST_ENTRIES_IN_ALL} entries in all its maps and lists`);
    }
    return !this.#stopped;
  }

  #countText(text: string, path: ValuePath): void {
    this.#characters += text.length;
    if (this.#characters > MOST_CHARACTERS) {
      this.#stop(path, `has more than ${MOST_CHARACTERS} characters in all its strings`);
    }
  }

  /** JSON.parse rounds long integers and makes a number out of range infinite: svc would send another number. */
  #checkNumber(value: number, path: ValuePath): void {
    if (!Number.isFinite(value)) this.#fault(path, 'is a number out of range');
    else if (!this.#inTypes && Number.isInteger(value) && !Number.isSafeInteger(value)) {
      this.#fault(path, `is an integer beyond ±${Number.MAX_SAFE_INTEGER}`);
    }
  }

  #fault(path: ValuePath, message: string): void {
    this.faults.add({ path: pathText(path), message });
  }

  #stop(path: ValuePath, message: string): void {
    if (this.#stopped) return;
    this.#stopped = true;
    let root = path;
    while (root.parent !== undefined) root = root.parent;
    this.#fault(root, message);
  }
}

/** Reads `ttl` of the option `cache` of a request, in milliseconds; 0 for no cache. Calls `fault` if it is not a duration. */
function requestTtl(ttl: unknown, fault: (message: string) => void): number | undefined {
  const ms = typeof ttl === 'string' ? durationMs(ttl) : undefined;
  if (ms === undefined) fault(`has to be ${DURATION_RULE} (at most 24d), or "0" for no cache`);
  return ms;
}

/**
 * Reads how long the answers of a client can be returned again, in milliseconds. Undefined if its definition has no option `cache`, or
 * one that is wrong, which makes the call fail.
 */
export function clientTtl(client: ClientType | undefined, environment: CallEnvironment): number | undefined {
  const own = client?.options.filter(({ key }) => key === 'cache') ?? [];
  if (own.length === 0) return undefined;
  const cache = resolveOptions(own, environment).values.get('cache');
  const ttl = isJsonObject(cache) ? cache['ttl'] : undefined;
  return typeof ttl === 'string' ? durationMs(ttl) : undefined;
}
