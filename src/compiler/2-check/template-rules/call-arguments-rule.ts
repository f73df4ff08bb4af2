import { missingArgument } from '../../../diagnostics/catalogue/template.ts';
import { FUNCTIONS, isFunctionName, OUTPUT_FORMAT_OPTIONS } from '../../../schema/template-vocabulary.ts';
import type { Expression } from '../../../schema/template.ts';
import { reportArguments } from './fit-arguments.ts';
import type { RuleContext } from './template-rule.ts';

type Call = Extract<Expression, { readonly kind: 'call' }>;

/**
 * Calls of functions, macros, template_strings, `ctx.output_format` and `_.role` get the arguments that they take. An argument too many
 * or with an unknown name fails for certain; a missing one of a macro or template_string prints nothing, a warning.
 */
export function callArgumentsRule(expression: Expression, context: RuleContext): void {
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
    case 'missing':
    case 'typed':
    case 'enum':
    case 'object':
    case 'chat':
      return;
  }
}

function check(what: string, parameters: readonly string[], call: Call, context: RuleContext): void {
  reportArguments({ what, parameters, args: call.args, start: call.start, end: call.end }, context);
}

interface Body {
  readonly name: string;
  readonly parameters: readonly { readonly name: string; readonly fallback?: Expression }[];
}

function checkBody(body: Body, call: Call, context: RuleContext): void {
  const names = body.parameters.map((parameter) => `${parameter.name}?`);
  check(`"${body.name}"`, names, call, context);
  const given = new Set(call.args.named.map((entry) => entry.name));
  for (const [index, { name, fallback }] of body.parameters.entries()) {
    if (index >= call.args.positional.length && !given.has(name) && fallback === undefined) {
      context.report(missingArgument(context.span(call), body.name, name));
    }
  }
}

/** `_.role(…)` and `_.chat(…)`. */
function checkRole(call: Call, context: RuleContext): void {
  const { callee } = call;
  if (callee.kind !== 'attribute' || context.valueOf(callee.object).kind !== 'chat') return;
  check(`"_.${callee.name}"`, ['role', '**metadata'], call, context);
}
