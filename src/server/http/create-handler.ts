import { percentDecoded } from '../../base/percent-encoding.ts';
import type { Logger } from '../../logging/logger.ts';
import { Redactor } from '../../logging/redactor.ts';
import type { FunctionRequest } from './handlers/function-request.ts';
import { StreamRequest } from './handlers/stream-request.ts';
import { CallRequest, ParseRequest, RenderRequest } from './handlers/value-requests.ts';
import { callsData, feedback, saveAsTest } from './handlers/kept-calls.ts';
import type { CallSink, HttpServices } from './http-services.ts';
import { problemBody, INTERNAL_PROBLEM, problemOf } from './problem.ts';
import {
  allowedOrigin,
  contextOf,
  OPERATIONS_PATHS,
  RequestContext,
  requestIdOf,
  unauthorized,
  type PathAdvice,
} from './request-context.ts';
import { JSON_TYPE, chooseEncoding, type ContentEncoding, type HeaderList } from './response-head.ts';
import type { Reject, RequestHandler } from './transport.ts';
import { visibleNames } from './visible-program.ts';
import type { Door } from '../doors/door.ts';
import { limitUse, statusFields, type ServerState } from '../server-state.ts';
import type { KeyUses, MetricsFormat } from '../protocol.ts';
import type { JsonDocument, StaticAsset } from './static-asset.ts';

type FunctionRequestClass = new (context: RequestContext, functionName: string) => FunctionRequest;

type Routes = ReadonlyMap<string, FunctionRequestClass>;

/** The paths of a server beside its pages. */
interface Served {
  readonly routes: Routes;
  readonly doorPaths: readonly string[];
}

const FUNCTION_ROUTES: Routes = new Map<string, FunctionRequestClass>([
  ['call', CallRequest],
  ['stream', StreamRequest],
]);

/** With feature `beta`, and with the playground, which uses them. */
const MORE_ROUTES: Routes = new Map<string, FunctionRequestClass>([
  ['render', RenderRequest],
  ['parse', ParseRequest],
]);

/** The handler of a server that serves one program. `doors`: other protocols for its functions. */
export function createHandler(services: HttpServices, doors: readonly Door[] = []): RequestHandler {
  const more = services.config.features.includes('beta') || services.playground !== undefined;
  const routes = new Map([...FUNCTION_ROUTES, ...(more ? MORE_ROUTES : [])]);
  const served = { routes, doorPaths: doors.flatMap((door) => door.paths) };
  return (request, response) => {
    const path = withoutBase(request.path, services.config.basePath);
    const door = doors.length === 0 ? undefined : doorAt(doors, path);
    const arrival = { services, request, response, path };
    if (door !== undefined && request.method !== 'OPTIONS') {
      door.serve(arrival);
      return;
    }
    const context = contextOf(arrival);
    if (request.method === 'OPTIONS' && services.config.corsOrigins.length > 0) preflight(context);
    else route(context, served, path);
  };
}

function doorAt(doors: readonly Door[], path: string): Door | undefined {
  return doors.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`));
}

/** The handler of the metrics port. */
export function createOperationsHandler(services: HttpServices): RequestHandler {
  return (request, response) => {
    const context = new RequestContext(services, request, response);
    const page = OPERATIONS_PATHS.includes(request.path) ? PAGES.get(request.path) : undefined;
    if (page === undefined) context.notFound(OPERATIONS_PATHS);
    else if (request.method !== 'GET' && request.method !== 'HEAD') context.methodNotAllowed('GET, HEAD');
    else page.handle(context);
  };
}

/** Answers requests that reach no handler, in the form of every other error, and logs exceptions. */
export function createReject(logger: Logger, redactor: Redactor = new Redactor([])): Reject {
  return (problem, request = {}) => {
    const id = requestIdOf(request.requestId);
    if ('error' in request) logger.error({ requestId: id, err: request.error }, 'a bug in the server');
    const headers = [JSON_TYPE, ['x-request-id', id] as const, ...problem.headers];
    return { status: problem.status, headers, body: problemBody(problem, id, redactor) };
  };
}

function route(context: RequestContext, served: Served, path: string): void {
  const slash = path.indexOf('/', 1);
  if (context.services.calls !== undefined && slash > 0 && servesCalls(context, context.services.calls, path, slash))
    return;
  const Request = slash > 0 ? served.routes.get(path.slice(1, slash)) : undefined;
  const name = path.slice(slash + 1);
  if (Request === undefined || name === '' || name.includes('/')) servePage(context, served, path);
  else if (context.request.method !== 'POST') context.methodNotAllowed('POST');
  else if (context.authorized()) new Request(context, nameOf(name)).begin();
}

const PLAYGROUND_PATH = '/playground/';

/** Answers a request about kept calls. Returns false if the request is none. */
function servesCalls(context: RequestContext, calls: CallSink, path: string, slash: number): boolean {
  const { method } = context.request;
  if (path.startsWith('/feedback/') && path.indexOf('/', slash + 1) < 0 && path.length > slash + 1) {
    if (method !== 'POST') context.methodNotAllowed('POST');
    else if (context.authorized()) feedback(context, calls, nameOf(path.slice(slash + 1)));
    return true;
  }
  if (context.services.playground === undefined || !path.startsWith(PLAYGROUND_PATH)) return false;
  const rest = path.slice(PLAYGROUND_PATH.length);
  const saved = /^calls\/(\d{1,15})\/test$/u.exec(rest)?.[1];
  if (saved === undefined && !/^(?:calls|charts)(?:\/|$)/u.test(rest)) return false;
  const allowed = saved === undefined ? ['GET', 'HEAD'] : ['POST'];
  if (!allowed.includes(method)) context.methodNotAllowed(allowed.join(', '));
  else if (context.authorized() && context.mayRead('kept calls')) {
    if (saved !== undefined) saveAsTest(context, calls, Number(saved));
    else if (!callsData(context, calls, rest))
      context.notFound([`${PLAYGROUND_PATH}calls`, `${PLAYGROUND_PATH}charts`]);
  }
  return true;
}

function servePage(context: RequestContext, served: Served, path: string): void {
  const { method } = context.request;
  const page = pageAt(context.services, path);
  if (page !== undefined) context.trace?.routed(`${context.services.config.basePath}${path}`);
  if (page === undefined) pathNotFound(context, served, path);
  else if (method !== 'GET' && method !== 'HEAD') context.methodNotAllowed('GET, HEAD');
  else if (page.open || context.authorized()) page.handle(context);
}

/** Only callers with a key see the paths of functions. The answer reveals whether a key is right, so svc delays it like a 403. */
function pathNotFound(context: RequestContext, { routes, doorPaths }: Served, path: string): void {
  const { playground } = context.services;
  const extra = [
    ...(playground === undefined ? [] : ['/playground']),
    ...(context.services.calls === undefined ? [] : ['/feedback/{request_id}']),
    ...doorPaths,
  ];
  const pages = [...PAGES.keys(), '/docs', ...extra];
  const flag = flagAdvice(path, [...extra, ...[...routes.keys()].map((name) => `/${name}`)]);
  if (context.ifAuthorized(() => context.notFound(pages, flag))) {
    context.notFound([...pages, ...functionPaths(context, routes)], flag ?? adviceFor(context));
  }
}

/** How to turn on the paths that a server has only if its operator asks for them, by their first segment. */
const FLAGS: Readonly<Record<string, string>> = {
  playground: '"--playground", or run "svc dev"',
  render: '"--playground" or "--features beta"',
  parse: '"--playground" or "--features beta"',
  mcp: '"--mcp"',
  v1: '"--openai-api"',
  feedback: '"--calls sqlite:PATH" or a URL of Postgres',
};

/** The flag that turns on a path, unless it is on already. */
function flagAdvice(path: string, served: readonly string[]): PathAdvice | undefined {
  const [, segment = ''] = path.split('/');
  const flag = Object.hasOwn(FLAGS, segment) ? FLAGS[segment] : undefined;
  if (flag === undefined || served.some((each) => each.split('/')[1] === segment)) return undefined;
  return { sentence: `To have it, start the server with ${flag}.`, paths: [] };
}

/** Words in the paths of other servers for the list of functions. */
const LISTS: ReadonlySet<string> = new Set([
  'api',
  'call',
  'function',
  'functions',
  'openapi.yaml',
  'stream',
  'swagger',
]);

/** What a caller looked for who names a function without a route, or the list of functions. */
function adviceFor({ caller, request, services }: RequestContext): PathAdvice | undefined {
  const { config, runtime } = services;
  const words = withoutBase(request.path, config.basePath).split('/');
  const name = words.map((word) => nameOf(word)).find((word) => word !== '' && runtime.has(word));
  if (name !== undefined && visibleNames(caller, runtime.functionNames).includes(name)) {
    const paths = ['call', 'stream'].map((kind) => `${config.basePath}/${kind}/${name}`);
    return { sentence: `To call the function, send POST ${paths[0]}, or POST ${paths[1]} for a stream.`, paths };
  }
  if (!LISTS.has(words.findLast((word) => word !== '')?.toLowerCase() ?? '')) return undefined;
  const paths = ['/openapi.json', '/docs'].map((page) => config.basePath + page);
  const call = `${config.basePath}/call/{function}`;
  return {
    sentence: `GET ${paths[0]} lists the functions, ${paths[1]} shows them, and POST ${call} calls one.`,
    paths,
  };
}

function functionPaths({ caller, services }: RequestContext, routes: Routes): readonly string[] {
  const { config, runtime } = services;
  const names = visibleNames(caller, runtime.functionNames);
  return [...routes.keys()].flatMap((name) => names.map((fn) => `${config.basePath}/${name}/${fn}`));
}

/** Some balancers and gateways remove the prefix and others keep it, so both forms are served. */
function withoutBase(path: string, basePath: string): string {
  if (basePath === '' || !`${path}/`.startsWith(`${basePath}/`)) return path;
  return path === basePath ? '/' : path.slice(basePath.length);
}

/** Keeps a name that is not valid percent-encoding: no function has it. */
function nameOf(segment: string): string {
  return segment.includes('%') ? (percentDecoded(segment) ?? segment) : segment;
}

const ALLOWED_HEADERS =
  'authorization, baggage, content-type, idempotency-key, last-event-id, mcp-protocol-version, traceparent, tracestate, x-baml-api-key, x-request-id, x-svc-api-key';

/** Answers a CORS preflight, the same for every path: the request itself is checked when it arrives. */
function preflight(context: RequestContext): void {
  const { config } = context.services;
  if (allowedOrigin(config.corsOrigins, context.request.header('origin')) === undefined) {
    context.send(204, [], undefined);
    return;
  }
  const headers = [
    ['access-control-allow-methods', 'GET, HEAD, POST'],
    ['access-control-allow-headers', ALLOWED_HEADERS],
    ['access-control-max-age', '600'],
  ] as const;
  context.send(204, headers, undefined);
}

/** The answer to GET and HEAD at a path. An `open` page needs no key. */
interface Page {
  readonly open: boolean;
  readonly handle: (context: RequestContext) => void;
}

/** The pages of every server. */
const PAGES: ReadonlyMap<string, Page> = new Map<string, Page>([
  ['/', { open: true, handle: toPage }],
  ['/_debug/ping', { open: true, handle: (context) => context.json(200, { status: 'ok' }) }],
  ['/_debug/status', { open: true, handle: status }],
  ['/_debug/keys', { open: false, handle: keys }],
  ['/livez', { open: true, handle: (context) => context.json(200, { status: 'ok' }) }],
  ['/healthz', { open: true, handle: readiness }],
  ['/readyz', { open: true, handle: readiness }],
  ['/openapi.json', { open: false, handle: openapi }],
  ['/metrics', { open: false, handle: metrics }],
]);

/** Describes the program to the page of the playground, which is static and contains nothing of it. */
const PLAYGROUND_DOCUMENT = '/playground/program.json';

/** Returns the page at a path: one of `PAGES`, `/docs`, `/playground`, or a file that they load. */
function pageAt({ assets, playground }: HttpServices, path: string): Page | undefined {
  const asset = assets.get(path);
  if (asset !== undefined) return { open: true, handle: (context) => sendAsset(context, asset) };
  if (path !== PLAYGROUND_DOCUMENT || playground === undefined) return PAGES.get(path);
  return { open: false, handle: (context) => sendDocument(context, playground.documentOf(context.caller)) };
}

function sendAsset(context: RequestContext, asset: StaticAsset): void {
  const encoding = chooseEncoding(context.request.header('accept-encoding'), asset.encodings);
  const headers = [
    ...representation(asset.tag, encoding),
    ['content-security-policy', asset.contentSecurityPolicy],
    ['x-content-type-options', 'nosniff'],
    ['referrer-policy', 'no-referrer'],
  ] as const;
  if (matches(context, asset.tag, encoding)) context.send(304, headers, undefined);
  else context.send(200, [['content-type', asset.contentType], ...headers], () => asset.bytes(encoding));
}

/** A person who opens the root in a browser looks for the functions. */
function toPage(context: RequestContext): void {
  const { config, playground } = context.services;
  const page = playground === undefined ? '/docs' : '/playground';
  context.send(302, [['location', `${config.basePath}${page}`]], undefined);
}

/** The headers with which caches distinguish the forms of a page. */
function representation(tag: string, encoding: ContentEncoding | undefined): HeaderList {
  const headers: HeaderList = [
    ['etag', etagOf(tag, encoding)],
    ['cache-control', 'no-cache'],
    ['vary', 'accept-encoding'],
  ];
  return encoding === undefined ? headers : [...headers, ['content-encoding', encoding]];
}

/** Each form has an etag of its own (RFC 9110, 8.8.3.3). */
function etagOf(tag: string, encoding: ContentEncoding | undefined): string {
  return encoding === undefined ? `"${tag}"` : `"${tag}-${encoding}"`;
}

/** Without a key, the body has only `authz`, and headers have further details. Callers with a key get the state of the server. */
function status(context: RequestContext): void {
  const { authenticator, programHash, version } = context.services;
  const refused = { enforcement: 'active', outcome: 'fail' };
  if (!context.ifAuthorized((refusal) => context.problem(unauthorized(refusal, { authz: refused })))) return;
  const headers = [JSON_TYPE, ['x-svc-version', version], ['x-svc-program', programHash]] as const;
  if (!authenticator.required || !context.wantsBody) {
    context.send(200, headers, () => JSON.stringify({ authz: { enforcement: 'none' } }));
    return;
  }
  const authz = { enforcement: 'active', outcome: 'pass' };
  const body = (state: ServerState) =>
    JSON.stringify({ authz, version, program: programHash, ...statusFields(state, context.services.clients) });
  context.services.serverState().then(
    (state) => context.send(200, headers, body(state)),
    (error: unknown) => failed(context, error, 'the state of the server could not be collected'),
  );
}

/** Lists the keys, with what they used of their limits. Contains no key and no digest of one. */
function keys(context: RequestContext): void {
  if (!context.mayRead('the list of keys')) return;
  const { authenticator, limiter } = context.services;
  if (!authenticator.required || !context.wantsBody) {
    context.json(200, { keys: [] });
    return;
  }
  const all = authenticator.states.map((key) => ({ ...key, limits: limiter?.setOfKey(key.caller)?.limits ?? [] }));
  const limits = all.flatMap((key) => key.limits.map(({ limit }) => limit));
  const fields = ({ lastUse, grants }: KeyUses): object => {
    const usedAt = new Map(lastUse);
    const states = new Map(limits.map(({ id }, index) => [id, grants[index]]));
    const listed = all.map(({ caller, entry, state, limits: own }) => ({
      name: caller.name,
      state,
      functions: caller.functions ?? null,
      expires: isoTime(entry.expiresAt),
      last_use: isoTime(usedAt.get(caller.name)),
      limits: Object.fromEntries(own.map((named) => [named.name, limitUse(named, states.get(named.limit.id))])),
    }));
    return { keys: listed };
  };
  context.services.keyUses(limits).then(
    (uses) => context.json(200, fields(uses)),
    (error: unknown) => failed(context, error, 'the uses of keys could not be collected'),
  );
}

function isoTime(at: number | undefined): string | null {
  return at === undefined ? null : new Date(at).toISOString();
}

function readiness(context: RequestContext): void {
  const { ready, degraded, store } = context.services.health;
  // Without the store, this machine still answers every call.
  const storeFields =
    store === undefined || store.state === 'up' ? undefined : { store: store.state, reason: store.reason };
  if (!ready) {
    const message = 'The server accepts no calls: it is starting or stopping.';
    context.problem(problemOf({ code: 'draining', message, retryAfterSeconds: 1 }));
  } else if (degraded === null && storeFields === undefined) context.json(200, { status: 'ok' });
  else if (degraded === null) context.json(200, { status: 'degraded', ...storeFields });
  // Half of the workers are better than no server, which can be the alternative.
  else if (2 * degraded.listening >= degraded.wanted) {
    context.json(200, { status: 'degraded', workers: degraded, ...storeFields });
  } else {
    const message = `Only ${degraded.listening} of ${degraded.wanted} workers serve, and new ones fail to start.`;
    context.problem(problemOf({ code: 'overloaded', message, retryAfterSeconds: 1 }));
  }
}

function openapi(context: RequestContext): void {
  sendDocument(context, context.services.openapi.of(context.caller));
}

function sendDocument(context: RequestContext, document: JsonDocument): void {
  const encoding = chooseEncoding(context.request.header('accept-encoding'), ['gzip']);
  const headers = representation(document.tag, encoding);
  const body = () => (encoding === undefined ? document.plain : document.gzip());
  if (matches(context, document.tag, encoding)) context.send(304, headers, undefined);
  else context.send(200, [JSON_TYPE, ...headers], body);
}

const METRICS_TYPES = {
  prometheus: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
} as const;

/** The labels name every function and every key. */
function metrics(context: RequestContext): void {
  if (!context.mayRead('the metrics')) return;
  const format = metricsFormat(context.request.header('accept'));
  const headers = [
    ['content-type', METRICS_TYPES[format]],
    ['vary', 'accept'],
  ] as const;
  if (!context.wantsBody) {
    context.send(200, headers, undefined);
    return;
  }
  context.services.metricsText(format).then(
    (text) => context.send(200, headers, text),
    (error: unknown) => failed(context, error, 'the metrics could not be collected'),
  );
}

/** OpenMetrics for scrapers that name it and do not prefer the older format (RFC 9110, 12.5.1). */
export function metricsFormat(accept = ''): MetricsFormat {
  const open = quality(accept, 'application/openmetrics-text');
  return open > 0 && open >= quality(accept, 'text/plain') ? 'openmetrics' : 'prometheus';
}

/** The highest weight of a media type in an `accept` header, whatever its version; 0 if the header does not contain the type. */
function quality(accept: string, type: string): number {
  const weights = accept.split(',').flatMap((range) => {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const q = parameters.find((parameter) => parameter.startsWith('q='));
    return name === type ? [q === undefined ? 1 : Number(q.slice(2))] : [];
  });
  return Math.max(0, ...weights.filter((weight) => !Number.isNaN(weight)));
}

/** The primary did not answer. */
function failed(context: RequestContext, error: unknown, message: string): void {
  context.services.logger.error({ ...context.logFields, err: error }, message);
  context.problem(INTERNAL_PROBLEM);
}

/** RFC 9110, 13.1.2; validators are compared weakly. */
function matches(context: RequestContext, tag: string, encoding: ContentEncoding | undefined): boolean {
  const given = context.request.header('if-none-match');
  if (given === undefined) return false;
  const etag = etagOf(tag, encoding);
  return given.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag);
}
