import type { ValueNode } from '../text/value-node.ts';

/** A value as text, for types that want a string: objects as `{a: 1}`, lists as `[x, y]`, scalars as written. */
export function displayText(node: ValueNode): string {
  if (node.kind === 'list') return `[${node.items.map(displayText).join(', ')}]`;
  if (node.kind !== 'object') return node.text;
  const members = node.items.map((item, index) => `${node.keys[index] ?? ''}: ${displayText(item)}`);
  return `{${members.join(', ')}}`;
}

/** A value in words, for messages; never long. */
export function describeValue(node: ValueNode): string {
  switch (node.kind) {
    case 'list':
      return `a list of ${node.items.length}`;
    case 'object':
      return 'an object';
    case 'string':
    case 'bare':
      return `the text ${JSON.stringify(shorten(node.text))}`;
    case 'number':
    case 'boolean':
    case 'null':
      return shorten(node.text);
  }
}

const SHORT = 60;

function shorten(text: string): string {
  return text.length <= SHORT ? text : `${text.slice(0, SHORT)}…`;
}
