import type { AttributeNode, TypeNode } from '../1-parse/syntax-nodes.ts';
import type { Scope } from './scope.ts';

/** Where a type is written. */
export interface TypeSite {
  readonly type: TypeNode;
  /** Attributes of the field, parameter, alias or function that has the type. */
  readonly attributes: readonly AttributeNode[];
  readonly use: 'field' | 'parameter' | 'alias' | 'return';
}

/** Every place where definitions write a type, in source order (types of tests are not looked at). */
export function typeSites(scope: Scope): readonly TypeSite[] {
  return scope.declarations.flatMap((node): readonly TypeSite[] => {
    switch (node.kind) {
      case 'class':
        return node.fields.flatMap((field) => site('field', field.type, field.attributes));
      case 'alias':
        return site('alias', node.type, node.attributes);
      case 'function':
        return [
          ...node.parameters.flatMap((parameter) => site('parameter', parameter.type, parameter.attributes)),
          ...site('return', node.returns, node.returnAttributes),
        ];
      case 'template_string':
        return node.parameters.flatMap((parameter) => site('parameter', parameter.type, parameter.attributes));
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

/** Every type node of the sites, outer ones first. */
export function typesAt(sites: readonly TypeSite[]): readonly TypeNode[] {
  const types: TypeNode[] = [];
  for (const site of sites) walkType(site.type, (type) => types.push(type));
  return types;
}

/** Visits a type and all types inside of it. */
export function walkType(type: TypeNode, visit: (type: TypeNode) => void): void {
  visit(type);
  for (const inner of innerTypes(type)) walkType(inner, visit);
}

function innerTypes(type: TypeNode): readonly TypeNode[] {
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

function site(
  use: TypeSite['use'],
  type: TypeNode | undefined,
  attributes: readonly AttributeNode[],
): readonly TypeSite[] {
  return type === undefined ? [] : [{ type, attributes, use }];
}
