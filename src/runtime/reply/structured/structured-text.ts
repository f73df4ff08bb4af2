import type { ReplyNode } from '../text/reply-node.ts';
import { outlineValues } from './outline.ts';
import { csvValues, tableValues } from './tables.ts';
import { xmlValues } from './xml.ts';
import { yamlValues } from './yaml.ts';

/** A value that a reply states without the brackets of JSON. */
export interface StructuredValue {
  readonly node: ReplyNode;
  /** The notation in words, for flags. */
  readonly notation: string;
}

/**
 * Returns the readings of a reply without JSON as structured text: a list of lines, keys and values line by line, a
 * table, CSV, YAML, or XML. They are guesses: a caller takes one only if it matches a type.
 */
export function structuredValues(text: string): readonly StructuredValue[] {
  if (JSON_LINE.test(text)) return [];
  return [
    ...tableValues(text).map((node) => ({ node, notation: 'a table' })),
    ...csvValues(text).map((node) => ({ node, notation: 'CSV' })),
    ...yamlValues(text).map((node) => ({ node, notation: 'YAML' })),
    ...xmlValues(text).map((node) => ({ node, notation: 'XML' })),
    ...outlineValues(text).map((node) => ({ node, notation: 'lines of text' })),
  ];
}

/** A line of JSON that spans several lines: an open bracket, or a key in double quotes whose value ends in a comma. */
const JSON_LINE = /^[ \t]*(?:(?:"[^"\n]{1,100}"[ \t]*:[ \t]*)?[[{][ \t]*|"[^"\n]{1,100}"[ \t]*:[^\n]*,[ \t]*)$/mu;
