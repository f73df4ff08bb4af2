import type { Program, TestType } from '../../schema/program.ts';
import { indexDefinitions } from '../../schema/program.ts';
import { createLocalRuntime, failureOf, type LocalSettings } from '../local-runtime.ts';
import { testArguments } from '../testing/test-arguments.ts';
import type { EditedProgram } from './edited-program.ts';
import type { RenderedPrompt } from './hover.ts';

/** The settings of the calls that render prompts. `redactor` masks the credentials that a program and its tests can quote. */
export interface RenderSettings extends Omit<LocalSettings, 'redact' | 'typeSource'> {
  readonly redactor: (program: Program, tests: readonly TestType[]) => (text: string) => string;
}

/** Renders the prompt of a function with the arguments of its first test, as `svc test` does, without a call of the model. */
export async function renderPrompt(
  edited: EditedProgram,
  functionName: string,
  { redactor, ...settings }: RenderSettings,
): Promise<RenderedPrompt | undefined> {
  const test = edited.analysis().tests.find(({ functions }) => functions.includes(functionName));
  if (test === undefined) return undefined;
  const problem = (text: string): RenderedPrompt => ({ test: test.name, problem: text });
  const program = edited.program();
  if (program === undefined) return problem('The definitions have errors.');
  const definitions = indexDefinitions(program);
  const fn = definitions.functions.get(functionName);
  if (fn === undefined) return undefined;
  if (test.buildsTypes) return problem('The test extends the types.');
  if (test.unreadable !== undefined) return problem(`svc cannot read ${test.unreadable} of the test.`);
  const args = testArguments(test, fn, { definitions, env: settings.env });
  if (!args.ok) return problem(`${args.failure.charAt(0).toUpperCase()}${args.failure.slice(1)}.`);
  const redact = redactor(program, [test]);
  const runtime = createLocalRuntime(program, { ...settings, redact }, { exposePrompts: false });
  try {
    const prepared = runtime.prepare(functionName, args.value, { local: true });
    const rendered = prepared.ok ? runtime.render(prepared.value) : prepared;
    if (!rendered.ok) return problem(redact(failureOf(rendered.failure).message));
    const safe = redact(JSON.stringify(rendered.value));
    return { test: test.name, messages: JSON.parse(safe) as typeof rendered.value };
  } finally {
    await runtime.close();
  }
}
