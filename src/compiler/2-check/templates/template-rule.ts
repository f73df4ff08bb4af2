import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import type { Span } from '../../../diagnostics/span.ts';
import type { DefinitionIndex, ParameterType } from '../../../schema/program.ts';
import type { Expression } from '../../../schema/template.ts';
import type { StaticValue } from './static-value.ts';
import type { Type } from '../../../schema/type.ts';
import type { UndefinedEffect } from '../../../diagnostics/catalogue/template.ts';

/** A rule for expressions in templates and constraints. It sees each expression after its operands. */
export type TemplateRule = (expression: Expression, context: RuleContext) => void;

export interface RuleContext {
  readonly definitions: DefinitionIndex;
  /** All names in scope, for suggestions. */
  visibleNames(): Iterable<string>;
  /** Returns the known properties of an expression that the walker has visited. */
  valueOf(expression: Expression): StaticValue;
  /** Returns the place of the expression that the rule sees. */
  place(): ExpressionPlace;
  span(located: { readonly start: number; readonly end: number }): Span;
  report(diagnostic: Diagnostic): void;
}

/** The names in the scope of a template, and the fallback position of its diagnostics. */
export interface TemplateScope {
  readonly definitions: DefinitionIndex;
  readonly parameters: readonly ParameterType[];
  /** The return type that the template has to describe; absent for a template_string, and if the provider receives its schema. */
  readonly returns?: Type;
  /** The name of the function or template_string in its declaration. */
  readonly declaration: Span;
  /** The declaration of each parameter; `declaration` is the fallback. */
  readonly parameterSpans?: ReadonlyMap<string, Span>;
}

/** The scope of a constraint. */
export interface ConstraintScope {
  readonly definitions: DefinitionIndex;
  /** The file of the expression. */
  readonly file: string;
  /** The type of `this`. */
  readonly subject: Type;
}

/** The place of an expression in its template. */
export interface ExpressionPlace {
  /** The expressions around it, the outermost first. */
  readonly ancestors: readonly Expression[];
  /** The outermost expression is that of a `{{ … }}`. */
  readonly isPrinted: boolean;
}

/** Returns what an undefined value does in the place of an expression. */
export function undefinedEffect(expression: Expression, { ancestors, isPrinted }: ExpressionPlace): UndefinedEffect {
  let inner = expression;
  for (const outer of ancestors.toReversed()) {
    if (failsWithUndefined(outer, inner)) return 'fails';
    if (!passesOn(outer, inner)) return 'undefined';
    inner = outer;
  }
  return isPrinted ? 'prints-nothing' : 'undefined';
}

function failsWithUndefined(outer: Expression, inner: Expression): boolean {
  switch (outer.kind) {
    case 'attribute':
    case 'index':
      return outer.object === inner;
    case 'call':
      return outer.callee.kind === 'attribute' && outer.callee.object === inner;
    case 'unary':
      return outer.operator !== 'not';
    case 'binary':
      return ARITHMETIC.has(outer.operator);
    default:
      return false;
  }
}

/** Returns whether the value of `inner` can be that of `outer`. */
function passesOn(outer: Expression, inner: Expression): boolean {
  if (outer.kind === 'conditional') return outer.condition !== inner;
  return outer.kind === 'binary' && outer.operator === 'or';
}

const ARITHMETIC: ReadonlySet<string> = new Set(['+', '-', '*', '/', '//', '%', '**']);
