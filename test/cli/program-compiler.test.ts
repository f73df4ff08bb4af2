import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { ProgramCompiler } from '../../src/cli/program-compiler.ts';
import { loadValidators } from '../../src/runtime/arguments/load-validators.ts';
import { writeProgram } from '../../src/runtime/call/load-program.ts';
import { sourceThread } from '../support/source-thread.ts';
import { compileText } from '../support/test-runtime.ts';

const STUB = new URL('compile-thread-stub.mjs', import.meta.url);
const SOURCE = sourceThread('compile-thread-source.mjs', import.meta.url);

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
