import type { DeclarationNode, EntryNode, ValueNode } from '../../compiler/1-parse/syntax-nodes.ts';
import { entryValue, providerOf } from '../../compiler/2-check/node-values.ts';
import type { OptionTable, Shape } from '../../schema/providers/option-shapes.ts';
import { PROVIDER_DESCRIPTIONS } from '../../schema/providers/providers.ts';
import { RETRY_POLICY } from '../../schema/providers/retry-policy.ts';
import { touches } from './places.ts';

/** A place in the settings of a client or retry policy: a key, or a value of a known shape. */
export type SettingPlace =
  | {
      readonly on: 'key';
      readonly key: EntryNode['key'];
      /** The settings that its block can have. */
      readonly table: OptionTable;
      readonly siblings: readonly EntryNode[];
    }
  | { readonly on: 'value'; readonly value: ValueNode; readonly shape: Shape; readonly path: readonly string[] };

/** Returns the setting at an offset. */
export function settingAt(owner: DeclarationNode, offset: number): SettingPlace | undefined {
  if (owner.kind === 'retry_policy') return inBlock(owner.entries, RETRY_POLICY, offset, []);
  if (owner.kind !== 'client') return undefined;
  const provider = providerOf(owner);
  const options = entryValue(owner.entries, 'options');
  if (provider === undefined || options?.kind !== 'map' || !touches(options.span, offset)) return undefined;
  return inBlock(options.entries, PROVIDER_DESCRIPTIONS[provider].options, offset, []);
}

function inBlock(
  siblings: readonly EntryNode[],
  table: OptionTable,
  offset: number,
  path: readonly string[],
): SettingPlace | undefined {
  for (const { key, value } of siblings) {
    if (touches(key.span, offset)) return { on: 'key', key, table, siblings };
    const shape = Object.hasOwn(table, key.text) ? table[key.text]?.shape : undefined;
    if (value !== undefined && shape !== undefined && touches(value.span, offset))
      return inValue(value, shape, offset, [...path, key.text]);
  }
  return undefined;
}

function inValue(value: ValueNode, shape: Shape, offset: number, path: readonly string[]): SettingPlace | undefined {
  const item = value.kind === 'list' ? value.items.find(({ span }) => touches(span, offset)) : undefined;
  if (shape.kind === 'list' && item !== undefined) return inValue(item, shape.item, offset, path);
  if (shape.kind === 'settings' && value.kind === 'map') return inBlock(value.entries, shape.settings, offset, path);
  if (value.kind === 'map') {
    const entry = value.entries.find((each) => touches(each.key.span, offset));
    const key = entry && { kind: 'string' as const, value: entry.key.text, quoted: true, span: entry.key.span };
    return key && { on: 'value', value: key, shape, path };
  }
  return { on: 'value', value, shape, path };
}
