import { readFileSync } from 'node:fs';
import { compile } from '../../../src/compiler/compile.ts';
import type { Diagnostic } from '../../../src/diagnostics/diagnostic.ts';
import { SourceFile } from '../../../src/diagnostics/source-file.ts';
import type { FunctionValidators } from '../../../src/runtime/arguments/load-validators.ts';
import type { Message, PromptClient } from '../../../src/schema/message.ts';
import type { Program } from '../../../src/schema/program.ts';
import type { FitsType } from '../../../src/schema/type.ts';
import { createPromptRenderer, type PromptRenderer } from '../../../src/runtime/prompt/create-prompt-renderer.ts';
import { validatorsOf } from '../../support/validators.ts';

const OPTIONS = { version: '0.226.2', versionCheck: false, beta: true, apiKey: false };

/** The client that the samples declare. */
export const CLIENT: PromptClient = {
  name: 'M',
  provider: 'openai',
  defaultRole: 'system',
  allowedRoles: ['system', 'user', 'assistant'],
  remapRoles: {},
  options: { model: 'm1' },
};

export function readSample(name: string): string {
  return readFileSync(new URL(`samples/${name}`, import.meta.url), 'utf8');
}

/** Errors only: warnings do not stop a program. */
export function errorsOf(source: string): readonly Diagnostic[] {
  const { diagnostics } = compile([new SourceFile('main.baml', source)], OPTIONS);
  return errorsAmong(diagnostics);
}

function errorsAmong(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return diagnostics.filter(({ severity }) => severity === 'error');
}

/** Creates the renderer of definitions; undefined if they have errors. */
export function rendererIfValid(source: string): PromptRenderer | undefined {
  const { program } = compile([new SourceFile('main.baml', source)], OPTIONS);
  return program && createPromptRenderer(program, sharedFitsOf(program));
}

/** Creates the renderer of definitions, which must have no errors. */
export function rendererOf(source: string): PromptRenderer {
  const renderer = rendererIfValid(source);
  if (renderer === undefined) throw new Error(JSON.stringify(errorsOf(source)));
  return renderer;
}

const validatorsByTypes = new Map<string, FunctionValidators>();

/** The types of a program's functions. Functions of the same types share validators, which take longer to compile than a prompt. */
function sharedFitsOf(program: Program): (functionName: string) => FitsType {
  const own = validatorsOf(program);
  const { classes, enums, aliases } = program;
  const definitions = JSON.stringify({ classes, enums, aliases });
  return (functionName) => {
    const fn = program.functions.find(({ name }) => name === functionName);
    const types = JSON.stringify([definitions, fn?.parameters, fn?.returns]);
    const validators = validatorsByTypes.get(types) ?? own.of(functionName);
    validatorsByTypes.set(types, validators);
    return validators.createFits();
  };
}

/** Renders a prompt that has the given parameters (`a: int, b: string`). */
export function renderPrompt(
  prompt: string,
  { parameters = '', args = {}, definitions = '', client = CLIENT }: PromptSetup = {},
): readonly Message[] | string {
  const source = `${definitions}\nfunction F(${parameters}) -> string {\n  client "openai/m1"\n  prompt ####"${prompt}"####\n}\n`;
  const { program, diagnostics } = compile([new SourceFile('main.baml', source)], OPTIONS);
  if (program === undefined)
    return `error: ${errorsAmong(diagnostics)
      .map((each) => `${each.code} ${each.message}`)
      .join('; ')}`;
  const result = createPromptRenderer(program, sharedFitsOf(program)).render('F', args, client);
  return result.ok ? result.value : `failure: ${result.failure.message}`;
}

export interface PromptSetup {
  readonly parameters?: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly definitions?: string;
  readonly client?: PromptClient;
}

/** Renders a prompt to text, if it is one message with one text; failures begin with `failure:` or `error:`. */
export function renderText(prompt: string, setup: PromptSetup = {}): string {
  const result = renderPrompt(prompt, setup);
  if (typeof result === 'string') return result;
  const part = result[0]?.parts[0];
  return result.length === 1 && part?.kind === 'text' ? part.text : JSON.stringify(result);
}
