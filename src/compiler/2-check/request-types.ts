import { didYouMean } from '../../base/suggestion.ts';
import type { Span } from '../../diagnostics/span.ts';
import type { AttributeNode, DeclarationNode, TypeNode } from '../1-parse/syntax-nodes.ts';
import { eachDuplicate } from './each-duplicate.ts';
import { hasAttribute } from './node-values.ts';
import { walkType } from './walk-types.ts';

export interface RequestTypeFault {
  readonly span: Span;
  readonly message: string;
}

/**
 * The additional rules for the types of a request: they extend only `@@dynamic` definitions, use new names for
 * everything else, and read no environment variable of the server, because a prompt would reveal it to the client of the request.
 */
export function requestTypeFaults(
  types: readonly DeclarationNode[],
  declared: ReadonlyMap<string, DeclarationNode>,
): readonly RequestTypeFault[] {
  const faults: RequestTypeFault[] = [];
  eachDuplicate(
    types,
    ({ name }) => name.text,
    ({ name }) => faults.push({ span: name.span, message: `The name "${name.text}" has two definitions. Merge them.` }),
  );
  for (const node of types) {
    const message = isExtension(node) ? extensionFault(node, declared) : clash(node, declared);
    if (message !== undefined) faults.push({ span: node.name.span, message });
    for (const attribute of attributesIn(node)) {
      for (const value of attribute.arguments) {
        if (value.kind !== 'env') continue;
        const reason = `A request cannot read "env.${value.variable}" of the server. Write the text itself.`;
        faults.push({ span: value.span, message: reason });
      }
    }
  }
  return faults;
}

type Extensible = Extract<DeclarationNode, { readonly kind: 'class' | 'enum' }>;

function isExtension(node: DeclarationNode): node is Extensible {
  return (node.kind === 'class' || node.kind === 'enum') && node.extension === true;
}

function extensionFault(
  { kind, name }: Extensible,
  declared: ReadonlyMap<string, DeclarationNode>,
): string | undefined {
  const target = declared.get(name.text);
  if (target?.kind !== kind) {
    const names = [...declared.values()].flatMap((node) => (node.kind === kind ? [node.name.text] : []));
    const advice = didYouMean(name.text, names) || 'To define it, remove "dynamic".';
    return `The definitions have no ${kind} "${name.text}" to extend. ${advice}`;
  }
  if (hasAttribute(target.attributes, 'dynamic')) return undefined;
  return `The ${kind} "${name.text}" cannot be extended: its definition has no \`@@dynamic\`.`;
}

function clash({ kind, name }: DeclarationNode, declared: ReadonlyMap<string, DeclarationNode>): string | undefined {
  const other = declared.get(name.text);
  if (other === undefined) return undefined;
  const isDynamic = (other.kind === 'class' || other.kind === 'enum') && hasAttribute(other.attributes, 'dynamic');
  const advice = isDynamic && other.kind === kind ? `To extend it, write "dynamic ${kind}".` : 'Choose another name.';
  return `The definitions already have a ${WORDS[other.kind] ?? other.kind} "${name.text}". ${advice}`;
}

const WORDS: Partial<Record<DeclarationNode['kind'], string>> = { alias: 'type', workflow: 'function' };

function attributesIn(node: DeclarationNode): readonly AttributeNode[] {
  if (node.kind === 'alias') return [...node.attributes, ...attributesInType(node.type)];
  if (node.kind === 'enum') return [...node.attributes, ...node.values.flatMap(({ attributes }) => attributes)];
  if (node.kind !== 'class') return [];
  const ofFields = node.fields.flatMap(({ attributes, type }) => [
    ...attributes,
    ...(type === undefined ? [] : attributesInType(type)),
  ]);
  return [...node.attributes, ...ofFields];
}

function attributesInType(type: TypeNode): readonly AttributeNode[] {
  const found: AttributeNode[] = [];
  walkType(type, ({ attributes }) => found.push(...attributes));
  return found;
}
