import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/base/json.ts';
import { checkSources, compile } from '../../../src/compiler/compile.ts';
import { readSources } from '../../../src/compiler/read-sources.ts';
import { writeTypes } from '../../../src/dev/types/write-types.ts';
import { SourceFile } from '../../../src/diagnostics/source-file.ts';
import { createOfflineAnswers } from '../../../src/runtime/model/providers/offline.ts';
import { compileCondition } from '../../../src/runtime/prompt/compile-condition.ts';
import { createReplyParser } from '../../../src/runtime/reply/create-reply-parser.ts';
import { indexDefinitions, type FunctionType, type Definitions } from '../../../src/schema/program.ts';
import { createArgumentChecker } from '../../../src/runtime/arguments/check-arguments.ts';
import { validatorsOf } from '../../support/validators.ts';
import { ROOT } from '../../architecture/source-files.ts';
import { compileErrors } from './compile-types.ts';

const OPTIONS = { version: '0.1.0', versionCheck: false, beta: true, apiKey: false, variables: { NICK: 'nick' } };
const SAMPLES = join(ROOT, 'test/compiler/samples/valid');

function definitionsIn(path: string): Definitions {
  const sources = readSources(path);
  if (!sources.ok) throw new Error(sources.failure);
  const { definitions, diagnostics } = checkSources(sources.value.files, OPTIONS);
  if (definitions === undefined) throw new Error(JSON.stringify(diagnostics));
  return definitions;
}

function typesOf(text: string): string {
  const { program, diagnostics } = compile([new SourceFile('main.svc', text)], OPTIONS);
  if (program === undefined) throw new Error(JSON.stringify(diagnostics));
  return writeTypes(program);
}

/** Values of the types of a function: arguments of tests that a call accepts, and what svc makes of replies of an offline client. */
interface Values {
  readonly args: readonly JsonObject[];
  readonly results: readonly string[];
  readonly partials: readonly string[];
}

const SEEDS = 3;
const DELTA = 7;

function valuesOf(fn: FunctionType, definitions: Definitions): Values {
  const index = indexDefinitions(definitions);
  const parser = createReplyParser(fn.returns, index, compileCondition);
  const results = new Set<string>();
  const partials = new Set<string>();
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const reply = createOfflineAnswers(index).answer(fn.name, { seed });
    const stream = parser.openStream();
    for (let at = 0; at < reply.length; at += DELTA) {
      stream.push(reply.slice(at, at + DELTA));
      const partial = stream.takePartial();
      if (partial !== undefined) partials.add(partial);
    }
    const parsed = stream.finish();
    if (parsed.ok) results.add(parsed.value.json);
  }
  const check = createArgumentChecker(definitions, validatorsOf(definitions), compileCondition);
  const args = fn.examples.map((example) => example.args).filter((example) => check(fn, example).length === 0);
  return { args, results: [...results], partials: [...partials] };
}

function constant({ name }: FunctionType, kind: string, value: string): string {
  return `(${value}) satisfies Functions['${name}']['${kind}'];`;
}

/** A module with the types, and a constant of its type for each value. */
function moduleOf(definitions: Definitions): { readonly text: string; readonly values: number } {
  const lines = definitions.functions.flatMap((fn) => {
    const { args, results, partials } = valuesOf(fn, definitions);
    return [
      // A call ignores unknown keys in classes, which TypeScript reports in a literal.
      ...args.map((value, at) => `const args${at}Of${fn.name} = ${JSON.stringify(value)} as const;`),
      ...args.map((_, at) => constant(fn, 'args', `args${at}Of${fn.name}`)),
      ...results.map((value) => constant(fn, 'result', value)),
      ...partials.map((value) => constant(fn, 'partial', value)),
    ];
  });
  return { text: `${writeTypes(definitions)}\n${lines.join('\n')}\n`, values: lines.length };
}

test('the types of all samples compile strictly, and arguments, results and partials have them', async () => {
  const files: Record<string, string> = {};
  let values = 0;
  const folders = [join(ROOT, 'svc_src'), ...readdirSync(SAMPLES).map((name) => join(SAMPLES, name))];
  for (const [at, folder] of folders.entries()) {
    const written = moduleOf(definitionsIn(folder));
    files[`sample-${at}.ts`] = written.text;
    values += written.values;
  }
  expect(folders.length).toBeGreaterThan(130);
  expect(values).toBeGreaterThan(500);
  expect(await compileErrors(files)).toBe('');
});

const DEFINITIONS = readFileSync(new URL('types.svc', import.meta.url), 'utf8');

test('every construct of the language has its type', async () => {
  const expected = readFileSync(new URL('types.expected.txt', import.meta.url), 'utf8');
  expect(typesOf(DEFINITIONS)).toBe(expected);
  expect(await compileErrors({ 'types.ts': expected })).toBe('');
});

test('a class can have the name of the map of functions', () => {
  const text = typesOf(
    'class Functions {\n  a string\n}\nfunction F(f: Functions) -> Functions {\n  client "openai/x"\n  prompt #"{{ f }}"#\n}\n',
  );
  expect(text).toContain('export interface Functions {\n  readonly a: string;\n}');
  expect(text).toContain('export interface Functions2 {\n  readonly F: {');
});

const WRONG: ReadonlyArray<readonly [what: string, line: string, error: string]> = [
  ['a name that does not exist', `type X = Functions['Nope'];`, 'TS2339'],
  ['an argument that is missing', `const a: Functions['Use']['args'] = {};`, 'TS2739'],
  ['an argument of the wrong type', `const a: Functions['Ask']['args'] = { text: 1 };`, 'TS2322'],
  ['an argument that does not exist', `const a: Functions['Ask']['args'] = { text: '', more: 1 };`, 'TS2353'],
  ['an argument of a function without parameters', `const a: Functions['NoArguments']['args'] = { x: 1 };`, 'TS2322'],
  ['a value that the enum does not have', `const r: Functions['Ask']['result'] = 'Blue';`, 'TS2322'],
  ['a field that the class does not have', `declare const r: Functions['Use']['result']; r.nope;`, 'TS2339'],
  ['a field that can be null', `declare const r: Functions['Use']['result']; r.note.length;`, 'TS18047'],
  [
    'a partial as a result',
    `declare const p: Functions['Use']['partial']; const r: Functions['Use']['result'] = p;`,
    'TS2322',
  ],
];

test('wrong uses of the types do not compile', async () => {
  const types = typesOf(DEFINITIONS);
  const modules = WRONG.map(([, line], at) => [`wrong-${at}.ts`, `${types}\n${line}\nexport {};\n`]);
  const errors = (await compileErrors(Object.fromEntries(modules) as Record<string, string>)).split('\n');
  const found = WRONG.map(([what], at) => [
    what,
    errors.filter((error) => error.startsWith(`wrong-${at}.ts(`)).join('\n'),
  ]);
  expect(found).toEqual(WRONG.map(([what, , error]) => [what, expect.stringContaining(`error ${error}`)]));
});
