import { compareText } from '../../../base/json.ts';
import type { JsonObject } from '../../../base/json.ts';
import type { DefinitionIndex } from '../../../schema/definition-index.ts';
import type { CompileOptions } from '../../compile-options.ts';
import { functionPaths } from './function-paths.ts';
import { NameAllocator } from './name-allocator.ts';
import { OwnSchemas } from './own-schemas.ts';
import { errorResponseComponents, headerComponents } from './responses.ts';
import { serverPaths } from './server-paths.ts';
import { TypeSchemas } from './type-schemas.ts';

type Entry = readonly [string, JsonObject];

/**
 * The OpenAPI 3.0.3 document of a set of definitions. The order is fixed: functions and schemas by name, parameters and
 * fields as declared; so that the same definitions give the same text wherever their files lie.
 */
export function emitOpenApi(index: DefinitionIndex, options: CompileOptions): JsonObject {
  const schemaNames = new NameAllocator();
  for (const name of [...index.classes.keys(), ...index.enums.keys(), ...index.aliases.keys()]) {
    schemaNames.reserve(name);
  }
  const own = new OwnSchemas(schemaNames);
  const types = new TypeSchemas(index, own, schemaNames);
  const operationIds = new NameAllocator();
  const functions = [...index.functions.values()].toSorted((a, b) => compareText(a.name, b.name));
  for (const { name } of functions) operationIds.reserve(name);
  const parts = { index, types, own, schemaNames, operationIds, apiKey: options.apiKey, beta: options.beta };
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
      ...(options.apiKey && { securitySchemes: SECURITY_SCHEMES }),
    },
  };
}

const SECURITY_SCHEMES: JsonObject = {
  apiKey: { type: 'apiKey', in: 'header', name: 'x-svc-api-key' },
  bearer: { type: 'http', scheme: 'bearer' },
};

function head(options: CompileOptions): JsonObject {
  return {
    openapi: '3.0.3',
    info: {
      title: 'svc',
      description: 'Typed LLM functions. `/call` answers with the value, `/stream` with partial values as they grow.',
      version: options.version,
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
