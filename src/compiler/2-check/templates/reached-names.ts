import type { DefinitionIndex } from '../../../schema/program.ts';
import type { Expression, Template } from '../../../schema/template.ts';
import { TemplateWalker } from './template-walker.ts';

/** The names that a template can read when it is rendered. */
interface ReachedNames {
  /** Every name. */
  readonly read: ReadonlySet<string>;
  /** Every `.attribute` and `["attribute"]`. */
  readonly attributes: ReadonlySet<string>;
  /** Names that appear other than as the object of an attribute. */
  readonly bare: ReadonlySet<string>;
}

type NameSets = Record<keyof ReachedNames, Set<string>>;

/** Returns the names in a template and in all template_strings that it uses, which see the same variables. */
export function reachedNames(template: Template, definitions: DefinitionIndex): ReachedNames {
  const names: NameSets = { read: new Set(), attributes: new Set(), bare: new Set() };
  collectNames(template, definitions, names);
  for (const name of names.read) {
    const used = definitions.templateStrings.get(name);
    // The loop also visits names that are added to the set meanwhile.
    if (used !== undefined) collectNames(used.template, definitions, names);
  }
  return names;
}

function collectNames(
  { file, body }: Template,
  definitions: DefinitionIndex,
  { read, attributes, bare }: NameSets,
): void {
  const walker = new TemplateWalker({ file, definitions }, new Map(), NO_RULES);
  walker.body(body);
  const owners = new Set<Expression>();
  for (const expression of walker.visited()) {
    if (expression.kind === 'name') read.add(expression.name);
    if (expression.kind === 'attribute') attributes.add(expression.name);
    if (expression.kind === 'index' && expression.index.kind === 'string') attributes.add(expression.index.value);
    if (expression.kind === 'attribute' || expression.kind === 'index') owners.add(expression.object);
  }
  for (const expression of walker.visited()) {
    if (expression.kind === 'name' && !owners.has(expression)) bare.add(expression.name);
  }
}

const NO_RULES = { expressions: [], filters: [], assignments: [] };

/** Returns the first match in the plain text of a template, such as a name in the interpolation of another language. */
export function plainTextUse({ body }: Template, pattern: RegExp): string | undefined {
  for (const statement of body) {
    const found = statement.kind === 'text' ? pattern.exec(statement.text) : null;
    if (found !== null) return found[0];
  }
  return undefined;
}
