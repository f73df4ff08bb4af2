import { didYouMean } from '../../base/suggestion.ts';
import { checkDiagnostic } from '../../diagnostics/catalogue/check.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { AliasNode, DeclarationNode, DocumentNode, TypeNode } from '../1-parse/syntax-nodes.ts';
import type { CompileOptions } from '../compile-options.ts';
import { DefinitionScope } from './scope.ts';
import { dependenciesFirst, stronglyConnected } from '../../base/strongly-connected.ts';
import { TemplateReader } from './template-reader.ts';
import {
  attributeSites,
  referencedNames,
  typesAt,
  typeSites,
  type AttributeSite,
  type TypeSite,
} from './walk-types.ts';

/**
 * The most comparisons of names for suggestions. Thousands of unknown names among thousands of known ones would take
 * minutes, and users do not read that many suggestions.
 */
const SUGGESTION_BUDGET = 200_000;

/** The input of every rule: the definitions, the options, and functions that report. */
export class CheckContext {
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
    this.scope = new DefinitionScope(documents);
    this.aliases = new AliasGraph(this.scope);
    this.typeSites = typeSites(this.scope);
    this.types = typesAt(this.typeSites);
    this.attributeSites = attributeSites(this.scope, this.typeSites);
    this.templates = new TemplateReader();
    this.options = options;
  }

  /** Reports a problem by its code. */
  readonly report = (...args: Parameters<typeof checkDiagnostic>): void => {
    this.diagnostics.push(checkDiagnostic(...args));
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
class AliasGraph {
  /** Aliases that refer to themselves. They stay in the program; their targets replace all others. */
  readonly recursive: ReadonlySet<string>;
  /** Groups of aliases that refer to each other without a list or map in between, which no value can satisfy. */
  readonly endless: readonly (readonly AliasNode[])[];
  /** All aliases, each after the aliases that it uses. */
  readonly usedFirst: readonly string[];

  constructor(scope: DefinitionScope) {
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
}
