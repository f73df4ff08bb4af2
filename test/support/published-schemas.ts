import { Ajv } from 'ajv';
import type { ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import { isJsonObject, type JsonObject } from '../../src/base/json.ts';
import type { Program } from '../../src/schema/program.ts';

/** The schemas of the function `Do` in the OpenAPI document of a program, compiled when they are read. */
export interface PublishedSchemas {
  readonly args: ValidateFunction;
  readonly result: ValidateFunction;
  readonly partial: ValidateFunction;
}

export function publishedSchemas(program: Program): PublishedSchemas {
  const ajv = new Ajv({ strict: false, logger: false, validateSchema: false, ownProperties: true });
  formats.default(ajv);
  const document = jsonSchema(program.openapi) as JsonObject;
  ajv.addSchema({ ...document, $id: 'doc' });
  const operation = 'doc#/paths/~1call~1Do/post';
  const events = 'doc#/components/schemas/DoStreamEvent';
  const compiled = ($ref: string): ValidateFunction => ajv.compile({ $ref });
  return {
    get args() {
      return compiled(`${operation}/requestBody/content/application~1json/schema`);
    },
    get result() {
      return compiled(`${operation}/responses/200/content/application~1json/schema`);
    },
    get partial() {
      return compiled(`${events}/anyOf/0/properties/partial_result`);
    },
  };
}

/** Converts the schemas of a document to JSON Schema, which differs only in `nullable`. */
function jsonSchema(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(jsonSchema);
  if (!isJsonObject(value)) return value;
  const { nullable, ...rest } = value;
  const schema = Object.fromEntries(Object.entries(rest).map(([key, member]) => [key, jsonSchema(member)]));
  return nullable === true ? { anyOf: [schema, { type: 'null' }] } : schema;
}
