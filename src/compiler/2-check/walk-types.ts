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
  for (const { type } of sites) walkType(type, (inner) => types.push(inner));
  return types;
}

/** Visits a type and all types inside of it. */
export function walkType(type: TypeNode, visit: (type: TypeNode) => void): void {
  visit(type);
  switch (type.kind) {
    case 'list':
      return walkType(type.element, visit);
    case 'optional':
      return walkType(type.type, visit);
    case 'map':
      walkType(type.key, visit);
      return walkType(type.value, visit);
    case 'union':
    case 'tuple':
      for (const member of type.members) walkType(member, visit);
      return;
    case 'name':
    case 'literal':
    case 'broken':
      return;
  }
}

function site(
  use: TypeSite['use'],
  type: TypeNode | undefined,
  attributes: readonly AttributeNode[],
): readonly TypeSite[] {
  return type === undefined ? [] : [{ type, attributes, use }];
}
