import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import type { Span } from '../../../diagnostics/span.ts';
import type { DefinitionIndex, ParameterType } from '../../../schema/program.ts';
import type { Expression } from '../../../schema/template.ts';
import type { StaticValue } from './static-value.ts';
import type { ExpressionPlace } from './undefined-effect.ts';
import type { Type } from '../../../schema/type.ts';

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
