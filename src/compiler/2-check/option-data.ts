import type { Span } from '../../diagnostics/span.ts';
import {
  type OptionData,
  type OptionPath,
  type OptionViolation,
  UNKNOWN_TEXT,
} from '../../schema/providers/option-shapes.ts';
import type { EntryNode, ValueNode } from '../1-parse/syntax-nodes.ts';
import { stringOf } from './node-values.ts';

/** Returns the entries of a block as plain data, with the last value of a duplicate key. */
export function entryData(entries: readonly EntryNode[]): Readonly<Record<string, OptionData>> {
  return Object.fromEntries(entries.map((entry) => [entry.key.text, valueData(entry.value)]));
}

/** Returns the value as the runtime reads it. Environment variables and unreadable parts are unknown. */
function valueData(node: ValueNode | undefined): OptionData {
  switch (node?.kind) {
    case 'number':
    case 'boolean':
      return node.value;
    case 'string':
    case 'raw-string':
      return stringOf(node) ?? '';
    case 'expression':
      return `{{${node.source}}}`;
    case 'null':
      return null;
    case 'list':
      return node.items.map(valueData);
    case 'map':
      return entryData(node.entries);
    case 'env':
    case 'broken':
    case undefined:
      return UNKNOWN_TEXT;
  }
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
