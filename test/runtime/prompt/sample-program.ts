import { readFileSync } from 'node:fs';
import { compile } from '../../../src/compiler/compile.ts';
import { SourceFile } from '../../../src/diagnostics/source-file.ts';
import type { Message, PromptClient } from '../../../src/schema/message.ts';
import { createPromptRenderer, type PromptRenderer } from '../../../src/runtime/prompt/create-prompt-renderer.ts';
import type { Diagnostic } from '../../../src/diagnostics/diagnostic.ts';
import { fitsOf } from '../../support/validators.ts';

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

/** Creates the renderer of definitions, which must have no errors. */
export function rendererOf(source: string): PromptRenderer {
  const { program, diagnostics } = compile([new SourceFile('main.baml', source)], OPTIONS);
  if (program === undefined) throw new Error(JSON.stringify(errorsAmong(diagnostics)));
  return createPromptRenderer(program, fitsOf(program));
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
  const result = createPromptRenderer(program, fitsOf(program)).render('F', args, client);
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
