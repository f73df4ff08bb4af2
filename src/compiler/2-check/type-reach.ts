import { dependenciesFirst } from '../../base/strongly-connected.ts';
import type { AttributeNode, DeclarationNode, DocumentNode, FunctionNode, TypeNode } from '../1-parse/syntax-nodes.ts';
import { innerTypes, referencedNames } from './walk-types.ts';

/** Returns the documents with only the definitions that these names reach: a large project has thousands of others. */
export function reachableDeclarations(
  documents: readonly DocumentNode[],
  names: readonly string[],
): readonly DocumentNode[] {
  const nodes = new Map(documents.flatMap(({ declarations }) => declarations.map((node) => [node.name.text, node])));
  const reached = new Set(names);
  for (const name of reached) for (const next of namesIn(nodes.get(name))) reached.add(next);
  return documents.map((document) => ({
    ...document,
    declarations: document.declarations.filter(({ name }) => reached.has(name.text)),
  }));
}

function namesIn(node: DeclarationNode | undefined): readonly string[] {
  if (node?.kind === 'alias') return referencedNames(node.type, true);
  const types = node?.kind === 'class' ? node.fields : node?.kind === 'function' ? typesOf(node) : [];
  return types.flatMap(({ type }) => (type === undefined ? [] : referencedNames(type, true)));
}

function typesOf({ parameters, returns }: FunctionNode): readonly { readonly type?: TypeNode }[] {
  return returns === undefined ? parameters : [...parameters, { type: returns }];
}

/** The characters of an attribute that count as one part. */
const CHARACTERS_PER_PART = 20;

/**
 * The sizes of expanded types: aliases, and classes too if `classes` is true, count with all of their parts wherever they
 * occur. Prompts expand types, and programs contain the targets of aliases. A type inside itself counts as one part.
 */
export class WrittenSizes {
  readonly #nodes: ReadonlyMap<string, DeclarationNode>;
  readonly #sizes = new Map<string, number>();

  constructor(documents: readonly DocumentNode[], { classes }: { readonly classes: boolean }) {
    const all = documents.flatMap(({ declarations }) => declarations);
    const written = all.filter(({ kind }) => kind === 'alias' || (classes && kind === 'class'));
    this.#nodes = new Map(written.map((node) => [node.name.text, node]));
    // Not recursive: a chain of classes can be longer than the stack is deep.
    const order = dependenciesFirst([...this.#nodes.keys()], (name) =>
      namesIn(this.#nodes.get(name)).filter((next) => this.#nodes.has(next)),
    );
    for (const name of order) this.#sizes.set(name, this.of(this.#nodes.get(name)));
  }

  /** The size of a definition without its name: the sizes of its fields, of its target, or of the return type. */
  of(node: DeclarationNode | undefined): number {
    if (node?.kind === 'function') return node.returns === undefined ? 1 : this.#sizeOf(node.returns);
    if (node?.kind === 'alias') return this.#sizeOf(node.type) + attributeSize(node.attributes);
    if (node?.kind !== 'class') return 1;
    return node.fields.reduce((total, { type }) => total + (type === undefined ? 1 : this.#sizeOf(type)), 1);
  }

  #sizeOf(type: TypeNode): number {
    const own = type.kind === 'name' ? (this.#sizes.get(type.name) ?? 1) : 1;
    const inner = innerTypes(type).reduce((total, part) => total + this.#sizeOf(part), 0);
    return own + inner + attributeSize(type.attributes);
  }
}

function attributeSize(attributes: readonly AttributeNode[]): number {
  return attributes.reduce((total, { span }) => total + Math.ceil((span.end - span.start) / CHARACTERS_PER_PART), 0);
}
