import type { DefinitionIndex } from '../../../schema/program.ts';
import type { Expression, FilterCall, Statement, Template } from '../../../schema/template.ts';
import { operandsOf } from './template-walker.ts';

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
export function reachedNames(template: Template, { templateStrings }: DefinitionIndex): ReachedNames {
  const names: NameSets = { read: new Set(), attributes: new Set(), bare: new Set() };
  collectNames(template.body, names);
  for (const name of names.read) {
    const used = templateStrings.get(name);
    // The loop also visits names that are added to the set meanwhile.
    if (used !== undefined) collectNames(used.template.body, names);
  }
  return names;
}

function collectNames(statements: readonly Statement[], { read, attributes, bare }: NameSets): void {
  const stack = [...expressionsOf(statements)];
  for (let expression = stack.pop(); expression !== undefined; expression = stack.pop()) {
    if (expression.kind === 'name') {
      read.add(expression.name);
      bare.add(expression.name);
      continue;
    }
    const parts = operandsOf(expression);
    if (expression.kind === 'attribute') attributes.add(expression.name);
    if (expression.kind === 'index' && expression.index.kind === 'string') attributes.add(expression.index.value);
    const owner = expression.kind === 'attribute' || expression.kind === 'index' ? expression.object : undefined;
    if (owner?.kind === 'name') read.add(owner.name);
    stack.push(...parts.filter((part) => part !== owner || part.kind !== 'name'));
  }
}

function* expressionsOf(body: readonly Statement[]): Generator<Expression> {
  for (const statement of body) {
    switch (statement.kind) {
      case 'text':
        break;
      case 'print':
        yield statement.expression;
        break;
      case 'if':
        for (const branch of statement.branches) {
          yield branch.condition;
          yield* expressionsOf(branch.body);
        }
        yield* expressionsOf(statement.otherwise);
        break;
      case 'for':
        yield statement.iterable;
        if (statement.filter !== undefined) yield statement.filter;
        yield* expressionsOf(statement.body);
        yield* expressionsOf(statement.otherwise);
        break;
      case 'set':
        yield statement.value;
        break;
      case 'set-block':
      case 'filter-block':
        yield* filterArguments(statement.filters);
        yield* expressionsOf(statement.body);
        break;
      case 'with':
        for (const binding of statement.bindings) yield binding.value;
        yield* expressionsOf(statement.body);
        break;
      case 'macro':
        yield* expressionsOf(statement.macro.body);
        break;
      case 'call-block':
        yield statement.call;
        yield* expressionsOf(statement.macro.body);
        break;
    }
  }
}

function* filterArguments(filters: readonly FilterCall[]): Generator<Expression> {
  for (const { args } of filters) {
    yield* args.positional;
    for (const { value } of args.named) yield value;
  }
}

/** Returns the first match in the plain text of a template, such as a name in the interpolation of another language. */
export function plainTextUse({ body }: Template, pattern: RegExp): string | undefined {
  for (const statement of body) {
    const found = statement.kind === 'text' ? pattern.exec(statement.text) : null;
    if (found !== null) return found[0];
  }
  return undefined;
}
