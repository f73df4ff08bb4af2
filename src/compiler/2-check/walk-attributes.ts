import type { AttributeNode } from '../1-parse/syntax-nodes.ts';
import type { Scope } from './scope.ts';
import { type TypeSite, walkType } from './walk-types.ts';

/** What a group of attributes stands on. `inner-type`: on a type inside of another one. */
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
  /** All attributes of that place, never none. */
  readonly attributes: readonly AttributeNode[];
}

/** Every place that has attributes: blocks and their members, and the types that are written in them. */
export function attributeSites(scope: Scope, types: readonly TypeSite[]): readonly AttributeSite[] {
  return [...blockSites(scope), ...sitesInTypes(types)].filter((site) => site.attributes.length > 0);
}

function blockSites(scope: Scope): readonly AttributeSite[] {
  return scope.declarations.flatMap((node): readonly AttributeSite[] => {
    if (node.kind === 'class') return [{ place: 'class', attributes: node.attributes }, ...untyped(node.fields)];
    if (node.kind === 'test') return [{ place: 'test', attributes: node.attributes }];
    if (node.kind !== 'enum') return [];
    const values = node.values.map((value) => ({ place: 'enum-value' as const, attributes: value.attributes }));
    return [{ place: 'enum', attributes: node.attributes }, ...values];
  });
}

/** Fields whose type could not be read: the sites of types do not have them. */
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
