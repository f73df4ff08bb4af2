import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import type { Result } from '../../src/base/result.ts';
import { TypeCompiler } from '../../src/compiler/compile-types.ts';
import { SourceFile } from '../../src/diagnostics/source-file.ts';
import { FunctionReplies } from '../../src/runtime/call/function-replies.ts';
import { indexDefinitions } from '../../src/schema/program.ts';
import {
  FORCED_TOOL,
  FORCED_TOOL_OF_BEDROCK,
  RESPONSE_FORMAT,
  RESPONSE_FORMAT_OF_UNKNOWN_SERVER,
  RESPONSE_JSON_SCHEMA,
  type StructuredForm,
} from '../../src/schema/providers/structured-output.ts';
import { structuredOutput, type StructuredOutput } from '../../src/schema/structured-output.ts';
import { extendDefinitions } from '../../src/schema/type-extension.ts';
import { compileText } from '../support/test-runtime.ts';
import { rejected } from './structured-subsets.ts';

const DEFINITIONS = `class Item {
  @@dynamic
}
client<llm> Tested {
  provider offline
}
function Read() -> Item {
  client Tested
  prompt #"{{ ctx.output_format }}"#
}
`;

const program = compileText(DEFINITIONS);
const compiler = new TypeCompiler([new SourceFile('main.svc', DEFINITIONS)]);

/** The definitions of a request with a JSON Schema for the class, as definitions or as a JSON Schema. */
function definitionsOf(builder: unknown): ReturnType<typeof indexDefinitions> {
  const extension = compiler.compile(builder, 'Read');
  if (!extension.ok) throw new Error(JSON.stringify(extension.failure));
  return indexDefinitions(extendDefinitions(program, extension.value));
}

function structured(builder: unknown, { limits }: StructuredForm): Result<StructuredOutput, string> {
  const index = definitionsOf(builder);
  const fn = index.functions.get('Read');
  const output = fn && structuredOutput(fn, index, limits);
  if (output === undefined) throw new Error('no output');
  return output;
}

function outputOf(builder: unknown, form: StructuredForm): JsonObject {
  const output = structured(builder, form);
  if (!output.ok) throw new Error(output.failure);
  expect(rejected(form.kind, output.value)).toEqual([]);
  return output.value.schema;
}

const withProperties = (properties: object): object => ({
  json_schema: { Item: { properties, required: Object.keys(properties) } },
});

const BOUNDED = withProperties({
  code: { type: 'string', minLength: 2, maxLength: 9, pattern: String.raw`^[A-Z]\d+$` },
  age: { type: 'integer', minimum: 0, maximum: 150 },
  weight: { type: 'number', minimum: 0, exclusiveMinimum: true, multipleOf: 5 },
  tags: { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1, maxItems: 3, uniqueItems: true },
});

test('a provider whose schemas have all keywords receives the bounds of a JSON Schema as they are', () => {
  expect(outputOf(BOUNDED, FORCED_TOOL)['properties']).toEqual({
    code: { type: 'string', minLength: 2, maxLength: 9, pattern: String.raw`^[A-Z]\d+$` },
    age: { type: 'integer', minimum: 0, maximum: 150 },
    weight: { type: 'number', exclusiveMinimum: 0, multipleOf: 5 },
    tags: { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1, maxItems: 3, uniqueItems: true },
  });
});

test('a provider with some of the keywords receives those', () => {
  expect(outputOf(BOUNDED, RESPONSE_JSON_SCHEMA)['properties']).toEqual({
    code: { type: 'string' },
    age: { type: 'integer', minimum: 0, maximum: 150 },
    weight: { type: 'number' },
    tags: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 3 },
  });
});

test.each([RESPONSE_FORMAT, RESPONSE_FORMAT_OF_UNKNOWN_SERVER, FORCED_TOOL_OF_BEDROCK])(
  'a provider without documented keywords receives none: $kind, $text',
  (form) => {
    const plain = withProperties({
      code: { type: 'string' },
      age: { type: 'integer' },
      weight: { type: 'number' },
      tags: { type: 'array', items: { type: 'string' } },
    });
    expect(outputOf(BOUNDED, form)).toEqual(outputOf(plain, form));
  },
);

test('bounds inside unions, maps, shared types and recursive aliases are sent too', () => {
  const { properties, $defs } = outputOf(
    {
      json_schema: {
        Item: {
          properties: {
            maybe: { type: ['integer', 'null'], minimum: 1 },
            scores: { type: 'object', additionalProperties: { type: 'number', maximum: 5 } },
            level: { $ref: '#/$defs/Level' },
            tree: { $ref: '#/$defs/Tree' },
          },
          required: ['maybe', 'scores', 'level', 'tree'],
          $defs: {
            Level: { type: 'integer', minimum: 1, maximum: 9 },
            Tree: { type: 'array', items: { $ref: '#/$defs/Tree' }, maxItems: 2 },
          },
        },
      },
    },
    FORCED_TOOL,
  );
  expect(properties).toEqual({
    maybe: { anyOf: [{ type: 'integer', minimum: 1 }, { type: 'null' }] },
    scores: { type: 'object', additionalProperties: { type: 'number', maximum: 5 } },
    level: { type: 'integer', minimum: 1, maximum: 9 },
    tree: { $ref: '#/$defs/Tree' },
  });
  expect($defs).toEqual({ Tree: { type: 'array', items: { $ref: '#/$defs/Tree' }, maxItems: 2 } });
});

test('asserts in definitions send nothing, whatever their labels are', () => {
  const text = 'dynamic class Item {\n  age int @assert(minimum, {{ this >= 1 }})\n}';
  expect(outputOf(text, FORCED_TOOL)['properties']).toEqual({ age: { type: 'integer' } });
});

test.each(['say "x"', String.raw`a\b`])(
  'the key %s falls back to the prompt where an engine cannot compile it',
  (key) => {
    const builder = withProperties({ [key]: { type: 'string' } });
    const failure = `has the key "${key}", which the provider does not accept`;
    expect(structured(builder, RESPONSE_FORMAT_OF_UNKNOWN_SERVER)).toEqual({ ok: false, failure });
    expect(structured(builder, FORCED_TOOL)).toEqual({ ok: false, failure });
    expect(outputOf(builder, RESPONSE_FORMAT)).toMatchObject({ required: [key] });
    expect(outputOf(withProperties({ 'x-a': { type: 'string' } }), RESPONSE_FORMAT_OF_UNKNOWN_SERVER)).toMatchObject({
      required: ['x-a'],
    });
  },
);

test('an enum value with a slash is sent as it is, and a reply that escapes the slash has the same value', () => {
  const builder = withProperties({ unit: { enum: ['km/h', 'm/s'] }, of: { const: 'a/b' } });
  expect(JSON.stringify(outputOf(builder, RESPONSE_FORMAT))).toContain('"enum":["km/h","m/s"]');
  const index = definitionsOf(builder);
  const fn = index.functions.get('Read');
  if (fn === undefined) throw new Error('no function');
  const parser = new FunctionReplies(fn, index).parserFor(false);
  const reply = String.raw`{"unit": "km\/h", "of": "a\/b"}`;
  const outcome = parser.parse(reply);
  expect(outcome.ok ? outcome.value.value : outcome.failure).toEqual({ unit: 'km/h', of: 'a/b' });
  const stream = parser.openStream();
  for (const character of reply) {
    stream.push(character);
    expect(stream.takePartial()?.join('') ?? '').not.toContain('\\');
  }
  const streamed = stream.finish();
  expect(streamed.ok ? streamed.value.json : streamed.failure).toBe('{"unit":"km/h","of":"a/b"}');
});
