import type { ReplyNode } from '../text/reply-node.ts';
import { csvValues } from './csv.ts';
import { hasElements, htmlLines, isErrorPage } from './html.ts';
import { outlineValues } from './outline.ts';
import { pairValues } from './pairs.ts';
import { plainLineValues } from './plain-lines.ts';
import { sExpressionValues } from './s-expressions.ts';
import { sectionValues } from './sections.ts';
import { tableValues } from './tables.ts';
import { xmlValues } from './xml.ts';
import { yamlValues } from './yaml.ts';

/** A value that a reply states without the brackets of JSON. */
export interface StructuredValue {
  readonly node: ReplyNode;
  /** The notation in words, for flags. */
  readonly notation: string;
}

/**
 * Returns the readings of a reply without JSON as structured text: a list of lines, keys and values line by line or
 * several on a line, a table, CSV, sections (TOML), YAML, XML or HTML. They are guesses: a caller takes one only if it matches a type.
 */
export function structuredValues(text: string): readonly StructuredValue[] {
  if (isErrorPage(text)) return [];
  const lines = htmlLines(text);
  if (lines === undefined) return valuesIn(text);
  if (hasElements(text)) return [...valuesIn(text), ...valuesIn(lines)];
  return [...xmlOf(text), ...valuesIn(lines), ...valuesIn(text)];
}

function valuesIn(text: string): readonly StructuredValue[] {
  if (JSON_LINE.test(text)) return [];
  return [
    ...tableValues(text).map((node) => ({ node, notation: 'a table' })),
    ...csvValues(text).map((node) => ({ node, notation: 'CSV' })),
    ...sExpressionValues(text).map((node) => ({ node, notation: 'an S-expression' })),
    ...sectionValues(text).map((node) => ({ node, notation: 'sections' })),
    ...pairValues(text).map((node) => ({ node, notation: 'pairs' })),
    ...yamlValues(text).map((node) => ({ node, notation: 'YAML' })),
    ...xmlOf(text),
    ...outlineValues(text).map((node) => ({ node, notation: 'lines of text' })),
    ...plainLineValues(text).map((node) => ({ node, notation: 'lines of text' })),
  ];
}

function xmlOf(text: string): readonly StructuredValue[] {
  return xmlValues(text).map((node) => ({ node, notation: 'XML' }));
}

/** A line of JSON that spans several lines: an open bracket, or a key in double quotes whose value ends in a comma. */
const JSON_LINE = /^[ \t]*(?:(?:"[^"\n]{1,100}"[ \t]*:[ \t]*)?[[{][ \t]*|"[^"\n]{1,100}"[ \t]*:[^\n]*,[ \t]*)$/mu;
