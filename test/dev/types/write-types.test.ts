import {
  readdirSync,
  readFileSync,
  mkdtempSync,
  lstatSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test, afterEach, beforeEach } from 'vitest';
import { tmpdir } from 'node:os';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { JsonObject } from '../../../src/base/json.ts';
import { checkSources, compile } from '../../../src/compiler/compile.ts';
import { readSources } from '../../../src/compiler/read-sources.ts';
import { writeTypes, writeTypesFile } from '../../../src/dev/types/write-types.ts';
import { SourceFile } from '../../../src/diagnostics/source-file.ts';
import { createOfflineAnswers } from '../../../src/runtime/model/providers/offline.ts';
import { compileCondition } from '../../../src/runtime/prompt/compile-condition.ts';
import { createReplyParser } from '../../../src/runtime/reply/create-reply-parser.ts';
import { indexDefinitions, type FunctionType, type Definitions } from '../../../src/schema/program.ts';
import { createArgumentChecker } from '../../../src/runtime/arguments/check-arguments.ts';
import { validatorsOf } from '../../support/validators.ts';
import { ROOT } from '../../architecture/source-files.ts';

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
      const partial = stream.takePartial()?.join('');
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
  const samples = [join(ROOT, 'svc_src'), ...readdirSync(SAMPLES).map((name) => join(SAMPLES, name))];
  for (const [at, sample] of samples.entries()) {
    const written = moduleOf(definitionsIn(sample));
    files[`sample-${at}.ts`] = written.text;
    values += written.values;
  }
  expect(samples.length).toBeGreaterThan(130);
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

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

test('a file is replaced at once if its content differs, and otherwise stays as it is', () => {
  const path = join(folder, 'svc.d.ts');
  expect(writeTypesFile(path, 'one')).toEqual({ ok: true, value: true });
  const { ino } = statSync(path);
  expect(writeTypesFile(path, 'one')).toEqual({ ok: true, value: false });
  expect(statSync(path).ino).toBe(ino);
  expect(writeTypesFile(path, 'two')).toEqual({ ok: true, value: true });
  expect(readFileSync(path, 'utf8')).toBe('two');
  expect(readdirSync(folder)).toEqual(['svc.d.ts']);
});

test('a link stays a link', () => {
  writeFileSync(join(folder, 'target.d.ts'), 'one');
  symlinkSync('target.d.ts', join(folder, 'svc.d.ts'));
  expect(writeTypesFile(join(folder, 'svc.d.ts'), 'two')).toEqual({ ok: true, value: true });
  expect(lstatSync(join(folder, 'svc.d.ts')).isSymbolicLink()).toBe(true);
  expect(readFileSync(join(folder, 'target.d.ts'), 'utf8')).toBe('two');
});

test('a device is written, not replaced', () => {
  expect(writeTypesFile('/dev/null', 'one')).toEqual({ ok: true, value: true });
  expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
});

test('a failure names the file and the reason, and leaves no other file behind', () => {
  expect(writeTypesFile(folder, 'one')).toEqual({
    ok: false,
    failure: `"${folder}" cannot be written: it is a directory`,
  });
  const path = join(folder, 'missing', 'svc.d.ts');
  expect(writeTypesFile(path, 'one')).toEqual({
    ok: false,
    failure: `"${path}" cannot be written: its directory does not exist`,
  });
  expect(readdirSync(folder)).toEqual([]);
});

const run = promisify(execFile);

/** Everything that a strict project turns on. */
const STRICT = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitReturns: true,
  noUnusedLocals: true,
  isolatedModules: true,
  verbatimModuleSyntax: true,
  erasableSyntaxOnly: true,
  skipLibCheck: false,
};

/** Compiles TypeScript modules by name with the TypeScript of this project, and returns its errors, one in each line. */
async function compileErrors(files: Readonly<Record<string, string>>): Promise<string> {
  const project = mkdtempSync(join(tmpdir(), 'svc-types-'));
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text);
    const compilerOptions = { ...STRICT, target: 'es2023', module: 'nodenext', types: [], noEmit: true };
    writeFileSync(join(project, 'package.json'), '{"type": "module"}');
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    await run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', project, '--pretty', 'false']);
    return '';
  } catch (error) {
    const { stdout = String(error) } = error as { readonly stdout?: string };
    return stdout.replaceAll(/^.*\/(?=[\w.-]+\()/gmu, '');
  } finally {
    rmSync(project, { recursive: true });
  }
}
