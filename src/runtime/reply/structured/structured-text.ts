import type { ReplyNode } from '../text/reply-node.ts';
import { csvValues } from './csv.ts';
import { hasElements, hasInlineElements, htmlLines, isErrorPage } from './html.ts';
import { fencedMembers, outlineValues } from './outline.ts';
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

type Reader = readonly [notation: string, read: (text: string) => readonly ReplyNode[]];

const XML: Reader = ['XML', xmlValues];
const FENCED: Reader = ['lines of text', fencedMembers];

const READERS: readonly Reader[] = [
  ['a table', tableValues],
  ['CSV', csvValues],
  ['an S-expression', sExpressionValues],
  ['sections', sectionValues],
  ['pairs', pairValues],
  ['YAML', yamlValues],
  XML,
  ['lines of text', outlineValues],
  ['lines of text', plainLineValues],
];

const TEXT_READERS: readonly Reader[] = READERS.filter((reader) => reader !== XML);

/**
 * Returns the readings of a reply without JSON as structured text: a list of lines, keys and values line by line or
 * several on a line, a table, CSV, sections (TOML), YAML, XML or HTML. They are guesses: a caller takes one only if it matches a type.
 */
export function structuredValues(text: string): readonly StructuredValue[] {
  if (isErrorPage(text)) return [];
  return [...readBy(FENCED, text), ...markedValues(text)];
}

/** Returns the readings of a text that can have tags of HTML. */
function markedValues(text: string): readonly StructuredValue[] {
  const lines = htmlLines(text);
  if (lines === undefined) return valuesIn(text, hasInlineElements(text) ? TEXT_READERS : READERS);
  if (hasInlineElements(text)) return [...valuesIn(text, TEXT_READERS), ...valuesIn(lines)];
  if (hasElements(text)) return [...valuesIn(text), ...valuesIn(lines)];
  return [...readBy(XML, text), ...valuesIn(lines), ...valuesIn(text)];
}

function valuesIn(text: string, readers = READERS): readonly StructuredValue[] {
  return JSON_LINE.test(text) ? [] : readers.flatMap((reader) => readBy(reader, text));
}

function readBy([notation, read]: Reader, text: string): readonly StructuredValue[] {
  return read(text).map((node) => ({ node, notation }));
}

/** A line of JSON that spans several lines: an open bracket, or a key in double quotes whose value ends in a comma. */
const JSON_LINE = /^[ \t]*(?:(?:"[^"\n]{1,100}"[ \t]*:[ \t]*)?[[{][ \t]*|"[^"\n]{1,100}"[ \t]*:[^\n]*,[ \t]*)$/mu;
