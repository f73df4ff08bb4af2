import { wrongArguments } from '../../../diagnostics/catalogue/template.ts';
import type { Arguments } from '../../../schema/template.ts';
import type { RuleContext } from './template-rule.ts';

/** A use of something that takes parameters, in the notation of the vocabulary. */
export interface ArgumentsUse {
  /** `filter "round"`, `"range"`, … */
  readonly what: string;
  readonly parameters: readonly string[];
  readonly args: Arguments;
  readonly start: number;
  readonly end: number;
}

/** Reports the first reason why the arguments do not fit the parameters. */
export function reportArguments(use: ArgumentsUse, context: RuleContext): void {
  const problem = misfit(use);
  if (problem !== undefined) context.report(wrongArguments(context.span(use), use.what, problem));
}

function misfit({ parameters, args }: ArgumentsUse): string | undefined {
  const named = new Set(args.named.map((entry) => entry.name));
  let left = args.positional.length;
  for (const text of parameters) {
    const name = text.replace(/^\**/u, '').replace(/[=?]*$/u, '');
    if (text.startsWith('**')) named.clear();
    else if (text.startsWith('*')) left = 0;
    else if (!text.includes('=') && left > 0) left -= 1;
    else if (!named.delete(name) && !text.endsWith('?')) return `the argument "${name}" is missing`;
  }
  if (left > 0) return `${left === 1 ? 'one argument is' : `${left} arguments are`} too many`;
  const [unknown] = named;
  return unknown === undefined ? undefined : `there is no argument "${unknown}"`;
}
