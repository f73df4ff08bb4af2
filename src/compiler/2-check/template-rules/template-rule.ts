import type { Diagnostic } from '../../../diagnostics/diagnostic.ts';
import type { Span } from '../../../diagnostics/span.ts';
import type { DefinitionIndex } from '../../../schema/definition-index.ts';
import type { Expression } from '../../../schema/template.ts';
import type { StaticValue } from './static-value.ts';

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
