import { percentDecoded } from '../../base/percent-encoding.ts';
import type { Logger } from '../../logging/logger.ts';
import { Redactor } from '../../logging/redactor.ts';
import type { FunctionRequest } from './handlers/function-request.ts';
import { pageAt, PAGES } from './handlers/static-routes.ts';
import { StreamRequest } from './handlers/stream-request.ts';
import { CallRequest, ParseRequest, RenderRequest } from './handlers/value-requests.ts';
import type { HttpServices } from './http-services.ts';
import { problemBody } from './problem.ts';
import { allowedOrigin, RequestContext, requestIdOf } from './request-context.ts';
import { JSON_TYPE } from './response-head.ts';
import type { Reject, RequestHandler } from './transport.ts';
import { visibleNames } from './visible-program.ts';

type FunctionRequestClass = new (context: RequestContext, functionName: string) => FunctionRequest;

type Routes = ReadonlyMap<string, FunctionRequestClass>;

const FUNCTION_ROUTES: Routes = new Map<string, FunctionRequestClass>([
  ['call', CallRequest],
  ['stream', StreamRequest],
]);

/** With feature `beta`, and with the playground, which uses them. */
const MORE_ROUTES: Routes = new Map<string, FunctionRequestClass>([
  ['render', RenderRequest],
  ['parse', ParseRequest],
]);

/** The handler of a server that serves one program. */
export function createHandler(services: HttpServices): RequestHandler {
  const more = services.config.features.includes('beta') || services.playground !== undefined;
  const routes = new Map([...FUNCTION_ROUTES, ...(more ? MORE_ROUTES : [])]);
  return (request, response) => {
    const context = new RequestContext(services, request, response);
    const { telemetry } = services;
    const path = withoutBase(request.path, services.config.basePath);
    // Probes and scrapes arrive every few seconds, and no one needs their traces.
    if (telemetry !== undefined && !OPERATIONS_PATHS.includes(path)) {
      context.trace = telemetry.request(request, context.startedAt);
    }
    if (request.method === 'OPTIONS' && services.config.corsOrigins.length > 0) preflight(context);
    else route(context, routes, path);
  };
}

/** The paths of the metrics port. They need no key: the port is meant for the inside of a cluster only. */
const OPERATIONS_PATHS = ['/metrics', '/livez', '/readyz', '/healthz'];

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

function route(context: RequestContext, routes: Routes, path: string): void {
  const slash = path.indexOf('/', 1);
  const Request = slash > 0 ? routes.get(path.slice(1, slash)) : undefined;
  const name = path.slice(slash + 1);
  if (Request === undefined || name === '' || name.includes('/')) servePage(context, routes, path);
  else if (context.request.method !== 'POST') context.methodNotAllowed('POST');
  else if (context.authorized()) new Request(context, nameOf(name)).begin();
}

function servePage(context: RequestContext, routes: Routes, path: string): void {
  const { method } = context.request;
  const page = pageAt(context.services, path);
  if (page !== undefined) context.trace?.routed(`${context.services.config.basePath}${path}`);
  if (page === undefined) pathNotFound(context, routes);
  else if (method !== 'GET' && method !== 'HEAD') context.methodNotAllowed('GET, HEAD');
  else if (page.open || context.authorized()) page.handle(context);
}

/** Only callers with a key see the paths of functions. The answer reveals whether a key is right, so svc delays it like a 403. */
function pathNotFound(context: RequestContext, routes: Routes): void {
  const pages = [...PAGES.keys(), '/docs', ...(context.services.playground === undefined ? [] : ['/playground'])];
  if (context.ifAuthorized(() => context.notFound(pages))) {
    context.notFound([...pages, ...functionPaths(context, routes)]);
  }
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
  'authorization, baggage, content-type, idempotency-key, traceparent, tracestate, x-baml-api-key, x-request-id, x-svc-api-key';

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
