import { invariant } from '../../base/invariant.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { Failure } from '../../schema/failure.ts';
import type { PromptClient } from '../../schema/message.ts';
import type { OFFLINE } from '../../schema/providers/offline.ts';
import {
  type OptionValues,
  type OptionTable,
  headerProblem,
  MAX_VIOLATIONS,
} from '../../schema/providers/option-shapes.ts';
import {
  readOptions,
  type HttpFacts,
  type ProviderDescription,
  type ReadOptions,
} from '../../schema/providers/provider-description.ts';
import { meantOption, unsentOptions } from '../../schema/providers/other-options.ts';
import { PROVIDER_DESCRIPTIONS } from '../../schema/providers/providers.ts';
import { invalidClientOptions } from './attempt-failure.ts';
import {
  optionViolation,
  toClientOptions,
  type ClientOptions,
  type ClientSource,
  readVariable,
  resolveOptions,
  type CallEnvironment,
  type VariableRead,
} from './client-options.ts';
import { missingVariable, CredentialRule, hidesPath, ownUrl, DeclaredHosts } from './credential-rule.ts';
import type { ModelClient } from './model-client.ts';
import { createOfflineClient, offlinePrompt, type OfflineAnswers } from './providers/offline.ts';
import { HTTP_PROVIDERS, responseFormat } from './providers/providers.ts';
import { isCredentialName, credentialsIn } from '../../base/credentials.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { Redactor } from '../../logging/redactor.ts';
import { pricesOf, type PriceList } from '../../schema/price-list.ts';
import type { COMMON_OPTIONS } from '../../schema/providers/common-options.ts';
import { structureOf } from '../../schema/structured-output.ts';
import { hostRefusal, type AddressGuard } from './http/address-guard.ts';
import { type Destination, ConnectionPools } from './http/connection-pools.ts';
import { httpModelClient, type WireProtocol } from './http-model-client.ts';
import type { HttpProvider, ModelLimits, ProviderAccess, SecretGroup } from './providers/provider.ts';
import { variablesIn, type ClientType, type OptionEntry, type OptionValue } from '../../schema/client.ts';
import { indexDefinitions, type Program } from '../../schema/program.ts';
import { cloudMachine, type CloudMachine } from './providers/cloud-credential.ts';
import type { Violation } from '../../schema/violation.ts';
import { clientsOfFiles, Planner, singlePlans } from './strategies/client-plan.ts';

export interface ClientServices {
  readonly pools: ConnectionPools;
  readonly declaredHosts: DeclaredHosts;
  readonly offline: OfflineAnswers;
  /** Called with each secret of the server that becomes known while it serves, so that no log or error shows it. */
  readonly hide?: ((secret: string) => void) | undefined;
  /** For clients that state no prices. */
  readonly prices?: PriceList | undefined;
  /** The cloud on whose machine the server runs, if any. */
  readonly machine?: CloudMachine | undefined;
}

/** The origin of the calls of a client. */
export interface ClientRequester {
  readonly environment: CallEnvironment;
  /** Private and loopback addresses are allowed in URLs that the request decides. */
  readonly privateUrls: boolean;
}

export interface CreatedClient {
  readonly client: ModelClient;
  /** Every variable that it depends on: a request that changes one of these needs a client of its own. */
  readonly variables: readonly string[];
}

/** Creates the client of a definition (not of a strategy): resolves variables, reads the options, finds the key. */
export function createModelClient(
  source: ClientSource,
  requester: ClientRequester,
  services: ClientServices,
): Result<CreatedClient, Failure> {
  const { name, provider: providerName, options: given } = source.definition;
  const { environment } = requester;
  const description = PROVIDER_DESCRIPTIONS[providerName];
  const { unsent, values, reads } = resolveSent(description, given, environment);
  if (source.from === 'request' && unsent.size > 0)
    return err(invalidClientOptions(name, unsentViolations(description, unsent)));
  const unset = reads.find((each) => each.value === undefined);
  if (unset !== undefined) return err(missingVariable(name, unset.variable));
  const read = readOptions(description, values, (variable) => readVariable(environment, variable).value);
  if (read.violations.length > 0) return err(invalidClientOptions(name, read.violations.map(optionViolation)));
  const variables = given.flatMap(({ value }) => variablesIn(value));
  if (providerName === 'offline') {
    const own = read.values as OptionValues<typeof OFFLINE.options>;
    return ok({ client: createOfflineClient(name, own, services.offline), variables });
  }
  const { http } = description;
  const provider = HTTP_PROVIDERS[providerName];
  invariant(provider !== undefined && http !== undefined, 'a strategy has no client of its own');
  const described = { source, description, http, provider, read, variables: reads, options: optionsOf(http, read) };
  const located = locate({ ...described, requester, services });
  if (!located.ok) return located;
  const credentials = findCredentials(located.value);
  if (!credentials.ok) return credentials;
  return ok({
    client: clientOf(located.value, credentials.value),
    variables: [...variables, ...variablesOf(http)],
  });
}

/**
 * Describes a client to prompts even if it cannot be created because a variable is missing: options that read unset variables
 * count as absent.
 */
export function createPromptClient(
  source: ClientSource,
  { environment }: Pick<ClientRequester, 'environment'>,
): Result<PromptClient, Failure> {
  const { name, provider: providerName, options: given } = source.definition;
  const description = PROVIDER_DESCRIPTIONS[providerName];
  const { values, reads } = resolveSent(description, given, environment);
  const unset = new Set(reads.filter(({ value }) => value === undefined).map(({ option }) => option));
  const known = new Map([...values].filter(([key]) => !unset.has(key)));
  const read = readOptions(description, known, (variable) => readVariable(environment, variable).value);
  const violations = read.violations.filter(({ kind }) => kind !== 'missing');
  if (violations.length > 0) return err(invalidClientOptions(name, violations.map(optionViolation)));
  const { http } = description;
  const provider = HTTP_PROVIDERS[providerName];
  if (http === undefined || provider === undefined) return ok(offlinePrompt(name));
  const options = optionsOf(http, read);
  return ok(promptClient({ source, description, http, provider, read, variables: reads, options }));
}

/** A caller that names an option can correct it. In files, it is a warning of the checker. */
function unsentViolations(description: ProviderDescription, unsent: ReadonlySet<string>): readonly Violation[] {
  return [...unsent].slice(0, MAX_VIOLATIONS).map((key) => {
    const meant = meantOption(description, key);
    const hint = meant === undefined ? 'use "api_key" or "headers"' : `did you mean "${meant}"?`;
    return optionViolation({ path: [key], message: `is not sent, because its value is a credential: ${hint}` });
  });
}

/** Resolves the options that svc sends. */
function resolveSent(description: ProviderDescription, given: readonly OptionEntry[], environment: CallEnvironment) {
  const unsent = unsentOptions(description, given, (variable) => readVariable(environment, variable).value);
  const sent = unsent.size === 0 ? given : given.filter(({ key }) => !unsent.has(key));
  return { unsent, ...resolveOptions(sent, environment) };
}

/** A client whose options are known. */
interface DescribedClient {
  readonly source: ClientSource;
  readonly description: ProviderDescription;
  readonly http: HttpFacts;
  readonly provider: HttpProvider;
  /** The options, without violations, and the variables that they read. */
  readonly read: ReadOptions;
  readonly variables: readonly VariableRead[];
  readonly options: ClientOptions;
}

interface RequestedClient extends DescribedClient {
  readonly requester: ClientRequester;
  readonly services: ClientServices;
}

/** A client whose address is known. */
interface LocatedClient extends RequestedClient {
  readonly destination: Destination;
  readonly url: string;
  readonly place: Place;
}

interface Credentials {
  readonly protocol: WireProtocol;
  readonly redactor: Redactor;
}

function locate(client: RequestedClient): Result<LocatedClient, Failure> {
  const { http, read, source, options } = client;
  const url = http.url(read.values);
  const { origin, hostname } = new URL(url);
  const place = placeOf(client, url);
  const guard = guardFor(client, url, place);
  const refused = hostRefusal(hostname, guard);
  if (refused !== undefined) {
    return err(invalidClientOptions(source.definition.name, [{ path: 'options.base_url', message: refused }]));
  }
  const { httpVersion } = options;
  const destination = { origin, guard, ...(httpVersion === 'auto' ? {} : { version: httpVersion }) };
  return ok({ ...client, url, place, destination });
}

function optionsOf(http: HttpFacts, read: ReadOptions): ClientOptions {
  const structure = structureOf(http, read);
  const form = structure.kind === 'form' ? structure.form : undefined;
  // All HTTP providers have the common options.
  return toClientOptions(read.values as OptionValues<typeof COMMON_OPTIONS>, read.body, form);
}

/** The place of a client's URL, compared with the one that the server's own values give. */
type Place = 'own' | 'own origin' | 'elsewhere';

function placeOf({ source, requester }: RequestedClient, url: string): Place {
  if (source.from === 'request') return 'elsewhere';
  const { server, request } = requester.environment;
  if (request === undefined || request.size === 0) return 'own';
  const own = ownUrl(source.definition, server);
  if (own === url) return 'own';
  if (own === undefined || hidesPath(url)) return 'elsewhere';
  return new URL(own).origin === new URL(url).origin ? 'own origin' : 'elsewhere';
}

/** A host that the files declare can be private, and then only the declared URL is open to requests. */
function guardFor({ requester, services, http }: RequestedClient, url: string, place: Place): AddressGuard {
  const isDeclared = services.declaredHosts.names(url) || http.ownOrigins?.test(url) === true;
  if (place === 'own' || isDeclared) return 'none';
  return requester.privateUrls ? 'not-link-local' : 'public-only';
}

function findCredentials(client: LocatedClient): Result<Credentials, Failure> {
  const { provider, options, read, url, requester, source, variables } = client;
  const rule = ruleFor(client, requester.environment);
  const literal = source.from === 'files' ? literalCredential(source.definition) : undefined;
  const denied = rule.check(variables, literal);
  if (denied !== undefined) return err(denied);
  const key = findKey(client, rule);
  if (!key.ok) return key;
  const unsendable = key.value === undefined ? undefined : unsendableKey(client, key.value, rule);
  if (unsendable !== undefined) return err(unsendable);
  const redactor = new Redactor(secretsOf(client, key.value));
  const setup = { options, values: read.values, url, format: responseFormat(options) };
  const protocol = provider.protocol(setup, key.value, accessOf(client, rule, redactor));
  if ('missing' in protocol) return err(rule.missing(protocol));
  return ok({ protocol, redactor });
}

function ruleFor(client: LocatedClient, environment: CallEnvironment): CredentialRule {
  const { source, services, http, description, url } = client;
  const isOwn = !hidesPath(url) && http.ownOrigins?.test(new URL(url).origin) === true;
  return new CredentialRule({
    client: source.definition.name,
    environment,
    options: description.options,
    leadsElsewhere: client.place === 'elsewhere',
    declared: (variable) =>
      services.declaredHosts.has(variable, url) || (isOwn && variablesOf(http).includes(variable)),
  });
}

/** Variables that the provider reads when a client's options do not give the value. */
function variablesOf({ keyVariable, variables = [] }: HttpFacts): readonly string[] {
  return keyVariable === undefined ? variables : [keyVariable, ...variables];
}

/** A client with an authorization header, or a key among its query parameters, needs no other key. */
function findKey({ http, options }: LocatedClient, rule: CredentialRule): Result<string | undefined, Failure> {
  if (options.apiKey !== undefined) return ok(options.apiKey);
  const isAuthorized = AUTH_HEADERS.some((name) => options.headers.has(name)) || options.queryParams.has('key');
  if (http.keyVariable === undefined || isAuthorized) return ok(undefined);
  if (http.headersReplaceKey === true && options.headers.size > 0) return ok(rule.secret(http.keyVariable));
  return rule.key(http.keyVariable);
}

const AUTH_HEADERS = ['authorization', 'api-key', 'x-api-key', 'x-goog-api-key'];

/** A key from a file often ends with a line break, which no header can contain. */
function unsendableKey(client: LocatedClient, key: string, rule: CredentialRule): Failure | undefined {
  const { http, options, source, variables } = client;
  const because = headerProblem('authorization', key)?.message;
  if (because === undefined) return undefined;
  const read = variables.find(({ option }) => option === 'api_key');
  const variable = options.apiKey === undefined ? http.keyVariable : read?.variable;
  if (variable !== undefined) return rule.missing({ missing: variable, because });
  return invalidClientOptions(source.definition.name, [{ path: 'options.api_key', message: because }]);
}

/** Adds to `redactor` the secrets that the provider takes. */
function accessOf(client: LocatedClient, rule: CredentialRule, redactor: Redactor): ProviderAccess {
  const { requester, services, source, description, variables } = client;
  const { server, request } = requester.environment;
  const rulesOfServer = ruleFor(client, { server });
  const isChosen = ({ source: from, option }: VariableRead): boolean =>
    from === 'request' && hasFlag(description.options, option, 'namesAccount');
  return {
    secrets: (group) =>
      secretGroup(group, request, (variable) => {
        const secret = rule.secret(variable);
        if (secret !== undefined) redactor.add(secret);
        return secret;
      }),
    ofServer: (variable) => rulesOfServer.ofServer(variable),
    setting: (variable) => readVariable(requester.environment, variable).value,
    hide: (secret) => {
      redactor.add(secret);
      // The secrets of a request belong to that request only.
      if (source.from === 'files' && (request === undefined || request.size === 0)) services.hide?.(secret);
    },
    pools: services.pools,
    machine: services.machine,
    // A request's variable in such an option is as untrusted as a definition in the request.
    trusted: source.from === 'files' && !variables.some(isChosen),
  };
}

function secretGroup(
  variables: readonly string[],
  request: CallEnvironment['request'],
  read: SecretGroup['get'],
): SecretGroup {
  const ofRequest = variables.some((variable) => request?.has(variable) === true);
  return { ofRequest, get: (variable) => (ofRequest && request?.has(variable) !== true ? undefined : read(variable)) };
}

/** The values that must not appear in an error: keys, values of variables, and options and headers that are secrets. */
function secretsOf({ description, options, read, variables }: LocatedClient, key: string | undefined): Set<string> {
  const secrets = new Set<string>();
  if (key !== undefined) secrets.add(key);
  for (const { value } of variables) if (value !== undefined) secrets.add(value);
  for (const [name, value] of Object.entries(read.values)) {
    if (typeof value === 'string' && hasFlag(description.options, name, 'secret')) secrets.add(value);
  }
  const literals = Object.fromEntries(Object.entries(read.values).filter(([, value]) => !(value instanceof Map)));
  const [headers, query] = [Object.fromEntries(options.headers), Object.fromEntries(options.queryParams)];
  for (const value of credentialsIn({ ...literals, headers, query_params: query })) secrets.add(value);
  return secrets;
}

function hasFlag(options: OptionTable, name: string, flag: 'secret' | 'namesAccount'): boolean {
  return Object.hasOwn(options, name) && options[name]?.[flag] === true;
}

function clientOf(client: LocatedClient, credentials: Credentials): ModelClient {
  const { source, services, http, options, destination } = client;
  const { name, provider } = source.definition;
  const limits = limitsOf(client);
  const mediaUrls = { ...(limits.mediaUrls ?? http.mediaUrls), ...options.mediaUrls };
  return httpModelClient({
    ...credentials,
    destination,
    name,
    provider,
    model: options.model,
    prompt: promptClient(client),
    finishReasons: options.finishReasons,
    onTruncation: options.onTruncation,
    structured: options.structured,
    coolDownMs: options.coolDownMs,
    prices: options.prices ?? pricesOf(services.prices, provider, options.model),
    propagateTrace: options.propagateTrace,
    supportsStreaming: options.supportsStreaming && limits.streams !== false,
    limits: options.limits,
    mediaHandling: (kind) => mediaUrls[kind] ?? 'send_url',
    isSelfHosted: isSelfHosted(client),
    pools: services.pools,
  });
}

/** A URL of the definition files leads anywhere, except to the provider's own service. A URL of a request is public. */
function isSelfHosted({ destination, http, read }: LocatedClient): boolean {
  if (destination.guard !== 'none' || http.ownOrigins?.test(destination.origin) === true) return false;
  if (http.defaultUrl === undefined) return read.values['base_url'] !== undefined;
  const own = new URL(http.defaultUrl);
  return destination.origin !== own.origin || hostRefusal(own.hostname, 'public-only') !== undefined;
}

function limitsOf({ provider, options, read }: DescribedClient): ModelLimits {
  return provider.limits?.({ options, values: read.values }) ?? {};
}

function promptClient(client: DescribedClient): PromptClient {
  const { source, http, options, variables } = client;
  const { name, provider } = source.definition;
  const limits = limitsOf(client);
  const allowedRoles = options.allowedRoles ?? limits.roles ?? http.roles;
  const [first = 'user'] = allowedRoles;
  const fallbackRole = limits.defaultRole ?? http.defaultRole;
  const keys = new Set(variables.filter(({ variable }) => isCredentialName(variable)).map(({ option }) => option));
  return {
    name,
    provider,
    defaultRole: options.defaultRole ?? allowedRoles.find((role) => role === fallbackRole) ?? first,
    allowedRoles,
    remapRoles: Object.fromEntries(options.remapRoles),
    options: withoutCredentials([...options.body].filter(([option]) => !keys.has(option))),
  };
}

/** Omits, at every depth, members whose name or value shows that they are credentials. */
function withoutCredentials(members: ReadonlyArray<readonly [string, JsonValue]>): JsonObject {
  const plain = members.filter(([name, value]) => !isCredential(name, value));
  return Object.fromEntries(plain.map(([name, value]) => [name, plainPart(value)]));
}

function plainPart(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item: JsonValue) => plainPart(item));
  return isJsonObject(value) ? withoutCredentials(Object.entries(value)) : value;
}

function isCredential(name: string, value: JsonValue): boolean {
  return isCredentialName(name) || (typeof value === 'string' && credentialsIn(value).size > 0);
}

/**
 * The path of the first credential that a definition contains as a literal, such as `headers.x-api-key`; undefined if it
 * contains none. Every header and every query parameter can be one, and so can body members with the name of one.
 */
export function literalCredential({ provider, options }: ClientType): string | undefined {
  const table = PROVIDER_DESCRIPTIONS[provider].options;
  return firstFound(options, ({ key, value }) =>
    literalIn(value, key, holdsCredentials(table, key) ? 'every' : literalsUnder(key)),
  );
}

/** The literals of a value that are credentials: all, those outside maps, or none. Members of a map have their own names. */
type Literals = 'every' | 'direct' | 'none';

function holdsCredentials(table: OptionTable, option: string): boolean {
  if (option === 'headers' || option === 'query_params') return true;
  const description = Object.hasOwn(table, option) ? table[option] : undefined;
  return description?.secret === true || description?.namesAccount === true;
}

/** Matches the last word of the name of a credential; `max_tokens` does not match. */
const CREDENTIAL_NAME =
  /(?:^|[_.-])(?:(?:access|api|auth|private|secret|session)?(?:key|token|secret)|key_id|jwt|bearer|pass|passwd|password|passphrase|pwd|pat|credentials?|auth|authorization|cookie|sas|sig|signature|dsn|connection_string)$/u;

function literalsUnder(name: string): Literals {
  const words = name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/gu, '_').toLowerCase();
  return CREDENTIAL_NAME.test(words) ? 'direct' : 'none';
}

function literalIn(value: OptionValue, path: string, literals: Literals): string | undefined {
  switch (value.kind) {
    case 'env':
      return undefined;
    case 'scalar':
      return literals !== 'none' && typeof value.value === 'string' && value.value !== '' ? path : undefined;
    case 'list':
      return firstFound(value.items, (item, index) => literalIn(item, `${path}[${index}]`, literals));
    case 'map':
      return firstFound(value.entries, ({ key, value: member }: OptionEntry) =>
        literalIn(member, `${path}.${key}`, literals === 'every' ? 'every' : literalsUnder(key)),
      );
  }
}

function firstFound<Item>(
  items: readonly Item[],
  find: (item: Item, index: number) => string | undefined,
): string | undefined {
  for (const [index, item] of items.entries()) {
    const found = find(item, index);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A client that functions use and that cannot work, because a variable is not set. */
export interface MissingCredential {
  readonly client: string;
  readonly variable: string;
  /** The message with which each of its calls fails. */
  readonly message: string;
}

/**
 * The clients whose calls fail with `missing_credential` unless requests bring the variable: of those that functions use, or
 * of `names`.
 */
export function missingCredentials(
  program: Program,
  env: Readonly<Record<string, string>>,
  names: Iterable<string> = program.functions.map((fn) => fn.client),
): readonly MissingCredential[] {
  const definitions = indexDefinitions(program);
  const environment = { server: env };
  const { clients, shorthands } = clientsOfFiles(program);
  const services = {
    pools: new ConnectionPools(env),
    declaredHosts: new DeclaredHosts(clients, env),
    offline: { answer: () => '' },
    machine: cloudMachine(),
  };
  const missing = new Map<string, MissingCredential>();
  const planner = new Planner({
    find: (wanted) => {
      const definition = definitions.clients.get(wanted);
      return definition === undefined ? undefined : { definition, from: 'files' };
    },
    names: () => definitions.clients.keys(),
    shorthands,
    policy: (wanted) => definitions.retryPolicies.get(wanted),
    environment,
  });
  for (const name of new Set(names)) {
    const plan = planner.plan(name);
    for (const { source } of plan.ok ? singlePlans(plan.value) : []) {
      const made = createModelClient(source, { environment, privateUrls: true }, services);
      if (!made.ok && made.failure.code === 'missing_credential') missing.set(made.failure.client, made.failure);
    }
  }
  return [...missing.values()].map(({ client, variable, message }) => ({ client, variable, message }));
}
