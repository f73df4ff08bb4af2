import { err, ok, type Result } from '../../base/result.ts';
import { indexDefinitions } from '../../schema/definition-index.ts';
import type { Program } from '../../schema/program.ts';
import type { FitsType } from '../../schema/type.ts';
import type { PromptFailure } from '../../schema/errors.ts';
import { buildMessages } from './build-messages.ts';
import { ArgumentConverter } from './convert-argument.ts';
import type { Message, PromptClient } from '../../schema/message.ts';
import { positionOf } from './position-of.ts';
import { Prompt } from './prompt.ts';
import { PromptGlobals } from './prompt-globals.ts';
import type { PromptRenderer } from './prompt-renderer.ts';
import { reasonOf } from './reason-of.ts';
import { Run } from './run.ts';

/**
 * Makes the renderer of a program's prompts. Each prompt is compiled at its first use. `createFits` is called once for
 * each rendering: what it returns may remember its answers.
 */
export function createPromptRenderer(program: Program, createFits: () => FitsType): PromptRenderer {
  const index = indexDefinitions(program);
  const converter = new ArgumentConverter(index);
  const globals = new PromptGlobals(index, converter);
  const prompts = new Map<string, Prompt>();

  function promptOf(functionName: string): Prompt | undefined {
    const known = prompts.get(functionName);
    const type = known === undefined ? index.functions.get(functionName) : undefined;
    if (type === undefined) return known;
    const prompt = new Prompt(type, { index, converter, globals, createFits });
    prompts.set(functionName, prompt);
    return prompt;
  }

  function render(
    functionName: string,
    args: Readonly<Record<string, unknown>>,
    client: PromptClient,
  ): Result<readonly Message[], PromptFailure> {
    const prompt = promptOf(functionName);
    if (prompt === undefined) return err(promptError(`There is no function "${functionName}".`));
    const converted = prompt.convert(args);
    // Arguments are looked up by name in template_strings, which see those of the function.
    const run = new Run(prompt.file, (name) => (name === 'ctx' ? prompt.contextFor(client) : converted.get(name)));
    try {
      prompt.execute(converted, run);
      return ok(buildMessages(run.out.pieces(), client));
    } catch (error) {
      const reason = reasonOf(error);
      const place = positionOf(program.files, run.file, run.at);
      return err(promptError(`The prompt of "${functionName}" cannot be rendered: ${reason} (${place}).`));
    }
  }

  return { render };
}

function promptError(message: string): PromptFailure {
  return { code: 'prompt_error', message };
}
