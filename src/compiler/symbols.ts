import type { Span } from '../diagnostics/span.ts';
import type { DefinitionIndex, ParameterType } from '../schema/program.ts';
import type { Arguments, Expression, Template } from '../schema/template.ts';
import type { Type } from '../schema/type.ts';
import type {
  DeclarationNode,
  DocumentNode,
  EntryNode,
  NameNode,
  ParameterNode,
  TestNode,
  TypeNode,
  ValueNode,
} from './1-parse/syntax-nodes.ts';
import { optionsOf } from './2-check/build-definitions.ts';
import { namesOfCondition, namesOfTemplate, everyType, type Analysis } from './2-check/check.ts';
import { entryValue, listItems, stringOf } from './2-check/node-values.ts';
import { DefinitionScope, extendTypes, innerTypes, testedFunctions, typesIn, typeSites } from './2-check/scope.ts';
import { alternatives, typed, type StaticValue } from './2-check/templates/static-value.ts';
import { NO_RULES, TemplateWalker } from './2-check/templates/template-walker.ts';

export type SymbolKind = DeclarationNode['kind'] | 'field' | 'enum-value' | 'parameter' | 'variable';

/** A name that the definitions declare, with every place that means it. */
export interface DefinitionSymbol {
  readonly kind: SymbolKind;
  readonly name: string;
  /** The class of a field, the enum of a value, the function of a parameter. */
  readonly owner?: string;
  /** The name in its declaration. */
  readonly declaration: Span;
  /** The other places, in templates, tests and constraints too. Each covers the name alone, without quotes around it. */
  readonly occurrences: readonly Span[];
}

/**
 * Finds every named definition, member, parameter and template variable, and the places that mean it, in the order of files and
 * positions. Omits places whose meaning depends on values at run time, and macros, whose syntax has no positions.
 */
export function findSymbols(analysis: Analysis, definitions: DefinitionIndex): readonly DefinitionSymbol[] {
  return new SymbolFinder(analysis, definitions).run();
}

/** Visits the parts of a value whose type has a name, outer parts first: one of a union, with each name. */
export function walkValue(
  whole: ValueNode | undefined,
  declared: TypeNode | undefined,
  scope: DefinitionScope,
  visit: (part: ValueNode, typeName: string) => void,
): void {
  // An alias can name itself.
  const walk = (value: ValueNode | undefined, type: TypeNode | undefined, aliases: readonly string[] = []): void => {
    if (value === undefined || type === undefined) return;
    if (type.kind === 'list') for (const item of value.kind === 'list' ? value.items : []) walk(item, type.element);
    else if (type.kind === 'map') for (const entry of mapEntries(value)) walk(entry.value, type.value);
    else if (type.kind !== 'name') for (const member of innerTypes(type)) walk(value, member, aliases);
    else if (scope.aliases.has(type.name)) {
      if (!aliases.includes(type.name)) walk(value, scope.aliases.get(type.name)?.type, [...aliases, type.name]);
    } else {
      visit(value, type.name);
      const fields = new Map(scope.classes.get(type.name)?.fields.map((field) => [field.name.text, field.type]));
      for (const { key, value: member } of mapEntries(value)) walk(member, fields.get(key.text));
    }
  };
  walk(whole, declared);
}

interface FoundSymbol extends DefinitionSymbol {
  readonly occurrences: Span[];
}

interface Part {
  readonly kind: SymbolKind;
  readonly owner?: string;
}

class SymbolFinder {
  readonly #analysis: Analysis;
  readonly #scope: DefinitionScope;
  readonly #definitions: DefinitionIndex;
  readonly #documents: ReadonlyMap<string, DocumentNode>;
  readonly #symbols = new Map<NameNode, FoundSymbol>();
  /** The places found so far: a walk visits the constraint of a type at each of its uses. */
  readonly #places = new Set<string>();

  constructor(analysis: Analysis, definitions: DefinitionIndex) {
    this.#analysis = analysis;
    this.#scope = analysis.context.scope;
    this.#documents = new Map(analysis.context.documents.map((document) => [document.file.path, document]));
    this.#definitions = definitions;
  }

  run(): readonly DefinitionSymbol[] {
    for (const node of this.#scope.declarations) this.#declare(node);
    for (const node of this.#scope.declarations) this.#usesIn(node, this.#scope);
    this.#templates();
    this.#constraints();
    return [...this.#symbols.values()];
  }

  #declare(node: DeclarationNode): void {
    this.#add(node.name, { kind: node.kind });
    const owner = node.name.text;
    if (node.kind === 'class') for (const { name } of node.fields) this.#add(name, { kind: 'field', owner });
    if (node.kind === 'enum') for (const { name } of node.values) this.#add(name, { kind: 'enum-value', owner });
    if (node.kind === 'function' || node.kind === 'template_string')
      for (const { name } of node.parameters) this.#add(name, { kind: 'parameter', owner });
    if (node.kind === 'test') for (const type of node.types) this.#declareForTest(type);
  }

  /** A `dynamic class` declares only its new fields. */
  #declareForTest(type: DeclarationNode): void {
    this.#declare(type);
    const isExtension = (type.kind === 'class' || type.kind === 'enum') && type.extension === true;
    if (isExtension) this.#symbols.delete(type.name);
  }

  #add(name: NameNode, part: Part): void {
    if (!this.#symbols.has(name) && this.#isNameAt(name.span, name.text))
      this.#symbols.set(name, { ...part, name: name.text, declaration: name.span, occurrences: [] });
  }

  /** Adds an occurrence. Quotes around the name do not belong to it, and a place with any other text is not one. */
  #use(name: NameNode | undefined, { file, start, end }: Span): void {
    const symbol = name && this.#symbols.get(name);
    if (symbol === undefined) return;
    const margin = (end - start - symbol.name.length) / 2;
    const span = { file, start: start + margin, end: end - margin };
    const place = `${file} ${String(start)} ${symbol.declaration.file} ${String(symbol.declaration.start)}`;
    if (!Number.isInteger(margin) || this.#places.has(place) || !this.#isNameAt(span, symbol.name)) return;
    this.#places.add(place);
    symbol.occurrences.push(span);
  }

  #isNameAt({ file, start, end }: Span, name: string): boolean {
    return name !== '' && this.#documents.get(file)?.file.text.slice(start, end) === name;
  }

  // --- definitions ---------------------------------------------------------------------------------------------------

  #usesIn(node: DeclarationNode, scope: DefinitionScope): void {
    for (const { type } of typeSites(node)) this.#typeUses(type, scope);
    switch (node.kind) {
      case 'function':
        return this.#clientUse(entryValue(node.entries, 'client'));
      case 'client':
        return this.#clientUses(node.entries);
      case 'test':
        return this.#testUses(node);
      default:
    }
  }

  #typeUses(type: TypeNode, scope: DefinitionScope): void {
    for (const inner of typesIn(type)) if (inner.kind === 'name') this.#use(typeNamed(inner.name, scope), inner.span);
  }

  #clientUse(value: ValueNode | undefined): void {
    if (value !== undefined) this.#use(this.#scope.clients.get(stringOf(value) ?? '')?.name, value.span);
  }

  #clientUses(entries: readonly EntryNode[]): void {
    const policy = entryValue(entries, 'retry_policy');
    if (policy !== undefined) this.#use(this.#scope.retryPolicies.get(stringOf(policy) ?? '')?.name, policy.span);
    const options = optionsOf({ entries });
    for (const item of listItems(entryValue(options, 'strategy'))) this.#clientUse(item);
    for (const { key } of mapEntries(entryValue(options, 'weights')))
      this.#use(this.#scope.clients.get(key.text)?.name, key.span);
    for (const reply of listItems(entryValue(options, 'replies')))
      this.#functionUse(entryValue(mapEntries(reply), 'function'));
  }

  #functionUse(value: ValueNode | undefined): void {
    if (value !== undefined) this.#use(this.#scope.functions.get(stringOf(value) ?? '')?.name, value.span);
  }

  #testUses(test: TestNode): void {
    for (const value of listItems(entryValue(test.entries, 'functions'))) this.#functionUse(value);
    const scope = this.#scopeOf(test);
    for (const type of test.types) {
      const known = this.#scope.classes.get(type.name.text) ?? this.#scope.enums.get(type.name.text);
      if (!this.#symbols.has(type.name)) this.#use(known?.name, type.name.span);
      this.#usesIn(type, scope);
    }
    for (const name of testedFunctions(test)) {
      const parameters = this.#scope.functions.get(name)?.parameters ?? [];
      for (const entry of mapEntries(entryValue(test.entries, 'args'))) this.#argumentUses(entry, parameters, scope);
    }
  }

  /** The types as a test sees them, which can extend them. */
  #scopeOf(test: TestNode): DefinitionScope {
    if (test.types.length === 0) return this.#scope;
    return new DefinitionScope(extendTypes([...this.#documents.values()], test.types, test.span.file));
  }

  #argumentUses({ key, value }: EntryNode, parameters: readonly ParameterNode[], scope: DefinitionScope): void {
    const parameter = parameters.find(({ name }) => name.text === key.text);
    this.#use(parameter?.name, key.span);
    if (value !== undefined && parameter?.type !== undefined) this.#valueUses(value, parameter.type, scope);
  }

  /** The fields and enum values in a value of a type. */
  #valueUses(value: ValueNode, type: TypeNode, scope: DefinitionScope): void {
    walkValue(value, type, scope, (part, typeName) => {
      const text = stringOf(part);
      this.#use(scope.enums.get(typeName)?.values.find(({ name }) => name.text === text)?.name, part.span);
      for (const { key } of mapEntries(part))
        this.#use(scope.classes.get(typeName)?.fields.find(({ name }) => name.text === key.text)?.name, key.span);
    });
  }

  // --- templates -----------------------------------------------------------------------------------------------------

  #templates(): void {
    for (const { name, parameters, prompt } of this.#definitions.functions.values())
      this.#template(prompt, parameters, this.#scope.functions.get(name)?.parameters ?? []);
    for (const { name, parameters, template } of this.#definitions.templateStrings.values())
      this.#template(template, parameters, this.#scope.templateStrings.get(name)?.parameters ?? []);
  }

  #template({ file, body }: Template, parameters: readonly ParameterType[], nodes: readonly ParameterNode[]): void {
    const names = namesOfTemplate(parameters);
    const walker = new TemplateWalker({ file, definitions: this.#definitions }, names, NO_RULES);
    const declared = declaredValues(names, nodes);
    walker.body(body);
    for (const [value, { start, end }] of walker.locals) {
      const text = this.#documents.get(file)?.file.text.slice(start, end) ?? '';
      const name = [...declared].find(([, known]) => known.span.start === start)?.[1];
      declared.set(value, name ?? { text, span: { file, start, end } });
      if (name === undefined) this.#add(declared.get(value) ?? NO_NAME, { kind: 'variable' });
    }
    for (const { at, value } of walker.assigned) {
      const name = declared.get(value);
      if (name?.span.start !== at.start) this.#use(name, { file, start: at.start, end: at.end });
    }
    this.#expressions(walker, file, declared);
  }

  /** The conditions of types and of tests. */
  #constraints(): void {
    const { functions } = this.#definitions;
    for (const type of everyType(this.#definitions)) {
      for (const { expression } of type.constraints ?? [])
        this.#condition(
          expression,
          this.#analysis.context.templates.fileOf(expression),
          new Map([['this', typed(type)]]),
        );
    }
    for (const test of this.#analysis.tests) {
      for (const fn of test.buildsTypes ? [] : test.functions.flatMap((name) => functions.get(name) ?? [])) {
        const nodes = this.#scope.functions.get(fn.name)?.parameters ?? [];
        for (const [at, { expression }] of test.constraints.entries())
          this.#condition(expression, test.span.file, namesOfCondition(test, at, fn), nodes);
      }
    }
  }

  #condition(
    expression: Expression,
    file: string,
    names: Map<string, StaticValue>,
    nodes: readonly ParameterNode[] = [],
  ): void {
    const walker = new TemplateWalker({ file, definitions: this.#definitions, isCondition: true }, names, NO_RULES);
    const declared = declaredValues(names, nodes);
    walker.expression(expression);
    this.#expressions(walker, file, declared);
  }

  #expressions(walker: TemplateWalker, file: string, declared: ReadonlyMap<StaticValue, NameNode>): void {
    for (const expression of walker.visited()) {
      const { start, end } = expression;
      const value = walker.valueOf(expression);
      if (expression.kind === 'name') this.#use(declared.get(value) ?? this.#global(value), { file, start, end });
      else if (expression.kind === 'attribute') {
        const span = { file, start: end - expression.name.length, end };
        this.#memberUses(walker.valueOf(expression.object), expression.name, span);
      } else if (expression.kind === 'index' && expression.index.kind === 'string') {
        const { start: from, end: to, value: name } = expression.index;
        this.#memberUses(walker.valueOf(expression.object), name, { file, start: from, end: to });
      } else if (expression.kind === 'call') this.#argumentNames(expression, walker, file);
      else if (expression.kind === 'binary') this.#comparison(expression, walker, file);
      else if (expression.kind === 'filter') this.#attributePath(expression, walker, file);
    }
  }

  #global(value: StaticValue): NameNode | undefined {
    if (value.kind === 'enum') return this.#scope.enums.get(value.type.name)?.name;
    return value.kind === 'template-string' ? this.#scope.templateStrings.get(value.type.name)?.name : undefined;
  }

  #memberUses(object: StaticValue, member: string, span: Span): void {
    if (object.kind === 'enum') this.#use(this.#enumValue(object.type.name, member), span);
    if (object.kind !== 'typed') return;
    for (const type of alternatives(object.type, this.#definitions)) {
      if (type.kind !== 'class') continue;
      this.#use(this.#scope.classes.get(type.name)?.fields.find(({ name }) => name.text === member)?.name, span);
    }
  }

  /** The fields in `people|map(attribute="home.city")` and in `people|selectattr("name")`. */
  #attributePath(
    { input, filter: { name, args } }: Extract<Expression, { readonly kind: 'filter' }>,
    walker: TemplateWalker,
    file: string,
  ): void {
    const first = ATTRIBUTE_FIRST.has(name) ? args.positional[0] : undefined;
    const path = args.named.find((each) => each.name === 'attribute')?.value ?? first;
    let items = input;
    while (items.kind === 'filter' && SAME_ITEMS.has(items.filter.name)) items = items.input;
    const list = walker.valueOf(items);
    if (path?.kind !== 'string' || list.kind !== 'typed') return;
    let types = elementsOf(list.type, this.#definitions);
    let start = path.start + 1;
    for (const field of path.value.split('.')) {
      for (const type of types) this.#memberUses(typed(type), field, { file, start, end: start + field.length });
      types = types.flatMap((type) => {
        const owner = type.kind === 'class' ? this.#definitions.classes.get(type.name) : undefined;
        const found = owner?.fields.find((each) => each.name === field)?.type;
        return found === undefined ? [] : alternatives(found, this.#definitions);
      });
      start += field.length + 1;
    }
  }

  #enumValue(owner: string, value: string): NameNode | undefined {
    return this.#scope.enums.get(owner)?.values.find(({ name }) => name.text === value)?.name;
  }

  /**
   * The names before `=` in a call of a template_string, of whose values alone the syntax has the positions; and the classes in a call of
   * `ctx.output_format`.
   */
  #argumentNames(
    { callee, args }: Extract<Expression, { readonly kind: 'call' }>,
    walker: TemplateWalker,
    file: string,
  ): void {
    const called = walker.valueOf(callee);
    if (called.kind === 'output-format') this.#hoistedClasses(args, file);
    if (called.kind !== 'template-string') return;
    const parameters = this.#scope.templateStrings.get(called.type.name)?.parameters ?? [];
    for (const { name, value } of args.named) {
      const before = this.#documents.get(file)?.file.text.slice(0, value.start) ?? '';
      const start = before.length - (/[\p{L}\p{N}_]+\s*=[\s(]*$/u.exec(before)?.[0].length ?? 0);
      const parameter = parameters.find((each) => each.name.text === name);
      this.#use(parameter?.name, { file, start, end: start + name.length });
    }
  }

  /** `ctx.output_format(hoist_classes=["Name"])`. */
  #hoistedClasses({ named }: Arguments, file: string): void {
    const list = named.find(({ name }) => name === 'hoist_classes')?.value;
    for (const item of list?.kind === 'list' ? list.items : []) {
      const { start, end } = item;
      if (item.kind === 'string') this.#use(this.#scope.classes.get(item.value)?.name, { file, start, end });
    }
  }

  /** A string that is compared with an enum is the name of a value. */
  #comparison(
    { operator, left, right }: Extract<Expression, { readonly kind: 'binary' }>,
    walker: TemplateWalker,
    file: string,
  ): void {
    const compare = (side: Expression, other: Expression): void => {
      const value = walker.valueOf(side);
      if (other.kind !== 'string' || value.kind !== 'typed') return;
      for (const type of alternatives(value.type, this.#definitions)) {
        const { start, end } = other;
        if (type.kind === 'enum') this.#use(this.#enumValue(type.name, other.value), { file, start, end });
      }
    };
    if (operator === '==' || operator === '!=') {
      compare(left, right);
      compare(right, left);
    } else if (operator === 'in' || operator === 'not in') {
      for (const item of right.kind === 'list' ? right.items : []) compare(left, item);
      this.#membership(left, walker.valueOf(right), file);
    }
  }

  /** `"Calm" in moods`. */
  #membership(item: Expression, list: StaticValue, file: string): void {
    if (item.kind !== 'string' || list.kind !== 'typed') return;
    const { start, end } = item;
    for (const type of elementsOf(list.type, this.#definitions))
      if (type.kind === 'enum') this.#use(this.#enumValue(type.name, item.value), { file, start, end });
  }
}

/** Filters whose first argument is the name of an attribute. */
const ATTRIBUTE_FIRST: ReadonlySet<string> = new Set(['groupby', 'rejectattr', 'selectattr']);

/** Filters whose result has items of their input. */
const SAME_ITEMS: ReadonlySet<string> = new Set(
  'list reject rejectattr reverse select selectattr sort unique'.split(' '),
);

function elementsOf(type: Type, definitions: DefinitionIndex): readonly Type[] {
  const lists = alternatives(type, definitions);
  return lists.flatMap((each) => (each.kind === 'list' ? alternatives(each.element, definitions) : []));
}

const NO_NAME: NameNode = { text: '', span: { file: '', start: 0, end: 0 } };

/** The value of each parameter that has a declaration, as the walker identifies it. */
function declaredValues(
  names: ReadonlyMap<string, StaticValue>,
  nodes: readonly ParameterNode[],
): Map<StaticValue, NameNode> {
  return new Map(
    nodes.flatMap(({ name }) => {
      const value = names.get(name.text);
      return value === undefined ? [] : [[value, name] as const];
    }),
  );
}

function typeNamed(name: string, scope: DefinitionScope): NameNode | undefined {
  return (scope.classes.get(name) ?? scope.enums.get(name) ?? scope.aliases.get(name))?.name;
}

function mapEntries(value: ValueNode | undefined): readonly EntryNode[] {
  return value?.kind === 'map' ? value.entries : [];
}
