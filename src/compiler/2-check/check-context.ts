import { countUpTo } from '../../diagnostics/source-file.ts';
import { didYouMean } from '../../base/suggestion.ts';
import { checkDiagnostic } from '../../diagnostics/catalogue/check.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type {
  AliasNode,
  DeclarationNode,
  DocumentNode,
  TypeNode,
  AttributeNode,
  ExpressionNode,
  RawStringNode,
  NameNode,
  FunctionNode,
} from '../1-parse/syntax-nodes.ts';
import type { CompileOptions, KeywordsOfAsserts } from '../compile-options.ts';
import {
  DefinitionScope,
  attributesReachedFrom,
  attributeSites,
  referencedNames,
  typesIn,
  typeSites,
  type AttributeSite,
  type TypeSite,
} from './scope.ts';
import { dependenciesFirst, stronglyConnected } from '../../base/strongly-connected.ts';
import type { Constraint } from '../../schema/constraint.ts';
import type { Expression, Template } from '../../schema/template.ts';
import { dedent, dedentTemplateString, type TemplateSource } from '../1-parse/dedent.ts';
import { parseExpression, parseTemplate } from '../1-parse/template/parse-template.ts';
import { eachDuplicate, isConstraint } from './node-values.ts';

/**
 * The most comparisons of names for suggestions. Thousands of unknown names among thousands of known ones would take
 * minutes, and users do not read that many suggestions.
 */
const SUGGESTION_BUDGET = 200_000;

/** The input of every rule: the definitions, the options, and functions that report. */
export class CheckContext {
  readonly documents: readonly DocumentNode[];
  readonly scope: DefinitionScope;
  readonly aliases: AliasGraph;
  /** Every place where a definition contains a type, except in tests. */
  readonly typeSites: readonly TypeSite[];
  /** Every type at these places, and every type inside it. */
  readonly types: readonly TypeNode[];
  /** Every place with attributes. */
  readonly attributeSites: readonly AttributeSite[];
  readonly templates: TemplateReader;
  readonly options: CompileOptions;
  readonly diagnostics: Diagnostic[] = [];
  #suggestionBudget = SUGGESTION_BUDGET;

  constructor(documents: readonly DocumentNode[], options: CompileOptions) {
    this.documents = documents;
    this.scope = new DefinitionScope(documents);
    this.aliases = new AliasGraph(this.scope);
    this.typeSites = this.scope.declarations.flatMap(typeSites);
    this.types = this.typeSites.flatMap(({ type }) => typesIn(type));
    this.attributeSites = this.scope.declarations.flatMap(attributeSites);
    this.templates = new TemplateReader(options.keywords);
    this.options = options;
  }

  /** Reports a problem by its code. */
  readonly report = (...args: Parameters<typeof checkDiagnostic>): void => {
    this.diagnostics.push(checkDiagnostic(...args));
  };

  /** Reports every name that an earlier one repeats. `owner`: the block with the names, such as `class "A"`. */
  readonly reportDuplicates = (
    code: Extract<Parameters<typeof checkDiagnostic>[0], `check/${'duplicate' | 'repeated'}-${string}`>,
    names: readonly NameNode[],
    owner = '',
  ): void => {
    eachDuplicate(
      names,
      ({ text }) => text,
      ({ text, span }, first) =>
        this.report(code, span, { name: text, owner }, [{ span: first.span, message: 'the first one' }]),
    );
  };

  /** Reports a group of declarations that refer to each other in a cycle. */
  readonly reportCycle = (
    code: 'check/alias-cycle' | 'check/class-cycle' | 'check/client-cycle',
    nodes: readonly DeclarationNode[],
  ): void => {
    const [first, ...others] = nodes;
    if (first === undefined) return;
    const path = [...nodes, first].map((node) => node.name.text).join(' -> ');
    const related = others.map((node) => ({ span: node.name.span, message: 'part of the cycle' }));
    this.report(code, first.name.span, { path }, related);
  };

  /** Returns `Did you mean "A"?` for an unknown name, or an empty string if none of `names` is near. */
  readonly suggest = (wanted: string, names: Iterable<string>): string => {
    if (this.#suggestionBudget < 0) return '';
    const candidates = [...names];
    this.#suggestionBudget -= candidates.length;
    return didYouMean(wanted, candidates);
  };
}

/** A rule reports every place that breaks it. The definitions can also break other rules. */
export type Rule = (context: CheckContext) => void;

/** The references between aliases, in particular those that form cycles. */
export class AliasGraph {
  /** Aliases that refer to themselves. They stay in the program; their targets replace all others. */
  readonly recursive: ReadonlySet<string>;
  /** Groups of aliases that refer to each other without a list or map in between, which no value can satisfy. */
  readonly endless: readonly (readonly AliasNode[])[];
  /** All aliases, each after the aliases that it uses. */
  readonly usedFirst: readonly string[];

  readonly #scope: DefinitionScope;

  constructor(scope: DefinitionScope) {
    this.#scope = scope;
    const names = [...scope.aliases.keys()];
    const edges = (through: boolean) => (name: string) => {
      const alias = scope.aliases.get(name);
      return alias === undefined ? [] : referencedNames(alias.type, through).filter((to) => scope.aliases.has(to));
    };
    this.recursive = new Set(stronglyConnected(names, edges(true)).flat());
    this.usedFirst = dependenciesFirst(names, edges(true));
    this.endless = stronglyConnected(names, edges(false)).map((group) =>
      group.flatMap((name) => scope.aliases.get(name) ?? []),
    );
  }

  /** Returns the alias that a type names, unless it is recursive. */
  named(type: TypeNode): AliasNode | undefined {
    const name = type.kind === 'name' ? type.name : undefined;
    return name === undefined || this.recursive.has(name) ? undefined : this.#scope.aliases.get(name);
  }
}

/** The templates of documents that are still in use: an editor checks most of them again after each change of another one. */
const PARSED = new WeakMap<RawStringNode, ReturnType<typeof parseTemplate>>();

/** Parses the templates and expressions inside definitions, each only once. */
class TemplateReader {
  /** The syntax problems of all templates read so far. */
  readonly diagnostics: Diagnostic[] = [];
  readonly #keywords: KeywordsOfAsserts | undefined;
  readonly #templates = new Map<RawStringNode, Template>();
  readonly #expressions = new Map<ExpressionNode, ReturnType<typeof parseExpression>>();
  readonly #unreadable = new Set<Template>();
  readonly #files = new Map<Expression, string>();

  constructor(keywords: KeywordsOfAsserts | undefined) {
    this.#keywords = keywords;
  }

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

  /** Returns the syntax problems of the expression of a constraint. */
  problemsOf(attribute: AttributeNode): readonly Diagnostic[] {
    const expression = isConstraint(attribute) ? expressionOf(attribute) : undefined;
    return expression === undefined ? [] : this.expression(expression).diagnostics;
  }

  /**
   * Returns why a constraint of a type that a function takes or returns, directly or inside other types, cannot be read; undefined if
   * all can.
   */
  unreadableConstraint(fn: FunctionNode, scope: DefinitionScope): string | undefined {
    const unreadable = [...this.#expressions.values()].some(({ expression }) => expression === undefined);
    if (!unreadable) return undefined;
    for (const attribute of attributesReachedFrom(fn, scope)) {
      const [problem] = this.problemsOf(attribute);
      const source = expressionOf(attribute)?.source.trim();
      if (problem === undefined) continue;
      return `The constraint \`{{ ${source} }}\` of a type of "${fn.name.text}" cannot be read. ${[problem.message, problem.help ?? []].flat().join(' ')}`;
    }
    return undefined;
  }

  /** Returns whether a whole template is readable. If not, rules must not report missing parts of it. */
  isReadable(template: Template): boolean {
    return !this.#unreadable.has(template);
  }

  /** Returns the file of the expression of a constraint. An alias brings its constraints into other files. */
  fileOf(expression: Expression): string {
    return this.#files.get(expression) ?? '';
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
    const keyword = node.name === 'assert' ? this.#keywords?.get(`${label} ${source}`) : undefined;
    return {
      level: node.name,
      ...(label !== undefined && { label }),
      source,
      expression,
      ...(keyword !== undefined && { keyword }),
    };
  }

  #template(node: RawStringNode, prepare: typeof dedent): Template {
    const known = this.#templates.get(node);
    if (known !== undefined) return known;
    const parsed = PARSED.get(node) ?? parseTemplate(prepare(node.raw, node.contentStart, node.span.file));
    PARSED.set(node, parsed);
    const { template, diagnostics } = parsed;
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
