import type { JsonValue } from '../../base/json.ts';
import type { Result } from '../../base/result.ts';
import { err, ok } from '../../base/result.ts';
import type { ClientType } from '../../schema/client.ts';
import type { Failure, FaultAt } from '../function/failure.ts';
import type { PromptClient } from '../prompt/message.ts';
import type { DeclaredHosts } from './declared-hosts.ts';
import { hostRefusal } from './http/address-guard.ts';
import type { AddressGuard } from './http/address-guard.ts';
import type { ConnectionPools } from './http/connection-pools.ts';
import { HttpModelClient } from './http-model-client.ts';
import type { ModelClient } from './model-client.ts';
import { createOfflineClient } from './offline/offline-client.ts';
import type { OfflineAnswers } from './offline/offline-client.ts';
import { readClientOptions } from './options/client-options.ts';
import type { ClientOptions } from './options/client-options.ts';
import { CredentialRule, requestDecidesUrl } from './options/credential-rule.ts';
import { OptionReader } from './options/option-reader.ts';
import { readVariable, resolveOptions } from './options/resolve-options.ts';
import type { Environment, ResolvedOptions, VariableRead } from './options/resolve-options.ts';
import type { CloudMachine } from './providers/cloud-machine.ts';
import type { Connection, HttpProvider } from './providers/provider.ts';
import { HTTP_PROVIDERS } from './providers/providers.ts';

/** A client's definition, and who wrote it: the files are trusted with the server's keys, a request is not. */
export interface ClientSource {
  readonly definition: ClientType;
  readonly from: 'files' | 'request';
}

export interface ClientServices {
  readonly pools: ConnectionPools;
  readonly declaredHosts: DeclaredHosts;
  readonly offline: OfflineAnswers;
  /** Whose machine the server runs on, when it is one of a cloud. */
  readonly machine?: CloudMachine | undefined;
}

/** Whom a client is made for. */
export interface ClientRequester {
  readonly environment: Environment;
  /** Private and loopback addresses are allowed in URLs that the request decides. */
  readonly privateUrls: boolean;
}

/** Why a client cannot be made: a failure of the call, or faults of its definition, each at an option. */
export type ClientFault =
  | { readonly kind: 'failure'; readonly failure: Failure }
  | { readonly kind: 'options'; readonly faults: readonly FaultAt[] };

export interface CreatedClient {
  readonly client: ModelClient;
  /** Every variable that it depends on: what a request changes of these needs a client of its own. */
  readonly variables: readonly string[];
}

/** Makes the client of a definition (not of a strategy): resolves variables, reads options, finds the key. */
export function createModelClient(
  source: ClientSource,
  requester: ClientRequester,
  services: ClientServices,
): Result<CreatedClient, ClientFault> {
  const { definition } = source;
  const resolved = resolveOptions(definition.options, requester.environment);
  const unset = resolved.reads.find((read) => read.value === undefined);
  if (unset !== undefined) {
    const rule = new CredentialRule({
      client: definition.name,
      environment: requester.environment,
      leadsElsewhere: false,
      declared: () => true,
    });
    const failure = rule.check([unset]);
    if (failure !== undefined) return err({ kind: 'failure', failure });
  }
  const variables = resolved.reads.map((read) => read.variable);
  const reader = new OptionReader(resolved.values);
  if (definition.provider === 'offline') {
    const client = createOfflineClient(definition.name, reader, services.offline);
    return reader.faults.length > 0 ? optionFaults(reader) : ok({ client, variables });
  }
  const provider = HTTP_PROVIDERS[definition.provider];
  if (provider === undefined) return err({ kind: 'failure', failure: unsupported(definition) });
  const made = createHttpClient({ source, provider, resolved, reader, requester, services });
  if (!made.ok) return made;
  return ok({ client: made.value, variables: [...variables, ...variablesOf(provider)] });
}

interface HttpClientMaking {
  readonly source: ClientSource;
  readonly provider: HttpProvider;
  readonly resolved: ResolvedOptions;
  readonly reader: OptionReader;
  readonly requester: ClientRequester;
  readonly services: ClientServices;
}

function createHttpClient(making: HttpClientMaking): Result<ModelClient, ClientFault> {
  const { source, provider, resolved, reader, requester, services } = making;
  const { definition } = source;
  const options = readClientOptions(reader);
  const connection = provider.connect(
    options,
    reader,
    (variable) => readVariable(requester.environment, variable, '').value,
  );
  if (reader.faults.length > 0) return optionFaults(reader);
  const { origin, hostname } = new URL(connection.url);
  const leadsElsewhere = source.from === 'request' || requestDecidesUrl(resolved.reads);
  const guard = guardFor({ origin, leadsElsewhere, requester, services });
  const refused = hostRefusal(hostname, guard);
  if (refused !== undefined) return err({ kind: 'options', faults: [{ path: 'options.base_url', message: refused }] });
  const rule = new CredentialRule({
    client: definition.name,
    environment: requester.environment,
    leadsElsewhere,
    declared: (variable) => services.declaredHosts.has(variable, origin) || isOwn(provider, variable, origin),
  });
  const denied = rule.check(resolved.reads);
  if (denied !== undefined) return err({ kind: 'failure', failure: denied });
  const key = findKey(provider, options, rule);
  if (!key.ok) return err({ kind: 'failure', failure: key.failure });
  const secrets = new Set<string>();
  const protocol = connection.protocol(key.value, {
    secret: (variable) => remember(rule.secret(variable), secrets),
    ofServer: (variable) => rule.ofServer(variable),
    pools: services.pools,
    machine: services.machine,
    trusted: source.from === 'files',
  });
  if ('missing' in protocol) return err({ kind: 'failure', failure: rule.missing(protocol) });
  return ok(
    new HttpModelClient({
      name: definition.name,
      provider: definition.provider,
      ...(connection.model === undefined ? {} : { model: connection.model }),
      prompt: promptClient(definition, { provider, options, connection, reads: resolved.reads }),
      finishReasons: options.finishReasons,
      supportsStreaming: options.supportsStreaming && connection.streams !== false,
      endpoint: { origin, guard },
      limits: options.limits,
      mediaHandling: (kind) => options.mediaUrls.get(kind) ?? connection.mediaUrls?.[kind] ?? 'send_url',
      secrets: [...secretsOf(options, resolved.reads, key.value), ...secrets],
      protocol,
      pools: services.pools,
    }),
  );
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

function guardFor(call: {
  readonly origin: string;
  readonly leadsElsewhere: boolean;
  readonly requester: ClientRequester;
  readonly services: ClientServices;
}): AddressGuard {
  if (!call.leadsElsewhere || call.services.declaredHosts.names(call.origin)) return 'none';
  return call.requester.privateUrls ? 'not-link-local' : 'public-only';
}

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

function secretsOf(options: ClientOptions, reads: readonly VariableRead[], key: string | undefined): readonly string[] {
  const secrets = new Set<string>();
  if (key !== undefined) secrets.add(key);
  for (const read of reads) if (read.value !== undefined) secrets.add(read.value);
  for (const [name, value] of options.headers) if (SECRET_HEADER.test(name)) secrets.add(value);
  return [...secrets];
}

const SECRET_HEADER = /auth|key|token|secret|cookie/u;

function isOwn(provider: HttpProvider, variable: string, origin: string): boolean {
  return provider.ownOrigins?.test(origin) === true && variablesOf(provider).includes(variable);
}

function remember(secret: string | undefined, secrets: Set<string>): string | undefined {
  if (secret !== undefined) secrets.add(secret);
  return secret;
}

function variablesOf(provider: HttpProvider): readonly string[] {
  const own = provider.variables ?? [];
  return provider.keyVariable === undefined ? own : [provider.keyVariable, ...own];
}

function optionFaults(reader: OptionReader): Result<never, ClientFault> {
  return err({ kind: 'options', faults: reader.faults });
}

function unsupported(definition: ClientType): Failure {
  return {
    code: 'client_error',
    message: `The client "${definition.name}" names the provider "${definition.provider}", which this version cannot ask`,
    client: definition.name,
    attempts: [],
  };
}
