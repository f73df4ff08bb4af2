/**
 * A text, or its parts in order. Long texts that grow and are written again and again are not joined: V8 would have to copy all of
 * a text to write it, and a copy of more than 100 KB costs far more than writing its parts.
 */
export type TextParts = string | readonly TextParts[];

/** Shorter parts are joined with their neighbors. */
const SHORT_PART = 1024;

/** Returns the parts of a text as one list. */
export function partsOf(text: TextParts): readonly string[] {
  const parts: string[] = [];
  const rest = gather(text, parts, '');
  if (rest !== '') parts.push(rest);
  return parts;
}

/** Appends parts. Returns the short ones at the end, which are not appended yet. `before`: those before the text. */
function gather(text: TextParts, parts: string[], before: string): string {
  let short = before;
  if (typeof text !== 'string') for (const each of text) short = gather(each, parts, short);
  else if (text.length < SHORT_PART) short += text;
  else {
    if (short !== '') parts.push(short);
    parts.push(text);
    short = '';
  }
  return short;
}

/** Returns the number of UTF-16 units in all parts. */
export function lengthOf(parts: readonly string[]): number {
  let length = 0;
  for (const part of parts) length += part.length;
  return length;
}

/** Returns the whole text, which V8 copies together when something reads it. */
export function joined(parts: readonly string[]): string {
  let text = '';
  for (const part of parts) text += part;
  return text;
}

/** True for the same text, whatever its parts. */
export function isSameText(parts: readonly string[], others: readonly string[]): boolean {
  return lengthOf(parts) === lengthOf(others) && joined(parts) === joined(others);
}
