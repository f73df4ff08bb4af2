import type { JsonObject } from '../../../base/json.ts';
import type { NameAllocator } from './name-allocator.ts';
import { errorResponse, plainHeaders } from './responses.ts';
import { choice, objectSchema } from './schema-shapes.ts';

const STATUS: JsonObject = objectSchema({ status: { type: 'string' } });

const AUTHORIZATION: JsonObject = objectSchema({
  authz: objectSchema({ enforcement: choice(['none', 'active']), outcome: choice(['pass', 'fail']) }, ['enforcement']),
});

/** Endpoints that are there whatever the definitions say. Probes answer without a key. */
export function serverPaths(
  operationIds: NameAllocator,
  apiKey: boolean,
): ReadonlyArray<readonly [string, JsonObject]> {
  const forbidden: JsonObject = apiKey ? { '403': errorResponse(403) } : {};
  const tooLarge = { '431': errorResponse(431) };
  const draining = { '503': errorResponse(503) };
  const get = (name: string, summary: string, responses: JsonObject): JsonObject => {
    const open = apiKey && responses['403'] === undefined ? { security: [] } : {};
    return {
      get: {
        tags: ['server'],
        operationId: operationIds.allocate(name),
        summary,
        ...open,
        responses: { ...responses, ...tooLarge },
      },
    };
  };
  return [
    ['/_debug/ping', get('ping', 'Ping', { '200': json('The server answers.', STATUS) })],
    [
      '/_debug/status',
      get('status', 'State of authentication', { '200': json('The state.', AUTHORIZATION), ...forbidden }),
    ],
    ['/healthz', get('healthz', 'Health', { '200': json('The server is healthy.', STATUS), ...draining })],
    ['/livez', get('livez', 'Liveness', { '200': json('The process lives.', STATUS) })],
    ['/metrics', get('metrics', 'Metrics', { '200': text('Prometheus text format.'), ...forbidden })],
    ['/readyz', get('readyz', 'Readiness', { '200': json('Calls are taken.', STATUS), ...draining })],
  ];
}

function json(description: string, schema: JsonObject): JsonObject {
  return { description, headers: plainHeaders(), content: { 'application/json': { schema } } };
}

function text(description: string): JsonObject {
  return { description, headers: plainHeaders(), content: { 'text/plain': { schema: { type: 'string' } } } };
}
