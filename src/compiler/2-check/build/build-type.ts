import type { Constraint } from '../../../schema/constraint.ts';
import type { MediaKind, StreamAttributes, Type, TypeAttributes } from '../../../schema/type.ts';
import type { AttributeNode, TypeNode } from '../../1-parse/syntax-nodes.ts';
import type { CheckContext } from '../check-context.ts';
import { hasAttribute } from '../node-values.ts';

export const PRIMITIVES = ['string', 'int', 'float', 'bool', 'null'] as const;
export const MEDIA: readonly MediaKind[] = ['image', 'audio', 'pdf', 'video'];

/** Replaces a type that breaks a rule. It is unknown to the other rules, and svc never serves such a program. */
const PLACEHOLDER: Type = { kind: 'alias', name: '' };

/** Builds checked types from type nodes: resolves names, replaces aliases and flattens unions. */
export class TypeBuilder {
  readonly #context: CheckContext;
  readonly #aliases = new Map<string, Type>();

  constructor(context: CheckContext) {
    this.#context = context;
    // Builds the used aliases first, so that a long chain of aliases does not become a deep recursion.
    for (const name of context.aliases.usedFirst) this.alias(name);
  }

  /** `attributes` are those of the field, parameter, alias or function with the type. */
  build(node: TypeNode | undefined, attributes: readonly AttributeNode[] = []): Type {
    if (node === undefined) return PLACEHOLDER;
    return withAttributes(this.#shape(node), this.#attributes([...node.attributes, ...attributes]));
  }

  /** Returns the target of an alias. */
  alias(name: string): Type {
    const known = this.#aliases.get(name);
    if (known !== undefined) return known;
    const node = this.#context.scope.aliases.get(name);
    this.#aliases.set(name, PLACEHOLDER);
    const type = node === undefined ? PLACEHOLDER : this.build(node.type, node.attributes);
    this.#aliases.set(name, type);
    return type;
  }

  /** Returns the name of the alias if a type is an alias or an optional one (`Size?`); undefined for any other type. */
  aliasOf(node: TypeNode | undefined): string | undefined {
    if (node?.kind === 'optional') return this.aliasOf(node.type);
    return node?.kind === 'name' && this.#context.scope.aliases.has(node.name) ? node.name : undefined;
  }

  #shape(node: TypeNode): Type {
    switch (node.kind) {
      case 'name':
        return this.#named(node.name);
      case 'literal':
        return { kind: 'literal', value: node.value };
      case 'list':
        return { kind: 'list', element: this.build(node.element) };
      case 'map':
        return { kind: 'map', key: keyOf(this.build(node.key)), value: this.build(node.value) };
      case 'optional':
        return unionOf([this.build(node.type), { kind: 'null' }]);
      case 'union':
        return unionOf(node.members.map((member) => this.build(member)));
      case 'tuple':
      case 'broken':
        return PLACEHOLDER;
    }
  }

  #named(name: string): Type {
    const { scope, aliases } = this.#context;
    if (scope.classes.has(name)) return { kind: 'class', name };
    if (scope.enums.has(name)) return { kind: 'enum', name };
    if (aliases.recursive.has(name)) return { kind: 'alias', name };
    if (scope.aliases.has(name)) return this.alias(name);
    const primitive = PRIMITIVES.find((known) => known === name);
    if (primitive !== undefined) return { kind: primitive };
    const media = MEDIA.find((known) => known === name);
    return media === undefined ? PLACEHOLDER : { kind: 'media', media };
  }

  #attributes(nodes: readonly AttributeNode[]): TypeAttributes {
    const constraints = this.#context.templates.constraints(nodes);
    const stream: StreamAttributes = {
      ...(hasAttribute(nodes, 'stream.done') && { done: true as const }),
      ...(hasAttribute(nodes, 'stream.with_state') && { withState: true as const }),
    };
    return {
      ...(constraints.length > 0 && { constraints }),
      ...((stream.done ?? stream.withState) && { stream }),
    };
  }
}

/** Keys of JSON objects are strings, even where a definition declares numbers. */
function keyOf(type: Type): Type {
  return type.kind === 'int' || type.kind === 'float' || type.kind === 'bool' ? { kind: 'string' } : type;
}

function withAttributes(type: Type, more: TypeAttributes): Type {
  const constraints: readonly Constraint[] = [...(type.constraints ?? []), ...(more.constraints ?? [])];
  const stream = { ...type.stream, ...more.stream };
  return {
    ...type,
    ...(constraints.length > 0 && { constraints }),
    ...(Object.keys(stream).length > 0 && { stream }),
  };
}

/** Normalizes a union: flat, without duplicates, null last. Returns the only member if one is left. */
function unionOf(members: readonly Type[]): Type {
  const distinct = new Map<string, Type>();
  for (const member of members.flatMap(flatten)) distinct.set(JSON.stringify(member), member);
  const all = [...distinct.values()];
  const ordered = [...all.filter((member) => !isNull(member)), ...all.filter(isNull)];
  const only = ordered[0];
  return ordered.length === 1 && only !== undefined ? only : { kind: 'union', members: ordered };
}

function flatten(type: Type): readonly Type[] {
  const bare = type.constraints === undefined && type.stream === undefined;
  return type.kind === 'union' && bare ? type.members : [type];
}

function isNull(type: Type): boolean {
  return type.kind === 'null';
}
