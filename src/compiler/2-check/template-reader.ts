import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Expression, Template } from '../../schema/template.ts';
import { dedent, dedentTemplateString } from '../1-parse/dedent.ts';
import type { ExpressionNode, RawStringNode } from '../1-parse/syntax-nodes.ts';
import type { TemplateSource } from '../1-parse/template-source.ts';
import { parseExpression, parseTemplate } from '../1-parse/template/parse-template.ts';

/** Reads the templates and expressions inside of definitions, each once however often it is asked for. */
export class TemplateReader {
  /** Syntax problems of everything that was read. */
  readonly diagnostics: Diagnostic[] = [];
  readonly #templates = new Map<RawStringNode, Template>();
  readonly #expressions = new Map<ExpressionNode, Expression | undefined>();
  readonly #unreadable = new Set<Template>();
  readonly #files = new Map<Expression, string>();

  prompt(node: RawStringNode): Template {
    return this.#template(node, dedent);
  }

  templateString(node: RawStringNode): Template {
    return this.#template(node, dedentTemplateString);
  }

  /** Undefined when its syntax is wrong. */
  expression(node: ExpressionNode): Expression | undefined {
    if (!this.#expressions.has(node)) {
      const { expression, diagnostics } = parseExpression(constraintSource(node));
      this.diagnostics.push(...diagnostics);
      this.#expressions.set(node, expression);
      if (expression !== undefined) this.#files.set(expression, node.span.file);
    }
    return this.#expressions.get(node);
  }

  /** Whether all of a template could be read: otherwise nothing can be said about what it does not contain. */
  isReadable(template: Template): boolean {
    return !this.#unreadable.has(template);
  }

  /** The file that an expression was read from: an alias brings its constraints into other files. */
  fileOf(expression: Expression): string | undefined {
    return this.#files.get(expression);
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
 * The text of a constraint as the expression that it stands for. In constraints a backslash is an ordinary character, so
 * that a pattern can be written as it is (`regex_match("\d+")`); in expressions it is written twice.
 */
export function constraintSource(node: ExpressionNode): TemplateSource {
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
  const toFileOffset = (offset: number): number => node.contentStart + offset - countBelow(added, offset);
  return { file: node.span.file, text, toFileOffset };
}

/** How many of the ascending numbers are below the limit. */
function countBelow(numbers: readonly number[], limit: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
