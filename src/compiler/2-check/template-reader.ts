import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { Expression, Template } from '../../schema/template.ts';
import { dedent, dedentTemplateString } from '../1-parse/dedent.ts';
import type { ExpressionNode, RawStringNode } from '../1-parse/syntax-nodes.ts';
import { constraintSource } from './constraint-source.ts';
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
