import type {
  DeclarationNode,
  DocumentNode,
  TestNode,
  AttributeNode,
  TypeNode,
  ClassNode,
  EnumNode,
  FunctionNode,
} from '../1-parse/syntax-nodes.ts';
import { entryValue, listItems, stringOf } from './node-values.ts';
import type { Span } from '../../diagnostics/span.ts';

type Kind = DeclarationNode['kind'];
type NodeOfKind<K extends Kind> = Extract<DeclarationNode, { readonly kind: K }>;

/** The kinds of definitions in messages. */
export const KIND_WORDS: Readonly<Record<Kind, string>> = {
  class: 'a class',
  enum: 'an enum',
  alias: 'a type',
  function: 'a function',
  workflow: 'a function',
  template_string: 'a template_string',
  client: 'a client',
  retry_policy: 'a retry policy',
  generator: 'a generator',
  test: 'a test',
};

/** All declarations of the files, by kind and name. If a name is declared twice, the first declaration applies. */
export class DefinitionScope {
  readonly classes: ReadonlyMap<string, NodeOfKind<'class'>>;
  readonly enums: ReadonlyMap<string, NodeOfKind<'enum'>>;
  readonly aliases: ReadonlyMap<string, NodeOfKind<'alias'>>;
  readonly functions: ReadonlyMap<string, NodeOfKind<'function'>>;
  readonly templateStrings: ReadonlyMap<string, NodeOfKind<'template_string'>>;
  readonly clients: ReadonlyMap<string, NodeOfKind<'client'>>;
  readonly retryPolicies: ReadonlyMap<string, NodeOfKind<'retry_policy'>>;
  /** Functions whose body is code. svc does not serve them. */
  readonly workflows: ReadonlyMap<string, NodeOfKind<'workflow'>>;
  readonly tests: readonly NodeOfKind<'test'>[];
  /** The tests of each function, by its name. A test can belong to several functions. */
  readonly testsOf: ReadonlyMap<string, readonly NodeOfKind<'test'>[]>;
  readonly generators: readonly NodeOfKind<'generator'>[];
  /** All declarations, in the order of files and lines. */
  readonly declarations: readonly DeclarationNode[];

  constructor(documents: readonly DocumentNode[]) {
    this.declarations = documents.flatMap((document) => document.declarations);
    this.classes = byName(this.ofKind('class'));
    this.enums = byName(this.ofKind('enum'));
    this.aliases = byName(this.ofKind('alias'));
    this.functions = byName(this.ofKind('function'));
    this.templateStrings = byName(this.ofKind('template_string'));
    this.clients = byName(this.ofKind('client'));
    this.retryPolicies = byName(this.ofKind('retry_policy'));
    this.workflows = byName(this.ofKind('workflow'));
    this.tests = this.ofKind('test');
    this.testsOf = byTestedFunction(this.tests);
    this.generators = this.ofKind('generator');
  }

  ofKind<K extends Kind>(kind: K): readonly NodeOfKind<K>[] {
    return this.declarations.filter((node): node is NodeOfKind<K> => node.kind === kind);
  }

  /** Returns whether a class, enum or alias has that name. */
  hasType(name: string): boolean {
    return this.classes.has(name) || this.enums.has(name) || this.aliases.has(name);
  }

  /** Names of all declared types, for suggestions. */
  get typeNames(): readonly string[] {
    return [...this.classes.keys(), ...this.enums.keys(), ...this.aliases.keys()];
  }
}

function byName<T extends DeclarationNode>(nodes: readonly T[]): ReadonlyMap<string, T> {
  const map = new Map<string, T>();
  for (const node of nodes) if (!map.has(node.name.text)) map.set(node.name.text, node);
  return map;
}

function byTestedFunction(tests: readonly NodeOfKind<'test'>[]): ReadonlyMap<string, readonly NodeOfKind<'test'>[]> {
  const map = new Map<string, NodeOfKind<'test'>[]>();
  for (const test of tests) {
    for (const name of new Set(testedFunctions(test))) {
      const known = map.get(name);
      if (known === undefined) map.set(name, [test]);
      else known.push(test);
    }
  }
  return map;
}

/** Returns the names of the functions that a test is for. */
export function testedFunctions(test: TestNode): readonly string[] {
  return listItems(entryValue(test.entries, 'functions')).flatMap((item) => stringOf(item) ?? []);
}

/** A type in a definition. */
export interface TypeSite {
  readonly type: TypeNode;
  /** Attributes of the field, parameter, alias or function that has the type. */
  readonly attributes: readonly AttributeNode[];
  readonly use: 'field' | 'parameter' | 'alias' | 'return';
}

/** Returns every place where a definition contains a type, in source order. Those in a test are not among them. */
export function typeSites(node: DeclarationNode | undefined): readonly TypeSite[] {
  switch (node?.kind) {
    case 'class':
      return node.fields.flatMap((field) => typeSite('field', field.type, field.attributes));
    case 'alias':
      return typeSite('alias', node.type, node.attributes);
    case 'function':
    case 'template_string': {
      const parameters = node.parameters.flatMap(({ type, attributes }) => typeSite('parameter', type, attributes));
      if (node.kind === 'template_string') return parameters;
      return [...parameters, ...typeSite('return', node.returns, node.returnAttributes)];
    }
    default:
      return [];
  }
}

/** Returns the attributes of the types that a function takes and returns, and of the types inside these. */
export function attributesReachedFrom(fn: FunctionNode, scope: DefinitionScope): ReadonlySet<AttributeNode> {
  const found = new Set<AttributeNode>();
  const seen = new Set<string>();
  const waiting: TypeNode[] = [];
  const add = (node: DeclarationNode | undefined): void => {
    for (const { type, attributes } of typeSites(node)) {
      for (const attribute of attributes) found.add(attribute);
      waiting.push(type);
    }
  };
  add(fn);
  for (let type = waiting.pop(); type !== undefined; type = waiting.pop()) {
    for (const inner of typesIn(type)) {
      for (const attribute of inner.attributes) found.add(attribute);
      if (inner.kind !== 'name' || seen.has(inner.name)) continue;
      seen.add(inner.name);
      for (const node of [scope.classes.get(inner.name), scope.enums.get(inner.name), scope.aliases.get(inner.name)]) {
        for (const attribute of node?.attributes ?? []) found.add(attribute);
        add(node);
      }
    }
  }
  return found;
}

/** Returns a type and all types inside it, outer types first. */
export function typesIn(type: TypeNode): readonly TypeNode[] {
  const types: TypeNode[] = [];
  walkType(type, (inner) => types.push(inner));
  return types;
}

/** Visits a type and all types inside it. */
export function walkType(type: TypeNode, visit: (type: TypeNode) => void): void {
  visit(type);
  for (const part of innerTypes(type)) walkType(part, visit);
}

/** Returns the names in a type. `throughContainers` includes those inside lists and maps. */
export function referencedNames(type: TypeNode, throughContainers: boolean): readonly string[] {
  if (type.kind === 'name') return [type.name];
  if (!throughContainers && (type.kind === 'list' || type.kind === 'map')) return [];
  return innerTypes(type).flatMap((part) => referencedNames(part, throughContainers));
}

/** Returns the types directly inside a type. */
export function innerTypes(type: TypeNode): readonly TypeNode[] {
  switch (type.kind) {
    case 'list':
      return [type.element];
    case 'optional':
      return [type.type];
    case 'map':
      return [type.key, type.value];
    case 'union':
    case 'tuple':
      return type.members;
    case 'name':
    case 'literal':
    case 'broken':
      return [];
  }
}

function typeSite(
  use: TypeSite['use'],
  type: TypeNode | undefined,
  attributes: readonly AttributeNode[],
): readonly TypeSite[] {
  return type === undefined ? [] : [{ type, attributes, use }];
}

/** The owner of a group of attributes. `inner-type` is a type inside another one. */
export type AttributePlace =
  | 'field'
  | 'enum-value'
  | 'class'
  | 'enum'
  | 'alias'
  | 'parameter'
  | 'return'
  | 'inner-type'
  | 'test';

export interface AttributeSite {
  readonly place: AttributePlace;
  /** All attributes of that place: at least one. */
  readonly attributes: readonly AttributeNode[];
}

/** Returns every place of a definition with attributes: its block, its members, and the types in them. */
export function attributeSites(node: DeclarationNode): readonly AttributeSite[] {
  const ofTypes = typeSites(node).flatMap(({ use, type, attributes }): readonly AttributeSite[] => [
    { place: use, attributes },
    ...typesIn(type).map((inner) => ({ place: 'inner-type' as const, attributes: inner.attributes })),
  ]);
  return [...blockSites(node), ...ofTypes].filter((site) => site.attributes.length > 0);
}

function blockSites(node: DeclarationNode): readonly AttributeSite[] {
  if (node.kind === 'class') {
    // A field with an unreadable type has no type site.
    const untyped = node.fields.filter(({ type }) => type === undefined);
    return [{ place: 'class', attributes: node.attributes }, ...sitesOf('field', untyped)];
  }
  if (node.kind === 'enum')
    return [{ place: 'enum', attributes: node.attributes }, ...sitesOf('enum-value', node.values)];
  return node.kind === 'test' ? [{ place: 'test', attributes: node.attributes }] : [];
}

function sitesOf(
  place: AttributePlace,
  members: ReadonlyArray<{ readonly attributes: readonly AttributeNode[] }>,
): readonly AttributeSite[] {
  return members.map(({ attributes }) => ({ place, attributes }));
}

/** Returns the definitions as one test sees them. `test`: the name of the test in its declaration. */
export function extendForTest(documents: readonly DocumentNode[], test: Span): readonly DocumentNode[] {
  const node = documents.flatMap(({ declarations }) => declarations).find((each) => isTest(each, test));
  return extendTypes(documents, node?.kind === 'test' ? node.types : [], test.file);
}

/**
 * Returns the definitions with the types of a `type_builder`, and with the fields and values that it adds to classes and
 * enums. `file`: the path of the document that gets the new types. The result contains no tests.
 */
export function extendTypes(
  documents: readonly DocumentNode[],
  types: readonly DeclarationNode[],
  file: string,
): readonly DocumentNode[] {
  const extensions = new Map(types.map((type) => [type.name.text, type]));
  const known = new Set<string>();
  const extended = documents.map((document) => {
    const declarations = document.declarations.filter(({ kind }) => kind !== 'test');
    return {
      ...document,
      declarations: declarations.map((declaration) => {
        const extension = extensions.get(declaration.name.text);
        if (extension === undefined || extension.kind !== declaration.kind) return declaration;
        known.add(declaration.name.text);
        return extendedBy(declaration, extension);
      }),
      // A mistake in this test is an error here.
      blocksNotServed: [],
    };
  });
  const added = types.filter(({ name }) => !known.has(name.text));
  return extended.map((document) =>
    document.file.path === file ? { ...document, declarations: [...document.declarations, ...added] } : document,
  );
}

function isTest(node: DeclarationNode, { file, start }: Span): node is TestNode {
  return node.kind === 'test' && node.name.span.file === file && node.name.span.start === start;
}

function extendedBy(declaration: DeclarationNode, extension: DeclarationNode): DeclarationNode {
  if (declaration.kind === 'class' && extension.kind === 'class') return extendedClass(declaration, extension);
  return declaration.kind === 'enum' && extension.kind === 'enum' ? extendedEnum(declaration, extension) : declaration;
}

function extendedClass(node: ClassNode, extension: ClassNode): ClassNode {
  return {
    ...node,
    fields: [...node.fields, ...extension.fields],
    attributes: [...node.attributes, ...extension.attributes],
  };
}

function extendedEnum(node: EnumNode, extension: EnumNode): EnumNode {
  return {
    ...node,
    values: [...node.values, ...extension.values],
    attributes: [...node.attributes, ...extension.attributes],
  };
}
