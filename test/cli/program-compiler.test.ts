import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { definitionSecrets } from '../../src/cli/definition-secrets.ts';
import { CompiledProgram, ProgramCompiler } from '../../src/cli/program-compiler.ts';
import type { Program } from '../../src/schema/program.ts';
import type { TypeRequest } from '../../src/schema/type-extension.ts';
import { loadValidators } from '../../src/runtime/arguments/load-validators.ts';
import { serializeProgram, writeProgram } from '../../src/runtime/call/load-program.ts';
import { sourceThread } from '../support/source-thread.ts';
import { compileText } from '../support/test-runtime.ts';

const STUB = new URL('compile-thread-stub.mjs', import.meta.url);
const SOURCE = sourceThread('compile-thread');

/** A placeholder for the stub thread, which reads no program. */
const PROGRAM = { path: '', hash: '' };

afterEach(() => void vi.useRealTimers());

test('tasks share one thread, which ends after five seconds without any; the next task starts another', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const compiler = new ProgramCompiler(STUB);
  const [first, second] = await Promise.all([compiler.validators('A', PROGRAM), compiler.validators('B', PROGRAM)]);
  expect(second).toBe(first);
  vi.advanceTimersByTime(4_999);
  expect(await compiler.validators('C', PROGRAM)).toBe(first);
  vi.advanceTimersByTime(4_999);
  expect(await compiler.validators('D', PROGRAM)).toBe(first);
  vi.advanceTimersByTime(5_000);
  expect(await compiler.validators('E', PROGRAM)).not.toBe(first);
});

test('an error on the thread fails the tasks that wait for it, not the next one', async () => {
  const compiler = new ProgramCompiler(STUB);
  const waiting = [compiler.validators('bug', PROGRAM), compiler.validators('A', PROGRAM)];
  const outcomes = await Promise.allSettled(waiting);
  expect(outcomes).toMatchObject([
    { status: 'rejected', reason: { message: 'a bug of the thread' } },
    { status: 'rejected', reason: { message: 'a bug of the thread' } },
  ]);
  expect(await compiler.validators('A', PROGRAM)).toBeGreaterThan(0);
});

/** Functions F and G, which take a parameter `a`. */
function functionsOf(type: string): Program {
  const declare = (name: string) =>
    `function ${name}(a: ${type}) -> string {\n  client "offline/x"\n  prompt #"{{ a }}"#\n}\n`;
  return compileText(declare('F') + declare('G'));
}

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'svc-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

const accepted = (source: string, values: readonly unknown[]): readonly boolean[] => {
  const fits = loadValidators(source).accepts.bind(undefined);
  return values.map((value) => fits(value));
};

test('a thread compiles the validators of the program that the task names, also when the tasks of two programs alternate', async () => {
  const compiler = new ProgramCompiler(SOURCE);
  const directory = temporaryDirectory();
  const written = ['int', 'string'].map((type) => {
    const program = functionsOf(type);
    return { hash: program.hash, path: writeProgram(program, directory) };
  });
  for (const [index, program] of [...written, ...written].entries()) {
    const source = await compiler.validators('F', program);
    const isFirst = index % 2 === 0;
    expect(accepted(source, [{ a: 1 }, { a: 'x' }])).toEqual([isFirst, !isFirst]);
  }
});

function compiledProgram(compiler: ProgramCompiler, functionNames: readonly string[]): CompiledProgram {
  const secrets = definitionSecrets(functionsOf('int'));
  const content = { ...serializeProgram(functionsOf('int')), functionNames, fromBaml: false, secrets };
  const program = new CompiledProgram(content, compiler);
  program.write(temporaryDirectory());
  return program;
}

test('validators that were compiled ahead need no thread', async () => {
  const compiler = new ProgramCompiler(SOURCE);
  const program = compiledProgram(compiler, ['F', 'G']);
  await program.compileAhead();
  vi.spyOn(compiler, 'validators').mockRejectedValue(new Error('asked the thread'));
  for (const name of ['F', 'G'])
    expect(accepted(await program.validators(name), [{ a: 1 }, { a: 'x' }])).toEqual([true, false]);
  await expect(program.validators('H')).rejects.toThrow('asked the thread');
});

test('compileAhead stops after about a million characters, and skips a function that cannot be compiled', async () => {
  const compiler = new ProgramCompiler(STUB);
  const compile = vi.spyOn(compiler, 'validators');
  compile.mockRejectedValueOnce(new Error('a bug')).mockResolvedValue('x'.repeat(600_000));
  await compiledProgram(compiler, ['A', 'B', 'C', 'D', 'E']).compileAhead();
  expect(compile.mock.calls.map(([name]) => name)).toEqual(['A', 'B', 'C']);
});

const request = (functionName: string): TypeRequest => ({ functionName, builder: '""' });

test('the types of requests compile on a separate thread and do not delay the validators', async () => {
  const compiler = new ProgramCompiler(STUB);
  const [types, again, validators] = await Promise.all([
    compiler.types(request('A'), ''),
    compiler.types(request('B'), ''),
    compiler.validators('A', PROGRAM),
  ]);
  expect(again).toBe(types);
  expect(validators).not.toBe(types);
  await expect(compiler.types(request('bug'), '')).rejects.toThrow('a bug of the thread');
  expect(await compiler.validators('A', PROGRAM)).toBe(validators);
});

test('at most 64 requests wait for their types', async () => {
  const compiler = new ProgramCompiler(STUB);
  const all = await Promise.all(Array.from({ length: 72 }, () => compiler.types(request('A'), '')));
  expect(all.filter((types) => types === undefined)).toHaveLength(8);
  expect(await compiler.types(request('A'), '')).toBeDefined();
});

test('a thread that takes 15 seconds for one request ends, and fails those that wait', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const compiler = new ProgramCompiler(STUB);
  const first = await compiler.types(request('A'), '');
  const stuck = Promise.allSettled([compiler.types(request('silent'), ''), compiler.types(request('silent'), '')]);
  vi.advanceTimersByTime(15_000);
  expect(await stuck).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
  expect(await compiler.types(request('A'), '')).not.toBe(first);
});

test('the time of a thread begins again with each answer', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const compiler = new ProgramCompiler(STUB);
  const silent = compiler.types(request('silent'), '').catch(() => 'ended');
  for (let answers = 0; answers < 3; answers += 1) {
    expect(await compiler.types(request('A'), '')).toBeGreaterThan(0);
    vi.advanceTimersByTime(14_000);
  }
  vi.advanceTimersByTime(1_000);
  expect(await silent).toBe('ended');
});
