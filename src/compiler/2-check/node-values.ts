import { type OptionEntry, type OptionValue, resolveValue } from '../../schema/client.ts';
import type { Variables } from '../compile-options.ts';
import { dedent } from '../1-parse/dedent.ts';
import type { AttributeNode, ClientNode, EntryNode, ValueNode } from '../1-parse/syntax-nodes.ts';
import type { Span } from '../../diagnostics/span.ts';
import {
  type OptionData,
  type OptionPath,
  type OptionViolation,
  UNKNOWN_TEXT,
} from '../../schema/providers/option-shapes.ts';
import { providerNamed, type Provider } from '../../schema/providers/providers.ts';

/** Returns the string of a quoted, raw (dedented) or unquoted value; undefined for other values. */
export function stringOf(value: ValueNode | undefined): string | undefined {
  if (value?.kind === 'string') return value.value;
  if (value?.kind === 'raw-string') return dedent(value.raw, value.contentStart, value.span.file).text;
  return undefined;
}

/** Returns the provider of a client, if the definition names one that svc knows. */
export function providerOf({ entries }: ClientNode): Provider | undefined {
  return providerNamed(stringOf(entryValue(entries, 'provider')) ?? '');
}

/**
 * Returns the string argument of an attribute such as `@alias` or `@description`. Numbers and words count as strings.
 * An environment variable is its value, or undefined if it is not set.
 */
export function attributeString(
  attributes: readonly AttributeNode[],
  name: string,
  variables: Variables = {},
): string | undefined {
  const value = attributes.find((attribute) => attribute.name === name)?.arguments[0];
  if (value?.kind === 'number') return value.text;
  if (value?.kind === 'boolean') return String(value.value);
  if (value?.kind === 'null') return 'null';
  if (value?.kind === 'env') return variables[value.variable] || undefined;
  return stringOf(value);
}

export function hasAttribute(attributes: readonly AttributeNode[], name: string): boolean {
  return attributes.some((attribute) => attribute.name === name);
}

/** True for `@assert` and `@check`. */
export function isConstraint(node: AttributeNode): node is AttributeNode & { readonly name: 'assert' | 'check' } {
  return node.name === 'assert' || node.name === 'check';
}

/** Returns the items of a list, or the value itself: `functions F` means `functions [F]`. */
export function listItems(value: ValueNode | undefined): readonly ValueNode[] {
  if (value === undefined) return [];
  return value.kind === 'list' ? value.items : [value];
}

/** Returns the value of a key in a block, the last one if the key appears twice. */
export function entryValue(entries: readonly EntryNode[], key: string): ValueNode | undefined {
  return entries.findLast((entry) => entry.key.text === key)?.value;
}

/** Returns the entries that apply: for a key that appears twice, only the last entry, at the position of the first. */
export function lastEntries(entries: readonly EntryNode[]): readonly EntryNode[] {
  return [...new Map(entries.map((entry) => [entry.key.text, entry])).values()];
}

/** Returns whether a test can pass the value: expressions and template calls are not values. */
export function isReadable(value: ValueNode | undefined): boolean {
  switch (value?.kind) {
    case 'list':
      return value.items.every(isReadable);
    case 'map':
      return value.broken !== true && value.entries.every((entry) => isReadable(entry.value));
    case 'expression':
    case 'broken':
    case undefined:
      return false;
    default:
      return true;
  }
}

/** Calls `found` for each item whose key an earlier item has, with the first item of that key. */
export function eachDuplicate<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  found: (item: T, first: T) => void,
): void {
  const seen = new Map<string, T>();
  for (const item of items) {
    const key = keyOf(item);
    const first = seen.get(key);
    if (first === undefined) seen.set(key, item);
    else found(item, first);
  }
}

/** Builds `key value`. `unreadable` takes the place of a value that is not readable. */
export function buildEntry(entry: EntryNode, unreadable: OptionValue = NULL_VALUE): OptionEntry {
  return { key: entry.key.text, value: buildValue(entry.value, unreadable) };
}

const NULL_VALUE: OptionValue = { kind: 'scalar', value: null };

function buildValue(node: ValueNode | undefined, unreadable: OptionValue): OptionValue {
  switch (node?.kind) {
    case 'number':
    case 'boolean':
      return { kind: 'scalar', value: node.value };
    case 'env':
      return { kind: 'env', variable: node.variable };
    case 'list':
      return { kind: 'list', items: node.items.map((item) => buildValue(item, unreadable)) };
    case 'map':
      return { kind: 'map', entries: lastEntries(node.entries).map((entry) => buildEntry(entry, unreadable)) };
    case 'expression':
      return { kind: 'scalar', value: `{{${node.source}}}` };
    case 'string':
    case 'raw-string':
      return { kind: 'scalar', value: stringOf(node) ?? '' };
    case 'null':
      return NULL_VALUE;
    case 'broken':
    case undefined:
      return unreadable;
  }
}

/**
 * Returns the entries of a block as plain data, with the last value of a duplicate key, as the runtime reads it. Environment
 * variables and unreadable parts are unknown.
 */
export function entryData(entries: readonly EntryNode[]): Readonly<Record<string, OptionData>> {
  const unknown = { kind: 'env', variable: '' } as const;
  const built = entries.map((entry) => buildEntry(entry, unknown));
  return Object.fromEntries(built.map(({ key, value }) => [key, resolveValue(value, () => UNKNOWN_TEXT)]));
}

/** The position of a violation. */
export interface OptionSite {
  /** The last name of the path, with the indexes after it: `allowed_roles[1]`. */
  readonly name: string;
  readonly span: Span;
}

/** The violations of a value; the others are violations of a key. */
const OF_VALUES: ReadonlySet<OptionViolation['kind']> = new Set(['value', 'empty', 'incomplete', 'role']);

/** Returns undefined if the option, or a value around it, is unreadable: it already has a diagnostic. */
export function siteOf(entries: readonly EntryNode[], { path, kind }: OptionViolation): OptionSite | undefined {
  let level: ValueNode | undefined;
  let members = entries;
  let span: Span | undefined;
  for (const step of path) {
    if (typeof step === 'number') level = level?.kind === 'list' ? level.items[step] : undefined;
    else {
      const entry = members.findLast(({ key }) => key.text === step);
      level = entry?.value;
      span = entry?.key.span;
    }
    if (level === undefined || level.kind === 'broken') return undefined;
    members = level.kind === 'map' ? level.entries : [];
    if (typeof step === 'number') span = level.span;
  }
  if (level === undefined || span === undefined) return undefined;
  return { name: nameOf(path), span: OF_VALUES.has(kind) ? level.span : span };
}

function nameOf(path: OptionPath): string {
  const last = path.findLastIndex((step) => typeof step === 'string');
  return path.slice(last).reduce<string>((name, step) => (typeof step === 'number' ? `${name}[${step}]` : step), '');
}
