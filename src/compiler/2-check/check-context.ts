import { didYouMean } from '../../base/suggestion.ts';
import { checkDiagnostic } from '../../diagnostics/catalogue/check.ts';
import type { Diagnostic } from '../../diagnostics/diagnostic.ts';
import type { DocumentNode, TypeNode } from '../1-parse/syntax-nodes.ts';
import type { CompileOptions } from '../compile-options.ts';
import { AliasGraph } from './alias-graph.ts';
import { DefinitionScope } from './scope.ts';
import { TemplateReader } from './template-reader.ts';
import { attributeSites, type AttributeSite, type TypeSite, typesAt, typeSites } from './walk-types.ts';

/**
 * Comparisons of names that are spent on suggestions. Thousands of unknown names among thousands of known ones would
 * take minutes, and nobody reads the suggestions of the last ones.
 */
const SUGGESTION_BUDGET = 200_000;

/** What every law gets: the definitions, the options, and where to report. */
export class CheckContext {
  readonly scope: DefinitionScope;
  readonly aliases: AliasGraph;
  /** Every place where definitions write a type (types of tests are not among them). */
  readonly typeSites: readonly TypeSite[];
  /** Every type that the definitions write, and every type inside of it. */
  readonly types: readonly TypeNode[];
  /** Every place that has attributes. */
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

  /** `Did you mean "A"?` for a name that is not among `names`; the empty text when none is near. */
  readonly suggest = (wanted: string, names: Iterable<string>): string => {
    if (this.#suggestionBudget < 0) return '';
    const candidates = [...names];
    this.#suggestionBudget -= candidates.length;
    return didYouMean(wanted, candidates);
  };
}

/** One law: reports every place that breaks it. It may meet definitions that break other laws. */
export type Rule = (context: CheckContext) => void;
