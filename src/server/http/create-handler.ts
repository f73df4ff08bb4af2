import type { HttpServices } from './http-services.ts';
import { ParseRequest, RenderRequest } from './handlers/beta-requests.ts';
import { CallRequest } from './handlers/call-request.ts';
import type { FunctionRequest } from './handlers/function-request.ts';
import { PAGES, sendDocs } from './handlers/static-routes.ts';
import { allowedOrigin, RequestContext } from './request-context.ts';
import { StreamRequest } from './handlers/stream-request.ts';
import type { RequestHandler } from './transport.ts';

type FunctionRequestClass = new (context: RequestContext, functionName: string) => FunctionRequest;

const FUNCTION_ROUTES: ReadonlyMap<string, FunctionRequestClass> = new Map<string, FunctionRequestClass>([
  ['call', CallRequest],
  ['stream', StreamRequest],
]);

const BETA_ROUTES: ReadonlyMap<string, FunctionRequestClass> = new Map<string, FunctionRequestClass>([
  ['render', RenderRequest],
  ['parse', ParseRequest],
]);

/** The handler of a server that serves one program. */
export function createHandler(services: HttpServices): RequestHandler {
  const beta = services.config.features.includes('beta');
  const routes = new Map([...FUNCTION_ROUTES, ...(beta ? BETA_ROUTES : [])]);
  return (request, response) => {
    const context = new RequestContext(services, request, response);
    if (request.method === 'OPTIONS' && services.config.corsOrigins.length > 0) preflight(context);
    else route(context, routes, withoutBase(request.path, services.config.basePath));
  };
}

type Routes = ReadonlyMap<string, FunctionRequestClass>;

function route(context: RequestContext, routes: Routes, path: string): void {
  const slash = path.indexOf('/', 1);
  const Request = slash > 0 ? routes.get(path.slice(1, slash)) : undefined;
  const name = path.slice(slash + 1);
  if (Request === undefined || name === '' || name.includes('/')) servePage(context, routes, path);
  else if (context.request.method !== 'POST') context.methodNotAllowed('POST');
  else if (context.authorized()) new Request(context, decoded(name)).begin();
}

function servePage(context: RequestContext, routes: Routes, path: string): void {
  const { method } = context.request;
  const page = PAGES.get(path);
  const known = page !== undefined || context.services.docs.has(path);
  if (!known) context.notFound([...PAGES.keys(), '/docs', ...functionPaths(context, routes)]);
  else if (method !== 'GET' && method !== 'HEAD') context.methodNotAllowed('GET, HEAD');
  else if (page === undefined) sendDocs(context, path);
  else if (page.open || context.authorized()) page.handle(context);
}

/** Names of functions are told to callers with a key alone. */
function functionPaths(context: RequestContext, routes: Routes): readonly string[] {
  const { authenticator, config, runtime } = context.services;
  if (authenticator.check(context.request) === 'fail') return [];
  const names = runtime.functionNames;
  return [...routes.keys()].flatMap((name) => names.map((fn) => `${config.basePath}/${name}/${fn}`));
}

/** Balancers and gateways may or may not take the prefix off, so both forms are served. */
function withoutBase(path: string, basePath: string): string {
  if (basePath === '' || !path.startsWith(`${basePath}/`)) return path;
  return path.slice(basePath.length);
}

/** A name that is no valid percent-encoding stays as it is: there is no such function. */
function decoded(name: string): string {
  if (!name.includes('%')) return name;
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** CORS preflight. Answered alike for every path: what the request itself may do is decided when it comes. */
function preflight(context: RequestContext): void {
  const { config } = context.services;
  if (allowedOrigin(config.corsOrigins, context.request.header('origin')) === undefined) {
    context.send(204, [], undefined);
    return;
  }
  const headers = [
    ['access-control-allow-methods', 'GET, HEAD, POST'],
    ['access-control-allow-headers', 'authorization, content-type, x-request-id, x-svc-api-key'],
    ['access-control-max-age', '600'],
  ] as const;
  context.send(204, headers, undefined);
}
