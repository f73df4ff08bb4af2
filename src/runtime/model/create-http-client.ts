import type { JsonValue } from '../../base/json.ts';
import type { Result } from '../../base/result.ts';
import { err, ok } from '../../base/result.ts';
import type { ClientType } from '../../schema/client.ts';
import type { Failure } from '../../schema/errors.ts';
import type { PromptClient } from '../../schema/message.ts';
import { invalidClientOptions } from './attempt-failure.ts';
import type { ClientRequester, ClientServices, ClientSource } from './client-source.ts';
import { hostRefusal } from './http/address-guard.ts';
import type { AddressGuard } from './http/address-guard.ts';
import type { Endpoint } from './http/connection-pools.ts';
import { HttpModelClient } from './http-model-client.ts';
import type { WireProtocol } from './http-model-client.ts';
import type { ModelClient } from './model-client.ts';
import { readClientOptions } from './options/client-options.ts';
import type { ClientOptions } from './options/client-options.ts';
import { CredentialRule, requestDecidesUrl } from './options/credential-rule.ts';
import { headerFault } from './options/header-fault.ts';
import type { OptionReader } from './options/option-reader.ts';
import { readVariable } from './options/resolve-options.ts';
import type { Environment, ResolvedOptions, VariableRead } from './options/resolve-options.ts';
import type { Connection, HttpProvider, MissingSecret, ProviderAccess, SecretGroup } from './providers/provider.ts';

interface HttpClientMaking {
  readonly source: ClientSource;
  readonly provider: HttpProvider;
  readonly resolved: ResolvedOptions;
  readonly reader: OptionReader;
  readonly requester: ClientRequester;
  readonly services: ClientServices;
}

/** What the options say, once they are known to be right. */
interface ReadOptions {
  readonly options: ClientOptions;
  readonly connection: Connection;
}

interface Credentials {
  readonly protocol: WireProtocol;
  readonly secrets: readonly string[];
}

/** Makes a client that is asked over HTTP: its options, then where it leads, then what it may bring there. */
export function createHttpClient(making: HttpClientMaking): Result<ModelClient, Failure> {
  const read = readOptions(making);
  if (!read.ok) return read;
  const endpoint = endpointOf(making, read.value.connection);
  if (!endpoint.ok) return endpoint;
  const credentials = findCredentials(making, read.value, endpoint.value.origin);
  if (!credentials.ok) return credentials;
  return ok(clientOf(making, read.value, { endpoint: endpoint.value, ...credentials.value }));
}

function readOptions({ source, provider, reader, requester }: HttpClientMaking): Result<ReadOptions, Failure> {
  const options = readClientOptions(reader);
  const connection = provider.connect(
    options,
    reader,
    (variable) => readVariable(requester.environment, variable, '').value,
  );
  if (reader.faults.length > 0) return err(invalidClientOptions(source.definition.name, reader.faults));
  return ok({ options, connection });
}

function endpointOf(making: HttpClientMaking, connection: Connection): Result<Endpoint, Failure> {
  const { origin, hostname } = new URL(connection.url);
  const guard = guardFor(making, origin);
  const refused = hostRefusal(hostname, guard);
  if (refused === undefined) return ok({ origin, guard });
  return err(invalidClientOptions(making.source.definition.name, [{ path: 'options.base_url', message: refused }]));
}

/** The request decides where this client's calls go. */
function leadsElsewhere({ source, resolved }: HttpClientMaking): boolean {
  return source.from === 'request' || requestDecidesUrl(resolved.reads);
}

function guardFor(making: HttpClientMaking, origin: string): AddressGuard {
  const { requester, services } = making;
  if (!leadsElsewhere(making) || services.declaredHosts.names(origin)) return 'none';
  return requester.privateUrls ? 'not-link-local' : 'public-only';
}

function findCredentials(
  making: HttpClientMaking,
  { options, connection }: ReadOptions,
  origin: string,
): Result<Credentials, Failure> {
  const { provider, resolved } = making;
  const rule = ruleFor(making, origin, making.requester.environment);
  const denied = rule.check(resolved.reads);
  if (denied !== undefined) return err(denied);
  const key = findKey(provider, options, rule);
  if (!key.ok) return err(key.failure);
  const unsendable = key.value === undefined ? undefined : unsendableKey(making, options, key.value);
  if (unsendable !== undefined) return err(rule.missing(unsendable));
  const secrets = secretsOf(options, resolved.reads, key.value);
  const protocol = connection.protocol(key.value, accessOf(making, origin, { rule, secrets }));
  if ('missing' in protocol) return err(rule.missing(protocol));
  return ok({ protocol, secrets: [...secrets] });
}

interface Taking {
  readonly rule: CredentialRule;
  /** Those that the provider takes are added. */
  readonly secrets: Set<string>;
}

function accessOf(making: HttpClientMaking, origin: string, { rule, secrets }: Taking): ProviderAccess {
  const { requester, services } = making;
  const { server, request } = requester.environment;
  const rulesOfServer = ruleFor(making, origin, { server });
  return {
    secrets: (variables) =>
      secretGroup(variables, request, (variable) => {
        const secret = rule.secret(variable);
        if (secret !== undefined) secrets.add(secret);
        return secret;
      }),
    ofServer: (variable) => rulesOfServer.ofServer(variable),
    pools: services.pools,
    machine: services.machine,
    trusted: isTrusted(making),
  };
}

function secretGroup(
  variables: readonly string[],
  request: Environment['request'],
  read: SecretGroup['get'],
): SecretGroup {
  const ofRequest = variables.some((variable) => request?.has(variable) === true);
  return { ofRequest, get: (variable) => (ofRequest && request?.has(variable) !== true ? undefined : read(variable)) };
}

/** Options that may name a file or an account of the server, or where an account asks for its tokens. */
const ACCOUNT_OPTIONS = new Set(['credentials', 'credentials_content', 'profile']);

/** A request's variable in such an option is as little trusted as a definition that the request brings. */
function isTrusted({ source, resolved }: HttpClientMaking): boolean {
  const ofRequest = resolved.reads.some((read) => read.source === 'request' && ACCOUNT_OPTIONS.has(read.option));
  return source.from === 'files' && !ofRequest;
}

/** A key from a file often has a line break at its end, with which no request could be sent. */
function unsendableKey(
  { provider, resolved }: HttpClientMaking,
  options: ClientOptions,
  key: string,
): MissingSecret | undefined {
  const because = headerFault('authorization', key);
  if (because === undefined) return undefined;
  const read = resolved.reads.find(({ option }) => option === 'api_key');
  const own = options.apiKey === undefined ? provider.keyVariable : undefined;
  return { missing: read?.variable ?? own ?? 'api_key', because };
}

function ruleFor(making: HttpClientMaking, origin: string, environment: Environment): CredentialRule {
  const { source, provider, services } = making;
  return new CredentialRule({
    client: source.definition.name,
    environment,
    leadsElsewhere: leadsElsewhere(making),
    declared: (variable) => services.declaredHosts.has(variable, origin) || isOwn(provider, variable, origin),
  });
}

function clientOf(
  { source, provider, resolved, services }: HttpClientMaking,
  { options, connection }: ReadOptions,
  parts: Credentials & { readonly endpoint: Endpoint },
): HttpModelClient {
  const { definition } = source;
  return new HttpModelClient({
    ...parts,
    name: definition.name,
    provider: definition.provider,
    ...(connection.model === undefined ? {} : { model: connection.model }),
    prompt: promptClient(definition, { provider, options, connection, reads: resolved.reads }),
    finishReasons: options.finishReasons,
    supportsStreaming: options.supportsStreaming && connection.streams !== false,
    limits: options.limits,
    mediaHandling: (kind) => options.mediaUrls.get(kind) ?? connection.mediaUrls?.[kind] ?? 'send_url',
    pools: services.pools,
  });
}

/** A client that gives its own authorization header needs no key. */
function findKey(
  provider: HttpProvider,
  options: ClientOptions,
  rule: CredentialRule,
): Result<string | undefined, Failure> {
  if (options.apiKey !== undefined) return ok(options.apiKey);
  if (provider.keyVariable === undefined || AUTH_HEADERS.some((name) => options.headers.has(name)))
    return ok(undefined);
  return rule.key(provider.keyVariable);
}

const AUTH_HEADERS = ['authorization', 'api-key', 'x-api-key', 'x-goog-api-key'];

function promptClient(
  definition: ClientType,
  parts: {
    readonly provider: HttpProvider;
    readonly options: ClientOptions;
    readonly connection: Connection;
    readonly reads: readonly VariableRead[];
  },
): PromptClient {
  const { provider, options, connection } = parts;
  const allowedRoles = options.allowedRoles ?? connection.roles ?? provider.roles;
  const fallbackRole = connection.defaultRole ?? provider.defaultRole;
  const own = allowedRoles.includes(fallbackRole) ? fallbackRole : (allowedRoles[0] ?? fallbackRole);
  const fromEnvironment = new Set(parts.reads.map((read) => read.option));
  const shown = [...options.body].filter(([key]) => !fromEnvironment.has(key));
  return {
    name: definition.name,
    provider: definition.provider,
    defaultRole: options.defaultRole ?? own,
    allowedRoles,
    remapRoles: Object.fromEntries(options.remapRoles),
    options: Object.fromEntries(shown) as Readonly<Record<string, JsonValue>>,
  };
}

function secretsOf(options: ClientOptions, reads: readonly VariableRead[], key: string | undefined): Set<string> {
  const secrets = new Set<string>();
  if (key !== undefined) secrets.add(key);
  for (const read of reads) if (read.value !== undefined) secrets.add(read.value);
  for (const [name, value] of [...options.headers, ...options.queryParams]) {
    // A provider may quote `Bearer abc` or `abc` alone.
    if (SECRET_NAME.test(name)) secrets.add(value).add(value.replace(/^\S+\s+/u, ''));
  }
  return secrets;
}

const SECRET_NAME = /auth|key|token|secret|cookie|password|sig/iu;

function isOwn(provider: HttpProvider, variable: string, origin: string): boolean {
  return provider.ownOrigins?.test(origin) === true && variablesOf(provider).includes(variable);
}

/** Variables that the provider reads when its options do not say otherwise. */
export function variablesOf(provider: HttpProvider): readonly string[] {
  const own = provider.variables ?? [];
  return provider.keyVariable === undefined ? own : [provider.keyVariable, ...own];
}
