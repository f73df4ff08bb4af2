import type { JsonObject, JsonValue } from '../../../base/json.ts';
import type { EntryNode, ValueNode } from '../../1-parse/syntax-nodes.ts';
import { textOf } from './text-of.ts';

/** The entries as a JSON object; undefined when one of them is not plain JSON. */
export function plainEntries(entries: readonly EntryNode[]): JsonObject | undefined {
  const values = entries.map((entry) => [entry.key.text, plainValue(entry.value)] as const);
  const plain = values.filter((pair): pair is readonly [string, JsonValue] => pair[1] !== undefined);
  return plain.length === values.length ? Object.fromEntries(plain) : undefined;
}

function plainValue(node: ValueNode | undefined): JsonValue | undefined {
  switch (node?.kind) {
    case 'string':
    case 'raw-string':
      return textOf(node);
    case 'number':
    case 'boolean':
      return node.value;
    case 'null':
      return null;
    case 'list':
      return plainItems(node.items);
    case 'map':
      return plainEntries(node.entries);
    case 'env':
    case 'expression':
    case 'broken':
    case undefined:
      return undefined;
  }
}

function plainItems(items: readonly ValueNode[]): readonly JsonValue[] | undefined {
  const values = items.map(plainValue).filter((value) => value !== undefined);
  return values.length === items.length ? values : undefined;
}
