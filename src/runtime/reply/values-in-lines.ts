import { lineAfter, lineBefore, roleInSentence, roleOfLabel, type CueSpan } from './cues.ts';
import type { ReplyType } from './reply-type.ts';
import { placeBetween } from './surroundings.ts';

/*
 * Values that are only part of a line of structured text: in the prose of an item, or after a key.
 */

/** True for a value that can be a part of a line of structured text, which the tolerant parser compares with the whole text. */
export function isInLine(text: string, value: CueSpan, type: ReplyType): boolean {
  if (type.hasTextItems && isInItem(text, value) && hasItems(text)) return true;
  return !type.takesText && areMembers(text, [value], type);
}

// --- in the items of a list --------------------------------------------------------------------------------------------

const MARKER = /^[ \t]*(?:[-*+•]|\d{1,4}[.)])[ \t]+/u;
const ITEM_LINE = new RegExp(String.raw`${MARKER.source}\S`, 'gmu');

/** True for a text with at least two lines that have bullets or numbers. */
export function hasItems(text: string): boolean {
  const items = text.matchAll(ITEM_LINE);
  return items.next().done !== true && items.next().done !== true;
}

/** True for a value in the prose of an item whose words do not introduce it as the answer: `1. Limit the range to [0, 100]`. */
export function isInItem(text: string, { from, to }: CueSpan): boolean {
  const before = lineBefore(text, from);
  const marker = MARKER.exec(before)?.[0];
  if (marker === undefined || text.slice(from, to).includes('\n')) return false;
  const words = before.slice(marker.length);
  const after = lineAfter(text, to);
  return placeBetween(words, after) === 'sentence' && roleInSentence(words, after) !== 'answer';
}

// --- as members of keys ------------------------------------------------------------------------------------------------

/** A key and its colon at the beginning of a line, optionally after a bullet; emphasis can end before or after the colon. */
const KEY =
  /^[ \t]*(?:[-*+•][ \t]+)?[*_`"]{0,3}([\p{L}_$][\p{L}\p{N}_$ -]{0,60}?)[*_`"]{0,3}[ \t]{0,8}:[*_]{0,2}(?=\s|$)[ \t]*/u;

/**
 * True if every value is the member of a key that is a field, or of a list below such a key. The label of an answer is not a
 * key.
 */
export function areMembers(text: string, values: readonly CueSpan[], { plan }: ReplyType): boolean {
  if (!values.every((value) => isAfterMark(text, value))) return false;
  let start = 0;
  let next = 0;
  /** The indent of the key above. */
  let above = Infinity;
  for (const line of text.split('\n')) {
    const [head, key] = keyOf(line);
    const isMember = key !== undefined && plan.hasField(key);
    const indent = line.length - line.trimStart().length;
    const isBelow = indent > above || (indent === above && key === undefined && MARKER.test(line));
    const end = start + line.length;
    for (let value = values[next]; value !== undefined && value.from <= end; value = values[next]) {
      if (!isMember && !isBelow) return false;
      next += 1;
    }
    if (!isBelow && line.trim() !== '') above = isMember && head.length === line.length ? indent : Infinity;
    start = end + 1;
  }
  return true;
}

/** True for a value on one line with at most a key or a marker before it. */
function isAfterMark(text: string, { from, to }: CueSpan): boolean {
  const before = lineBefore(text, from);
  const head = keyOf(before)[0] || (MARKER.exec(before)?.[0] ?? '');
  return before.slice(head.length).trim() === '' && !text.slice(from, to).includes('\n');
}

/** Returns the beginning of a line up to its value, and its key. */
function keyOf(line: string): readonly [head: string, key: string | undefined] {
  const [head = '', key] = KEY.exec(line) ?? [];
  return key === undefined || roleOfLabel(head) === 'answer' ? ['', undefined] : [head, key.trim()];
}
