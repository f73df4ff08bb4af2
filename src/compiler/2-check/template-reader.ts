import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import { countUpTo } from '../../base/count-up-to.ts';
import type { Constraint } from '../../schema/constraint.ts';
import type { Expression, Template } from '../../schema/template.ts';
import { dedent, dedentTemplateString, type TemplateSource } from '../1-parse/dedent.ts';
import type { AttributeNode, ExpressionNode, RawStringNode } from '../1-parse/syntax-nodes.ts';
import { parseExpression, parseTemplate } from '../1-parse/template/parse-template.ts';
import { isConstraint } from './node-values.ts';

/** Parses the templates and expressions inside definitions, each only once. */
export class TemplateReader {
  /** The syntax problems of all templates read so far. */
  readonly diagnostics: Diagnostic[] = [];
  readonly #templates = new Map<RawStringNode, Template>();
  readonly #expressions = new Map<ExpressionNode, ReturnType<typeof parseExpression>>();
  readonly #unreadable = new Set<Template>();
  readonly #files = new Map<Expression, string>();

  prompt(node: RawStringNode): Template {
    return this.#template(node, dedent);
  }

  templateString(node: RawStringNode): Template {
    return this.#template(node, dedentTemplateString);
  }

  /** Parses the expression of a constraint. The expression is absent if its syntax is wrong. */
  expression(node: ExpressionNode): ReturnType<typeof parseExpression> {
    const known = this.#expressions.get(node);
    if (known !== undefined) return known;
    const parsed = parseExpression(constraintSource(node));
    this.#expressions.set(node, parsed);
    if (parsed.expression !== undefined) this.#files.set(parsed.expression, node.span.file);
    return parsed;
  }

  /** Returns whether a whole template is readable. If not, rules must not report missing parts of it. */
  isReadable(template: Template): boolean {
    return !this.#unreadable.has(template);
  }

  /** Returns the file of an expression. An alias brings its constraints into other files. */
  fileOf(expression: Expression): string | undefined {
    return this.#files.get(expression);
  }

  /** The `@assert` and `@check` among the attributes, in source order, without those whose syntax is wrong. */
  constraints(attributes: readonly AttributeNode[]): readonly Constraint[] {
    return attributes.flatMap((node) => this.#constraint(node) ?? []);
  }

  #constraint(node: AttributeNode): Constraint | undefined {
    if (!isConstraint(node)) return undefined;
    const expressionNode = expressionOf(node);
    const expression = expressionNode && this.expression(expressionNode).expression;
    if (expressionNode === undefined || expression === undefined) return undefined;
    const label = labelOf(node);
    const source = constraintSource(expressionNode).text.trim();
    return { level: node.name, ...(label !== undefined && { label }), source, expression };
  }

  #template(node: RawStringNode, prepare: typeof dedent): Template {
    const known = this.#templates.get(node);
    if (known !== undefined) return known;
    const { template, diagnostics } = parseTemplate(prepare(node.raw, node.contentStart, node.span.file));
    this.diagnostics.push(...diagnostics);
    if (diagnostics.length > 0) this.#unreadable.add(template);
    this.#templates.set(node, template);
    return template;
  }
}

/** A backslash that escapes neither a quote nor another backslash. */
const LONE_BACKSLASH = /\\(?:["'\\]|)/g;

/**
 * Doubles the backslashes of a constraint for the parser of expressions. In constraints a backslash is an ordinary
 * character, so that a pattern needs no escapes: `regex_match("\d+")`.
 */
function constraintSource(node: ExpressionNode): TemplateSource {
  const added: number[] = [];
  let text = '';
  let from = 0;
  for (const match of node.source.matchAll(LONE_BACKSLASH)) {
    if (match[0].length > 1) continue;
    text += `${node.source.slice(from, match.index)}\\`;
    added.push(text.length - 1);
    from = match.index;
  }
  text += node.source.slice(from);
  const toFileOffset = (offset: number): number => node.contentStart + offset - countUpTo(added, offset - 1);
  return { file: node.span.file, text, toFileOffset };
}

/** The label of a constraint, if it has one. */
export function labelOf(node: AttributeNode): string | undefined {
  const first = node.arguments[0];
  return first?.kind === 'string' ? first.value : undefined;
}

/** The expression of a constraint, if it has one. */
export function expressionOf(node: AttributeNode): ExpressionNode | undefined {
  return node.arguments.find((argument) => argument.kind === 'expression');
}
