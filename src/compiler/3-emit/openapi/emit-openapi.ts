import { compareText, type JsonObject } from '../../../base/json.ts';
import type { DefinitionIndex } from '../../../schema/program.ts';
import { choice, objectSchema } from '../../../schema/json-schema.ts';
import type { CompileOptions } from '../../compile-options.ts';
import { ComponentSchemas } from './component-schemas.ts';
import { Examples } from './examples.ts';
import { functionPaths } from './function-paths.ts';
import { NameAllocator } from './name-allocator.ts';
import { OwnSchemas } from './own-schemas.ts';
import { errorResponse, errorResponseComponents, headerComponents, plainHeaders } from './responses.ts';

type Entry = readonly [string, JsonObject];

/**
 * The OpenAPI 3.0.3 document of a set of definitions. The order is fixed: functions and schemas by name, parameters and
 * fields as declared, so that the same definitions give the same text in whichever files they are.
 */
export function emitOpenApi(index: DefinitionIndex, options: CompileOptions): JsonObject {
  const schemaNames = new NameAllocator();
  for (const name of [...index.classes.keys(), ...index.enums.keys(), ...index.aliases.keys()]) {
    schemaNames.reserve(name);
  }
  const own = new OwnSchemas(schemaNames);
  const types = new ComponentSchemas(index, own, schemaNames);
  const operationIds = new NameAllocator();
  const functions = [...index.functions.values()].toSorted((a, b) => compareText(a.name, b.name));
  for (const { name } of functions) operationIds.reserve(name);
  const examples = new Examples(index);
  const errors = { apiKey: options.apiKey, limits: options.limits };
  const parts = { examples, types, own, schemaNames, operationIds, errors, beta: options.beta };
  const emitted = functions.map((fn) => functionPaths(fn, parts));
  const schemas = [...types.components, ...emitted.flatMap((one) => one.schemas)];
  const responses = errorResponseComponents(own.ref('SvcError'), options);
  const paths = [...emitted.flatMap((one) => one.paths), ...serverPaths(operationIds, options.apiKey)];
  return {
    ...head(options),
    paths: Object.fromEntries(paths),
    components: {
      schemas: sorted([...schemas, ...own.entries()]),
      responses,
      headers: headerComponents(),
      ...(examples.components.size > 0 && { examples: sorted([...examples.components]) }),
      ...(options.apiKey && { securitySchemes: SECURITY_SCHEMES }),
    },
  };
}

const SECURITY_SCHEMES: JsonObject = {
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-svc-api-key',
    description: "The server also accepts the key in `x-baml-api-key`, for clients of BAML's server.",
  },
  bearer: { type: 'http', scheme: 'bearer' },
};

function head(options: CompileOptions): JsonObject {
  return {
    openapi: '3.0.3',
    info: {
      title: options.title ?? 'svc',
      description: 'Typed LLM functions. `/call` returns the value, `/stream` sends partial values as they grow.',
      version: options.apiVersion ?? options.version,
    },
    servers: [{ url: options.basePath || '/' }],
    security: options.apiKey ? [{ apiKey: [] }, { bearer: [] }] : [],
    tags: [
      { name: 'functions', description: 'The functions of the definition files.' },
      { name: 'server', description: 'Probes, metrics and status.' },
    ],
  };
}

function sorted(entries: readonly Entry[]): JsonObject {
  return Object.fromEntries(entries.toSorted((a, b) => compareText(a[0], b[0])));
}

const STATUS: JsonObject = objectSchema({ status: { type: 'string' } });

const AUTHORIZATION: JsonObject = objectSchema({
  authz: objectSchema({ enforcement: choice(['none', 'active']), outcome: choice(['pass', 'fail']) }, ['enforcement']),
});

/** The endpoints of every server, whatever its definitions. Probes need no key. */
function serverPaths(operationIds: NameAllocator, apiKey: boolean): readonly Entry[] {
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
    ['/_debug/ping', get('ping', 'Ping', { '200': json('The server responds.', STATUS) })],
    [
      '/_debug/status',
      get('status', 'State of authentication', { '200': json('The state.', AUTHORIZATION), ...forbidden }),
    ],
    ['/healthz', get('healthz', 'Health', { '200': json('The server is healthy.', STATUS), ...draining })],
    ['/livez', get('livez', 'Liveness', { '200': json('The process is alive.', STATUS) })],
    ['/metrics', get('metrics', 'Metrics', { '200': text('Prometheus text format.'), ...forbidden })],
    ['/readyz', get('readyz', 'Readiness', { '200': json('The server accepts calls.', STATUS), ...draining })],
  ];
}

function json(description: string, schema: JsonObject): JsonObject {
  return { description, headers: plainHeaders(), content: { 'application/json': { schema } } };
}

function text(description: string): JsonObject {
  return { description, headers: plainHeaders(), content: { 'text/plain': { schema: { type: 'string' } } } };
}
