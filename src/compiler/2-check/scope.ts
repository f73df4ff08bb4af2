import type { DeclarationNode, DocumentNode, TestNode } from '../1-parse/syntax-nodes.ts';
import { entryValue, listItems, stringOf } from './node-values.ts';

type Kind = DeclarationNode['kind'];
export type NodeOfKind<K extends Kind> = Extract<DeclarationNode, { readonly kind: K }>;

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
