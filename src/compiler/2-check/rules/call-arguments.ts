import type { TemplateWalker } from '../templates/template-walker.ts';
import { FUNCTIONS, isFunctionName, OUTPUT_FORMAT_OPTIONS } from '../../../schema/template-vocabulary.ts';
import type { Arguments, Expression } from '../../../schema/template.ts';

type Call = Extract<Expression, { readonly kind: 'call' }>;

/**
 * The arguments of functions, macros, template_strings, `ctx.output_format` and `_.role` must match their parameters. With
 * too many arguments or an unknown name, rendering fails. A missing argument of a macro or template_string prints nothing.
 */
export function callArgumentsRule(expression: Expression, context: TemplateWalker): void {
  if (expression.kind !== 'call') return;
  const callee = context.valueOf(expression.callee);
  switch (callee.kind) {
    case 'function':
      if (isFunctionName(callee.name)) check(`"${callee.name}"`, FUNCTIONS[callee.name], expression, context);
      return;
    case 'output-format':
      return check(
        '"ctx.output_format"',
        OUTPUT_FORMAT_OPTIONS.map((name) => `${name}=?`),
        expression,
        context,
      );
    case 'template-string':
      return checkBody(callee.type, expression, context);
    case 'macro':
      return checkBody(callee.macro, expression, context);
    case 'any':
      return checkRole(expression, context);
    default:
  }
}

function check(what: string, parameters: readonly string[], call: Call, context: TemplateWalker): void {
  reportArguments({ what, parameters, args: call.args, start: call.start, end: call.end }, context);
}

interface Body {
  readonly name: string;
  readonly parameters: readonly { readonly name: string; readonly fallback?: Expression }[];
}

function checkBody(body: Body, call: Call, context: TemplateWalker): void {
  const names = body.parameters.map((parameter) => `${parameter.name}?`);
  check(`"${body.name}"`, names, call, context);
  const given = new Set(call.args.named.map((entry) => entry.name));
  for (const [index, { name, fallback }] of body.parameters.entries()) {
    if (index >= call.args.positional.length && !given.has(name) && fallback === undefined) {
      context.report('template/missing-argument', call, { callee: body.name, name });
    }
  }
}

/** `_.role(…)` and `_.chat(…)`. */
function checkRole(call: Call, context: TemplateWalker): void {
  const { callee } = call;
  if (callee.kind !== 'attribute' || context.valueOf(callee.object).kind !== 'chat') return;
  check(`"_.${callee.name}"`, ['role', '**metadata'], call, context);
}

/** Warns about `debug()`: it prints variables in other tools, but nothing here, because prompts go to a model. */
export function debugCallRule(expression: Expression, context: TemplateWalker): void {
  if (expression.kind !== 'call') return;
  const callee = context.valueOf(expression.callee);
  if (callee.kind === 'function' && callee.name === 'debug') context.report('template/debug-call', expression, {});
}

/** The use of a filter, test, function or method. */
interface ArgumentsUse {
  /** The callee in messages: `filter "round"`, `"range"`, … */
  readonly what: string;
  /** In the notation of the template vocabulary. */
  readonly parameters: readonly string[];
  readonly args: Arguments;
  readonly start: number;
  readonly end: number;
}

/** Reports the first mismatch between arguments and parameters. */
export function reportArguments(use: ArgumentsUse, context: TemplateWalker): void {
  const problem = argumentProblem(use);
  if (problem === undefined) return;
  const message = `The arguments of ${use.what} are wrong: ${problem}.`;
  context.report('template/wrong-arguments', use, {
    message,
    help: 'Calls that reach this place fail until you correct them.',
  });
}

function argumentProblem({ parameters, args }: ArgumentsUse): string | undefined {
  const named = new Set(args.named.map((entry) => entry.name));
  let left = args.positional.length;
  for (const text of parameters) {
    const name = text.replace(/^\**/u, '').replace(/[=?]*$/u, '');
    if (text.startsWith('**')) named.clear();
    else if (text.startsWith('*')) left = 0;
    else if (!text.includes('=') && left > 0) left -= 1;
    else if (!named.delete(name) && !text.endsWith('?')) return `the argument "${name}" is missing`;
  }
  if (left > 0) return `there ${left === 1 ? 'is one argument' : `are ${left} arguments`} too many`;
  const [unknown] = named;
  return unknown === undefined ? undefined : `there is no argument "${unknown}"`;
}
