import { isJsonObject, isOptionsKey, OPTIONS_KEYS, ownValue } from '../../base/json.ts';
import { type Result, err, ok } from '../../base/result.ts';
import { didYouMean, nearestNames } from '../../base/suggestion.ts';
import type { DefinitionIndex, FunctionType } from '../../schema/program.ts';
import type { ClientSource } from '../model/client-options.ts';
import type { ClientRequester } from '../model/create-model-client.ts';
import {
  clientsAsked,
  isOfRequest,
  MAX_REQUESTS,
  MAX_REQUESTS_RULE,
  Planner,
  type ClientCatalogue,
  type ClientPlan,
} from '../model/strategies/client-plan.ts';
import {
  hasCallOptions,
  invalidOptions,
  NO_PARTS,
  readCallOptions,
  type CallOptions,
  clientTtl,
  readReplyOptions,
} from './call-options.ts';
import type { CallTypes } from './call-types.ts';
import { withTypes } from './dynamic-types.ts';
import type { ArgumentChecker } from '../arguments/check-arguments.ts';
import type { ClientDirectory } from './client-directory.ts';
import type { Failure } from '../../schema/failure.ts';
import { type Violation, ViolationList } from '../../schema/violation.ts';
import type { OnLoss } from './losses.ts';
import type { CallOrigin, LoadedTypes, PreparedCall, RuntimeOptions, PreparedReply } from './runtime.ts';
import { takesMedia } from '../../schema/type-graph.ts';
import { variablesIn, type ClientType } from '../../schema/client.ts';
import { PROVIDER_DESCRIPTIONS } from '../../schema/providers/providers.ts';
import { decidesTarget } from '../model/credential-rule.ts';
import type { TypeSource } from '../../schema/type-extension.ts';

/** A call that passed all checks: its function, its arguments and the clients to call. */
export class ReadyCall implements PreparedCall {
  readonly fn: FunctionType;
  readonly args: Readonly<Record<string, unknown>>;
  readonly plan: ClientPlan;
  readonly requester: ClientRequester;
  readonly tags: CallOptions['tags'] | undefined;
  readonly routeKey: string | undefined;
  readonly include: CallOptions['include'];
  readonly decidesUpstream: boolean;
  readonly onLoss: OnLoss;
  readonly cacheTtlMs: number | undefined;
  /** The types of the request; absent: those of the program. */
  readonly types: CallTypes | undefined;

  constructor(parts: Pick<ReadyCall, 'fn' | 'args' | 'plan' | 'requester' | 'onLoss'> & RequestedOptions) {
    this.fn = parts.fn;
    this.args = parts.args;
    this.plan = parts.plan;
    this.requester = parts.requester;
    this.tags = parts.tags;
    this.routeKey = parts.routeKey;
    this.include = parts.include ?? NO_PARTS;
    this.decidesUpstream = parts.decidesUpstream === true;
    this.onLoss = parts.onLoss;
    this.cacheTtlMs = parts.cacheTtlMs;
    this.types = parts.types;
  }

  get functionName(): string {
    return this.fn.name;
  }

  get client(): string {
    return this.decidesUpstream ? this.fn.client : this.plan.name;
  }

  /** The most requests to models. */
  get maxRequests(): number {
    return isOfRequest(this.plan) ? MAX_REQUESTS : Infinity;
  }
}

type Requested = 'tags' | 'routeKey' | 'include' | 'decidesUpstream' | 'cacheTtlMs' | 'types';

type RequestedOptions = { readonly [Option in Requested]?: ReadyCall[Option] | undefined };

export interface PrepareServices {
  readonly definitions: DefinitionIndex;
  readonly directory: ClientDirectory;
  readonly checkArguments: ArgumentChecker;
  readonly options: RuntimeOptions;
  /** The plans of calls without options, by function name. */
  readonly plans: Map<string, OwnPlan>;
  readonly targetVariables: TargetVariables;
}

interface OwnPlan {
  readonly plan: Result<ClientPlan, Failure>;
  /** The arguments can contain media, which svc may have to fetch. */
  readonly mayFetch: boolean;
  readonly cacheTtlMs: number | undefined;
}

/** Checks a request body against a function: the options first, then the arguments, then the clients to call. */
export function prepareCall(
  server: PrepareServices,
  functionName: string,
  body: unknown,
  { loaded, origin }: { readonly loaded: LoadedTypes; readonly origin: CallOrigin | undefined },
): Result<ReadyCall, Failure> {
  const fn = server.definitions.functions.get(functionName);
  if (fn === undefined) return err(functionNotFound(server.definitions, functionName));
  if (fn.unreadable !== undefined) return err(unreadableFailure(fn.unreadable));
  if (!isJsonObject(body))
    return err(invalidArguments(fn, [{ path: '', message: 'the body has to be a JSON object' }]));
  if (!hasCallOptions(body)) return prepareOwn(server, fn, body, origin);
  const services = withPolicy(server, origin?.clientRegistry);
  const options = withTypes(readCallOptions(body, services.options), loaded);
  if (!options.ok) return options;
  const args = withoutOptions(body);
  const { checkArguments } = options.value.types ?? services;
  const faults = checkArguments(fn, args);
  if (faults.length > 0) return err(invalidArguments(fn, faults));
  return prepareWith(services, { fn, args, options: options.value, origin });
}

/** The services of a caller whose key has a policy of its own. */
function withPolicy(services: PrepareServices, clientRegistry: CallOrigin['clientRegistry']): PrepareServices {
  if (clientRegistry === undefined) return services;
  return { ...services, options: { ...services.options, clientRegistry } };
}

/** The usual case: the request has no options, so the plan is the function's own, which is created once. */
function prepareOwn(
  services: PrepareServices,
  fn: FunctionType,
  args: Readonly<Record<string, unknown>>,
  origin: CallOrigin | undefined,
): Result<ReadyCall, Failure> {
  const faults = services.checkArguments(fn, args);
  if (faults.length > 0) return err(invalidArguments(fn, faults));
  const { plan, mayFetch, cacheTtlMs } = ownPlan(services, fn);
  if (!plan.ok) return plan;
  // Finding out where a connection comes from costs a system call, and it matters only for media URLs in arguments.
  const privateUrls = services.options.allowPrivateUrls || (mayFetch && origin?.local === true);
  const requester = { environment: { server: services.options.env }, privateUrls };
  const { onLoss } = services.options;
  return ok(new ReadyCall({ fn, args, plan: plan.value, requester, onLoss, cacheTtlMs, include: origin?.include }));
}

function ownPlan(services: PrepareServices, fn: FunctionType): OwnPlan {
  const { plans, directory, definitions } = services;
  const known = plans.get(fn.name);
  if (known !== undefined) return known;
  const catalogue = directory.catalogue();
  const plan = planOf(fn.client, new Planner(catalogue));
  const own = { plan, mayFetch: takesMedia(fn, definitions), cacheTtlMs: ttlOf(services, fn.client, catalogue) };
  plans.set(fn.name, own);
  return own;
}

/** The client that a call names decides; the members of a strategy do not. */
function ttlOf({ options }: PrepareServices, client: string, catalogue: ClientCatalogue): number | undefined {
  if (options.cache !== true) return undefined;
  return clientTtl(catalogue.find(client)?.definition, catalogue.environment);
}

interface CallWithOptions {
  readonly fn: FunctionType;
  readonly args: Readonly<Record<string, unknown>>;
  readonly options: CallOptions & { readonly types: CallTypes | undefined };
  readonly origin: CallOrigin | undefined;
}

function prepareWith(services: PrepareServices, call: CallWithOptions): Result<ReadyCall, Failure> {
  const { fn, args, options, origin } = call;
  const catalogue = services.directory.catalogue(options);
  const requester: ClientRequester = {
    environment: catalogue.environment,
    privateUrls: services.options.allowPrivateUrls || origin?.local === true,
  };
  const faults = new ViolationList();
  for (const fault of environmentFaults(services, options)) faults.add(fault);
  const request = { options, requester, catalogue, planner: new Planner(catalogue) };
  for (const fault of namedClientFaults(services, request)) faults.add(fault);
  addClientFaults(services, request, faults);
  if (faults.all.length > 0) return err(invalidOptions(faults.all));
  const plan = planWith(fn, request);
  if (!plan.ok) return plan;
  const { tags, routeKey, onLoss = services.options.onLoss, types } = options;
  const include = origin?.include === undefined ? options.include : new Set([...options.include, ...origin.include]);
  const { cacheTtlMs = ttlOf(services, plan.value.name, catalogue) } = options;
  const decidesUpstream = decides(options, catalogue);
  const parts = { tags, routeKey, include, onLoss, types, cacheTtlMs, decidesUpstream };
  return ok(new ReadyCall({ fn, args, plan: plan.value, requester, ...parts }));
}

/** True if the call can ask servers that the definition files do not name: clients of the request, shorthands, variables. */
function decides(options: CallOptions, catalogue: ClientCatalogue): boolean {
  if (options.clients.length > 0 || options.env.size > 0) return true;
  return namedClients(options).some(({ name }) => catalogue.find(name) === undefined);
}

/** On a server that accepts only its own clients, a request cannot redirect those clients either. */
function environmentFaults(
  { options: { clientRegistry }, targetVariables }: PrepareServices,
  { key, env }: CallOptions,
): readonly Violation[] {
  if (clientRegistry === 'open') return [];
  return [...env.keys()]
    .filter((variable) => targetVariables.has(variable))
    .map((variable) => ({
      path: `${key}.env.${variable}`,
      message: `cannot be set by a request: "${variable}" decides where the server sends its calls, and with --client-registry ${clientRegistry} only the server's own environment can set it`,
    }));
}

/** The named client, or else the function's own, followed by the request's fallbacks. */
function planWith(fn: FunctionType, { options, planner }: CheckedRequest): Result<ClientPlan, Failure> {
  const first = planOf(options.client?.name ?? fn.client, planner);
  if (!first.ok || options.fallback.length === 0) return first;
  const members = [first.value];
  for (const name of options.fallback) {
    const member = planOf(name, planner);
    if (!member.ok) return member;
    members.push(member.value);
  }
  const plan: ClientPlan = { kind: 'fallback', name: first.value.name, members, ofRequest: true };
  const asked = clientsAsked(plan);
  if (asked <= MAX_REQUESTS) return ok(plan);
  const path = `${options.key}.client_registry.fallback`;
  return err(invalidOptions([{ path, message: `can ask ${asked} clients: ${MAX_REQUESTS_RULE}` }]));
}

function planOf(name: string, planner: Planner): Result<ClientPlan, Failure> {
  const plan = planner.plan(name);
  return plan.ok ? plan : err(invalidOptions([plan.failure]));
}

interface CheckedRequest {
  readonly options: CallOptions;
  readonly requester: ClientRequester;
  readonly catalogue: ClientCatalogue;
  readonly planner: Planner;
}

/**
 * Reports names of clients that do not exist, and shorthands of providers that need more than a model. On a server that
 * accepts only its own clients, a shorthand does not exist either.
 */
function namedClientFaults(services: PrepareServices, request: CheckedRequest): readonly Violation[] {
  const { options, catalogue } = request;
  const faults: Violation[] = [];
  for (const { name, path } of namedClients(options)) {
    if (catalogue.find(name) !== undefined) continue;
    const plan = services.options.clientRegistry === 'open' ? request.planner.plan(name) : undefined;
    if (plan?.ok === true) faults.push(...shorthandFaults(services, plan.value, request, path));
    else {
      const near = didYouMean(name, catalogue.names());
      faults.push({ path, message: `There is no client "${name}"${near === '' ? '' : `. ${near}`}` });
    }
  }
  return faults;
}

function shorthandFaults(
  services: PrepareServices,
  plan: ClientPlan,
  { requester }: CheckedRequest,
  path: string,
): readonly Violation[] {
  const made = plan.kind === 'single' ? services.directory.client(plan.source, requester) : undefined;
  if (made === undefined || made.ok || made.failure.code !== 'invalid_options') return [];
  return made.failure.details.map((fault) => ({
    path,
    message: `"${plan.name}" is not enough: "${fault.path}" ${fault.message}`,
  }));
}

function namedClients(options: CallOptions): ReadonlyArray<{ readonly name: string; readonly path: string }> {
  const fallback = options.fallback.map((name, index) => ({
    name,
    path: `${options.key}.client_registry.fallback[${index}]`,
  }));
  return options.client === undefined ? fallback : [options.client, ...fallback];
}

/** Reports wrong options of the request's own clients. A missing key is a failure of the call, not of the options. */
function addClientFaults(services: PrepareServices, request: CheckedRequest, faults: ViolationList): void {
  for (const [index, definition] of request.options.clients.entries()) {
    if (faults.full) return;
    const path = `${request.options.key}.client_registry.clients[${index}]`;
    const found = strategyFault(definition.name, request.planner) ?? [];
    const source: ClientSource = { definition, from: 'request' };
    const { provider } = definition;
    const made =
      provider === 'fallback' || provider === 'round-robin'
        ? undefined
        : services.directory.client(source, request.requester);
    const ofOptions =
      made !== undefined && !made.ok && made.failure.code === 'invalid_options' ? made.failure.details : [];
    for (const fault of at(path, [...ofOptions, ...found])) faults.add(fault);
  }
}

function strategyFault(name: string, planner: Planner): readonly Violation[] | undefined {
  const plan = planner.plan(name);
  return plan.ok ? undefined : [plan.failure];
}

function at(path: string, faults: readonly Violation[]): readonly Violation[] {
  return faults.map((fault) => ({ ...fault, path: fault.path === '' ? path : `${path}.${fault.path}` }));
}

function withoutOptions(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(body).filter(([key]) => !isOptionsKey(key)));
}

/** The failure of a function of whose types a constraint cannot be read. */
export function unreadableFailure(message: string): Failure {
  return { code: 'prompt_error', message };
}

/** Names the nearest functions. */
export function functionNotFound(definitions: DefinitionIndex, functionName: string): Failure {
  const suggestions = nearestNames(functionName, definitions.functions.keys());
  const near = didYouMean(functionName, definitions.functions.keys());
  return {
    code: 'function_not_found',
    message: `There is no function "${functionName}"${near === '' ? '' : `. ${near}`}`,
    suggestions,
  };
}

function invalidArguments(fn: FunctionType, details: readonly Violation[]): Failure {
  const [first] = details;
  const where = first === undefined || first.path === '' ? '' : `${first.path}: `;
  const more = details.length > 1 ? ` (and ${details.length - 1} more)` : '';
  const message = `The arguments do not fit the function "${fn.name}". ${where}${first?.message ?? ''}${more}`;
  return { code: 'invalid_argument', message, details };
}

/**
 * Variables with which tools and cloud SDKs find hosts. svc reads some of them only from the server's environment, but a
 * request that sets one expects an effect that it must not have.
 */
const OF_THE_NETWORK =
  /^(?:(?:https?|all|no|ftp|socks)_proxy|aws_(?:default_)?region|aws_endpoint_url(?:_\w+)?|aws_ec2_metadata_service_endpoint|aws_container_credentials_(?:relative|full)_uri|gce_metadata_(?:host|ip|root)|google_cloud_project)$/iu;

/** The variables that decide which URL or client a call reaches. */
export class TargetVariables {
  readonly #names: ReadonlySet<string>;

  /** `clients`: those of the definition files. */
  constructor(clients: readonly ClientType[]) {
    this.#names = new Set(clients.flatMap(variablesOf));
  }

  has(variable: string): boolean {
    return this.#names.has(variable) || OF_THE_NETWORK.test(variable);
  }
}

function variablesOf({ provider, options }: ClientType): readonly string[] {
  const table = PROVIDER_DESCRIPTIONS[provider].options;
  return options.filter(({ key }) => decidesTarget(table, key)).flatMap(({ value }) => variablesIn(value));
}

const ALLOWED: ReadonlySet<string> = new Set(['text', 'explain', ...OPTIONS_KEYS]);

interface ReplySettings {
  /** The default for requests without `on_loss`. */
  readonly onLoss: OnLoss;
  readonly typeSource: TypeSource | undefined;
  readonly loaded: LoadedTypes;
}

/** Checks the body of a request to parse a reply. */
export function prepareReply(
  functionName: string,
  body: unknown,
  { onLoss, typeSource, loaded }: ReplySettings,
): Result<PreparedReply, Failure> {
  if (!isJsonObject(body)) return err(invalidBody([{ path: '', message: 'the body has to be a JSON object' }]));
  const text = ownValue(body, 'text');
  const faults = new ViolationList();
  if (typeof text !== 'string') faults.add(NO_TEXT);
  const explain = ownValue(body, 'explain') ?? undefined;
  if (explain !== undefined && typeof explain !== 'boolean')
    faults.add({ path: 'explain', message: 'has to be true or false' });
  for (const path of Object.keys(body)) {
    if (faults.full) break;
    if (!ALLOWED.has(path)) faults.add({ path, message: 'is unknown; allowed: text, explain, svc_options' });
  }
  if (typeof text !== 'string' || faults.all.length > 0) return err(invalidBody(faults.all));
  const options = withTypes(readReplyOptions(body, { typeSource }), loaded);
  return options.ok ? ok({ functionName, text, explain: explain === true, onLoss, ...options.value }) : options;
}

const NO_TEXT: Violation = { path: 'text', message: 'has to be a string: the reply of a model' };

/** The message of a failure lists the first faults; the failure lists up to a hundred. */
const LISTED = 3;

function invalidBody(details: readonly Violation[]): Failure {
  const first = details
    .slice(0, LISTED)
    .map(({ path, message }) => (path === '' ? message : `"${path}" ${message}`))
    .join('; ');
  const more = details.length > LISTED ? ` (and ${details.length - LISTED} more)` : '';
  return { code: 'invalid_argument', message: `${first}${more}.`, details };
}
