import { readFileSync } from 'node:fs';

/** The return types of the samples, in the definition language. */
export const TYPES: readonly string[] = [
  'Person',
  'Invoice',
  'Category',
  'Employee',
  'Sum',
  'Sentiment',
  'Department',
  'string',
  'string?',
  'int',
  'float',
  'bool',
  'null',
  '"yes" | "no"',
  '1 | 2 | "many"',
  'true',
  'Person?',
  'Circle | Rectangle',
  'string | Person',
  'string[]',
  'Reply[]',
  'int[][]',
  'map<string, Line>',
  'map<Department, string>',
  'Settings',
  'Filters',
  'Checked',
  'Document',
  'Contact',
  'Data',
];

const CLASSES = readFileSync(new URL('definitions.svc', import.meta.url), 'utf8');

/** Definitions with a function for each type, `F0` and so on, that calls `client`. */
export function definitionsWith(client: string): string {
  const functions = TYPES.map(
    (type, at) => `function F${at}() -> ${type} {\n  client Tested\n  prompt #"{{ _.role("user") }}Go"#\n}\n`,
  );
  return `${CLASSES}\n${client}\n${functions.join('')}`;
}

/** JSON text in which what fits on a line is on one line. */
export function readableJson(value: unknown, indent = ''): string {
  const line = JSON.stringify(value);
  if (typeof value !== 'object' || value === null || indent.length + line.length <= 120) return line;
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const parts = Object.entries(value).map(
    ([key, part]) => `${inner}${isList ? '' : `${JSON.stringify(key)}: `}${readableJson(part, inner)}`,
  );
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  return `${open}\n${parts.join(',\n')}\n${indent}${close}`;
}
