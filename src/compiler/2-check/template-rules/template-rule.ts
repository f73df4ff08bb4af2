import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import type { Span } from '../../../diagnostics/span.ts';
import type { DefinitionIndex } from '../../../schema/definition-index.ts';
import type { Expression } from '../../../schema/template.ts';
import type { StaticValue } from './static-value.ts';
import type { ParameterType } from '../../../schema/function.ts';
import type { Type } from '../../../schema/type.ts';

/** One law about expressions in templates and conditions. It sees each expression after the parts of it. */
export type TemplateRule = (expression: Expression, context: RuleContext) => void;

export interface RuleContext {
  readonly definitions: DefinitionIndex;
  /** Names that could stand here, for suggestions. */
  visibleNames(): Iterable<string>;
  /** What is known of an expression that was visited before. */
  valueOf(expression: Expression): StaticValue;
  span(located: { readonly start: number; readonly end: number }): Span;
  report(diagnostic: Diagnostic): void;
}

/** What a template may refer to, and where a problem without a better place is shown. */
export interface TemplateScope {
  readonly definitions: DefinitionIndex;
  readonly parameters: readonly ParameterType[];
  /** Of a function; a template_string has none. */
  readonly returns?: Type;
  /** The name of the function or template_string in its declaration. */
  readonly declaration: Span;
  /** Where each parameter is declared; `declaration` stands in for those that are missing. */
  readonly parameterSpans?: ReadonlyMap<string, Span>;
}

/** What a condition may refer to. */
export interface ConstraintScope {
  readonly definitions: DefinitionIndex;
  /** The file of the expression. */
  readonly file: string;
  /** The type of `this`. */
  readonly subject: Type;
}
