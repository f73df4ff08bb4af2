import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compile } from '../../src/compiler/compile.ts';
import { SourceFile } from '../../src/diagnostics/source-file.ts';
import { FunctionReplies } from '../../src/runtime/call/function-replies.ts';
import { indexDefinitions, type FunctionType, type Program } from '../../src/schema/program.ts';
import {
  FORCED_TOOL,
  FORCED_TOOL_OF_BEDROCK,
  RESPONSE_FORMAT,
  RESPONSE_FORMAT_OF_AZURE,
  RESPONSE_JSON_SCHEMA,
  type StructuredForm,
} from '../../src/schema/providers/structured-output.ts';
import { structuredOutput, type StructuredOutput } from '../../src/schema/structured-output.ts';
import { ROOT } from '../architecture/source-files.ts';
import { cut } from '../runtime/reply/cut.ts';
import { samples } from '../runtime/reply/random-types.ts';
import { definitionsWith } from '../runtime/model/structured/types.ts';
import { assertProperty } from '../support/assert-property.ts';
import { programOf } from '../support/definitions.ts';
import { compileText } from '../support/test-runtime.ts';
import { rejected } from './structured-subsets.ts';

const FORMS: readonly StructuredForm[] = [
  RESPONSE_FORMAT,
  RESPONSE_FORMAT_OF_AZURE,
  RESPONSE_JSON_SCHEMA,
  FORCED_TOOL,
  FORCED_TOOL_OF_BEDROCK,
];

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('null', '12', '{a}', '__proto__'),
);
const cuts = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 8 });

/** The schemas of a function, by the forms that can express its type. */
function outputsOf(fn: FunctionType, program: Program): ReadonlyArray<readonly [StructuredForm, StructuredOutput]> {
  const index = indexDefinitions(program);
  return FORMS.flatMap((form) => {
    const output = structuredOutput(fn, index, form.limits);
    return output?.ok === true ? [[form, output.value] as const] : [];
  });
}

function faultsOf(program: Program): readonly string[] {
  return program.functions.flatMap((fn) =>
    outputsOf(fn, program).flatMap(([form, output]) =>
      rejected(form.kind, output).map((fault) => `${fn.name}, ${form.kind}: ${fault}`),
    ),
  );
}

/** The definitions of a folder as one program. */
function programIn(folder: string): Program {
  const names = readdirSync(join(ROOT, folder)).filter((name) => /\.(?:svc|baml)$/u.test(name));
  const files = names.map((name) => new SourceFile(name, readFileSync(join(ROOT, folder, name), 'utf8')));
  const options = { version: '0.1.0', versionCheck: false, beta: true, apiKey: false };
  const { program, diagnostics } = compile(files, options);
  if (program === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return program;
}

test('the schemas of the request samples are in the documented subsets', () => {
  const program = compileText(definitionsWith('client<llm> Tested {\n  provider offline\n}'));
  expect(program.functions.flatMap((fn) => outputsOf(fn, program)).length).toBeGreaterThan(110);
  expect(faultsOf(program)).toEqual([]);
});

test('a name that two fields or values share is in the schema once', () => {
  const program = compileText(`enum Side {
  LEFT @alias("side")
  RIGHT @alias("side")
}
class Pair {
  first Side @alias("x")
  second Side @alias("x")
}
client<llm> Tested {
  provider offline
}
function F() -> Pair {
  client Tested
  prompt #"{{ ctx.output_format }}"#
}
`);
  const [first] = program.functions.flatMap((fn) => outputsOf(fn, program));
  expect(first?.[1].schema).toMatchObject({ required: ['x'], $defs: { Side: { enum: ['side'] } } });
  expect(faultsOf(program)).toEqual([]);
});

test('the schemas of the sample definitions are in the documented subsets', () => {
  const program = programIn('svc_src');
  expect(program.functions.flatMap((fn) => outputsOf(fn, program)).length).toBeGreaterThan(15);
  expect(faultsOf(program)).toEqual([]);
});

test.each(readdirSync(join(ROOT, 'templates')).filter((name) => name.endsWith('.svc')))(
  'the schemas of the template %s are in the documented subsets',
  (name) => {
    expect(faultsOf(compileText(readFileSync(join(ROOT, 'templates', name), 'utf8')))).toEqual([]);
  },
);

test('the schemas of random types are in the documented subsets', () => {
  assertProperty(
    fc.property(samples(anyText), ({ definitions }) => {
      expect(faultsOf(programOf(definitions))).toEqual([]);
    }),
    { numRuns: 80 },
  );
});

const ajv = new Ajv2020({ strict: false });

test('the schema accepts each value of a random type, and the reader undoes its form', () => {
  assertProperty(
    fc.property(samples(anyText), cuts, ({ definitions, reply, value }, lengths) => {
      const program = programOf(definitions);
      const [fn] = program.functions;
      if (fn === undefined) throw new Error('no function');
      for (const [form, { schema, wrapper }] of outputsOf(fn, program)) {
        if (form === RESPONSE_FORMAT_OF_AZURE) continue; // The same schema, with other limits.

        const sent = wrapper === undefined ? reply : { [wrapper]: reply };
        const accepts = ajv.compile(schema);
        expect(accepts(sent), JSON.stringify(accepts.errors)).toBe(true);
        const parser = new FunctionReplies(fn, indexDefinitions(program)).parserFor(wrapper !== undefined);
        const text = JSON.stringify(sent);
        const outcome = parser.parse(text);
        expect(outcome.ok ? outcome.value.value : outcome.failure).toEqual(value);
        const stream = parser.openStream();
        for (const delta of cut(text, lengths)) {
          stream.push(delta);
          stream.takePartial();
        }
        const streamed = stream.finish();
        expect(streamed.ok ? streamed.value.json : streamed.failure).toEqual(outcome.ok && outcome.value.json);
      }
    }),
    { numRuns: 40 },
  );
});

test('a member that wraps a value has a name that no class in the value has', () => {
  const program = compileText(definitionsWith('client<llm> Tested {\n  provider offline\n}'));
  const fn = program.functions.find(({ returns }) => returns.kind === 'list' && returns.element.kind === 'class');
  const [, output] = fn === undefined ? [] : (outputsOf(fn, program)[0] ?? []);
  expect(output?.wrapper).toBe('result__');
});

function functionOf(definitions: string, returns: string): Program {
  return compileText(`${definitions}
function F() -> ${returns} {
  client "openai/x"
  prompt #"Go"#
}
`);
}

function isStrict(definitions: string, returns: string, form = RESPONSE_FORMAT): boolean {
  const program = functionOf(definitions, returns);
  const [fn] = program.functions;
  const output = fn && structuredOutput(fn, indexDefinitions(program), form.limits);
  if (output?.ok !== true) throw new Error('no schema');
  return output.value.strict;
}

function fields(count: number, type: string): string {
  return Array.from({ length: count }, (_, at) => `  f${at} ${type}`).join('\n');
}

function values(count: number, name: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => `  ${name(at)}`).join('\n');
}

test('a schema is strict up to the documented number of members', () => {
  const halves = `class A {\n${fields(4998, 'int')}\n}\nclass B {\n  a A\n`;
  expect(isStrict(`${halves}}\n`, 'B[]')).toBe(true);
  expect(isStrict(`${halves}  b int\n}\n`, 'B[]')).toBe(false);
  expect(isStrict(`class A {\n${fields(99, 'int')}\n}\n`, 'A[]', RESPONSE_FORMAT_OF_AZURE)).toBe(true);
  expect(isStrict(`class A {\n${fields(100, 'int')}\n}\n`, 'A[]', RESPONSE_FORMAT_OF_AZURE)).toBe(false);
});

test('a schema is strict up to the documented depth, and a recursive class counts once', () => {
  expect(isStrict('', `int${'[]'.repeat(9)}`)).toBe(true);
  expect(isStrict('', `int${'[]'.repeat(10)}`)).toBe(false);
  expect(isStrict('class A {\n  all A[]\n}\n', 'A[]')).toBe(true);
  const chain = Array.from(
    { length: 3000 },
    (_, at) => `class C${at} {\n  next ${at === 2999 ? 'int' : `C${at + 1}`}\n}\n`,
  );
  expect(isStrict(chain.join(''), 'C0')).toBe(false);
});

test('a schema is strict up to the documented number and length of values', () => {
  expect(isStrict(`enum E {\n${values(1000, (at) => `V${at}`)}\n}\n`, 'E')).toBe(true);
  expect(isStrict(`enum E {\n${values(1001, (at) => `V${at}`)}\n}\n`, 'E')).toBe(false);
  expect(isStrict(`enum E {\n${values(250, (at) => `V${at}${'x'.repeat(100)}`)}\n}\n`, 'E')).toBe(true);
  expect(isStrict(`enum E {\n${values(251, (at) => `V${at}${'x'.repeat(100)}`)}\n}\n`, 'E')).toBe(false);
  expect(isStrict(`class A {\n${values(1200, (at) => `f${at}${'x'.repeat(100)} int`)}\n}\n`, 'A')).toBe(false);
});

test.each([
  ['map<string, int>', ''],
  ['A', 'class A {\n  m map<string, int>\n}\n'],
  ['A', 'enum E {\n  X\n  Y\n}\nclass A {\n  m map<E, int>\n}\n'],
])('a schema with a map is not strict: %s', (returns, definitions) => {
  expect(isStrict(definitions, returns)).toBe(false);
});

test('an inlined schema with too many fields is refused', () => {
  const levels = Array.from({ length: 10 }, (_, at) => `class C${at} {\n  a C${at + 1}\n  b C${at + 1}\n}\n`).join('');
  const program = functionOf(`${levels}class C10 {\n  x int\n}\n`, 'C0');
  const [fn] = program.functions;
  const output = fn && structuredOutput(fn, indexDefinitions(program), FORCED_TOOL_OF_BEDROCK.limits);
  expect(output).toEqual({ ok: false, failure: 'has more than 1000 fields after the expansion of its classes' });
});

test('a model cannot answer with media, so its schema has null in their place', () => {
  const program = compileText(`class Scan {
  title string
  page image?
  pages pdf[]
}
client<llm> Tested {
  provider offline
}
function F() -> Scan {
  client Tested
  prompt #"{{ ctx.output_format }}"#
}
`);
  const [first] = program.functions.flatMap((fn) => outputsOf(fn, program));
  const nothing = { type: 'null' };
  const properties = { page: nothing, pages: { type: 'array', items: nothing } };
  expect(first?.[1]).toMatchObject({ strict: true, schema: { properties } });
  expect(faultsOf(program)).toEqual([]);
});
