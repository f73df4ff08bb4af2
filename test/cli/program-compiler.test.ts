import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { ProgramCompiler } from '../../src/cli/program-compiler.ts';
import type { TypeRequest } from '../../src/schema/type-extension.ts';
import { loadValidators } from '../../src/runtime/arguments/load-validators.ts';
import { writeProgram } from '../../src/runtime/call/load-program.ts';
import { sourceThread } from '../support/source-thread.ts';
import { compileText } from '../support/test-runtime.ts';

const STUB = new URL('compile-thread-stub.mjs', import.meta.url);
const SOURCE = sourceThread('compile-thread');

afterEach(() => void vi.useRealTimers());

test('tasks share one thread, which ends after five seconds without any; the next task starts another', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const compiler = new ProgramCompiler(STUB);
  const [first, second] = await Promise.all([compiler.validators('A', ''), compiler.validators('B', '')]);
  expect(second).toBe(first);
  vi.advanceTimersByTime(4_999);
  expect(await compiler.validators('C', '')).toBe(first);
  vi.advanceTimersByTime(4_999);
  expect(await compiler.validators('D', '')).toBe(first);
  vi.advanceTimersByTime(5_000);
  expect(await compiler.validators('E', '')).not.toBe(first);
});

test('an error on the thread fails the tasks that wait for it, not the next one', async () => {
  const compiler = new ProgramCompiler(STUB);
  const waiting = [compiler.validators('bug', ''), compiler.validators('A', '')];
  const outcomes = await Promise.allSettled(waiting);
  expect(outcomes).toMatchObject([
    { status: 'rejected', reason: { message: 'a bug of the thread' } },
    { status: 'rejected', reason: { message: 'a bug of the thread' } },
  ]);
  expect(await compiler.validators('A', '')).toBeGreaterThan(0);
});

test('a thread that did not compile the program reads it from its file', async () => {
  const program = compileText(
    'function F(a: int | string[]) -> string {\n  client "offline/x"\n  prompt #"{{ a }}"#\n}\n',
  );
  const directory = mkdtempSync(join(tmpdir(), 'svc-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = writeProgram(program, directory);
  const source = await new ProgramCompiler(SOURCE).validators('F', path);
  const fits = loadValidators(source).accepts.bind(undefined);
  expect([{ a: 1 }, { a: ['x'] }, { a: 'x' }, {}].map((value) => fits(value))).toEqual([true, true, false, false]);
});

const request = (functionName: string): TypeRequest => ({ functionName, builder: '""' });

test('the types of requests compile on a separate thread and do not delay the validators', async () => {
  const compiler = new ProgramCompiler(STUB);
  const [types, again, validators] = await Promise.all([
    compiler.types(request('A'), ''),
    compiler.types(request('B'), ''),
    compiler.validators('A', ''),
  ]);
  expect(again).toBe(types);
  expect(validators).not.toBe(types);
  await expect(compiler.types(request('bug'), '')).rejects.toThrow('a bug of the thread');
  expect(await compiler.validators('A', '')).toBe(validators);
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
