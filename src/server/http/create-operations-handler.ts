import type { HttpServices } from './http-services.ts';
import { PAGES } from './handlers/static-routes.ts';
import { RequestContext } from './request-context.ts';
import type { RequestHandler } from './transport.ts';

/** What the metrics port serves, without a key: it is meant for the inside of a cluster alone. */
const PATHS = ['/metrics', '/livez', '/readyz', '/healthz'];

/** The handler of the metrics port. */
export function createOperationsHandler(services: HttpServices): RequestHandler {
  return (request, response) => {
    const context = new RequestContext(services, request, response);
    const page = PATHS.includes(request.path) ? PAGES.get(request.path) : undefined;
    if (page === undefined) context.notFound(PATHS);
    else if (request.method !== 'GET' && request.method !== 'HEAD') context.methodNotAllowed('GET, HEAD');
    else page.handle(context);
  };
}
