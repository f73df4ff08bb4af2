import type { Variables } from '../../compile-options.ts';
import { dedent } from '../../1-parse/dedent.ts';
import type { AttributeNode, EntryNode, ValueNode } from '../../1-parse/syntax-nodes.ts';

/** The text of a value that is text: quoted, raw (dedented), or without quotes. */
export function textOf(value: ValueNode | undefined): string | undefined {
  if (value?.kind === 'string') return value.value;
  if (value?.kind === 'raw-string') return dedent(value.raw, value.contentStart, value.span.file).text;
  return undefined;
}

/**
 * The text that an attribute such as `@alias` or `@description` gives. A number or a word is text too, and a variable is
 * what it holds; undefined when it is not set.
 */
export function attributeText(
  attributes: readonly AttributeNode[],
  name: string,
  variables: Variables = {},
): string | undefined {
  const value = attributes.find((attribute) => attribute.name === name)?.arguments[0];
  if (value?.kind === 'number') return value.text;
  if (value?.kind === 'boolean') return String(value.value);
  if (value?.kind === 'null') return 'null';
  if (value?.kind === 'env') return variables[value.variable] || undefined;
  return textOf(value);
}

export function hasAttribute(attributes: readonly AttributeNode[], name: string): boolean {
  return attributes.some((attribute) => attribute.name === name);
}

/** The value of a key in a block; the first one, when it is there twice. */
export function valueOf(entries: readonly EntryNode[], key: string): ValueNode | undefined {
  return entries.find((entry) => entry.key.text === key)?.value;
}
