import type { AttributeNode, TypeNode } from '../1-parse/syntax-nodes.ts';
import type { DefinitionScope } from './scope.ts';

/** A type in a definition. */
export interface TypeSite {
  readonly type: TypeNode;
  /** Attributes of the field, parameter, alias or function that has the type. */
  readonly attributes: readonly AttributeNode[];
  readonly use: 'field' | 'parameter' | 'alias' | 'return';
}

/** Returns every place where a definition contains a type, in source order, except in tests. */
export function typeSites(scope: DefinitionScope): readonly TypeSite[] {
  return scope.declarations.flatMap((node): readonly TypeSite[] => {
    switch (node.kind) {
      case 'class':
        return node.fields.flatMap((field) => typeSite('field', field.type, field.attributes));
      case 'alias':
        return typeSite('alias', node.type, node.attributes);
      case 'function':
        return [
          ...node.parameters.flatMap((parameter) => typeSite('parameter', parameter.type, parameter.attributes)),
          ...typeSite('return', node.returns, node.returnAttributes),
        ];
      case 'template_string':
        return node.parameters.flatMap((parameter) => typeSite('parameter', parameter.type, parameter.attributes));
      case 'enum':
      case 'client':
      case 'retry_policy':
      case 'generator':
      case 'test':
      case 'workflow':
        return [];
    }
  });
}

/** Returns every type node of the sites, outer types first. */
export function typesAt(sites: readonly TypeSite[]): readonly TypeNode[] {
  const types: TypeNode[] = [];
  for (const { type } of sites) walkType(type, (inner) => types.push(inner));
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

/** Returns every place with attributes: blocks, their members, and the types in them. */
export function attributeSites(scope: DefinitionScope, types: readonly TypeSite[]): readonly AttributeSite[] {
  return [...blockSites(scope), ...sitesInTypes(types)].filter((site) => site.attributes.length > 0);
}

function blockSites(scope: DefinitionScope): readonly AttributeSite[] {
  return scope.declarations.flatMap((node): readonly AttributeSite[] => {
    if (node.kind === 'class') return [{ place: 'class', attributes: node.attributes }, ...untyped(node.fields)];
    if (node.kind === 'test') return [{ place: 'test', attributes: node.attributes }];
    if (node.kind !== 'enum') return [];
    const values = node.values.map((value) => ({ place: 'enum-value' as const, attributes: value.attributes }));
    return [{ place: 'enum', attributes: node.attributes }, ...values];
  });
}

/** Fields with an unreadable type, which have no type site. */
function untyped(
  fields: readonly { type?: unknown; attributes: readonly AttributeNode[] }[],
): readonly AttributeSite[] {
  return fields
    .filter((field) => field.type === undefined)
    .map(({ attributes }) => ({ place: 'field' as const, attributes }));
}

function sitesInTypes(types: readonly TypeSite[]): readonly AttributeSite[] {
  const sites: AttributeSite[] = [];
  for (const { use, type, attributes } of types) {
    sites.push({ place: use, attributes });
    walkType(type, (inner) => {
      if (inner.attributes.length > 0) sites.push({ place: 'inner-type', attributes: inner.attributes });
    });
  }
  return sites;
}
