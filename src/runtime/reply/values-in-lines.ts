import { lineAfter, lineBefore, roleInSentence, type CueSpan } from './cues.ts';
import { placeBetween } from './surroundings.ts';

/*
 * Values that are only a part of a line of structured text: of the prose of an item, or the member of a key.
 */

// --- in the items of a list --------------------------------------------------------------------------------------------

const MARKER = /^[ \t]*(?:[-*+•]|\d{1,4}[.)])[ \t]+/u;
const ITEM_LINE = /^[ \t]*(?:[-*+•]|\d{1,4}[.)])[ \t]+\S/gmu;

/** True for a text with at least two lines that have bullets or numbers. */
export function hasItems(text: string): boolean {
  const items = text.matchAll(ITEM_LINE);
  return items.next().done !== true && items.next().done !== true;
}

/** True for a value between words of an item, which do not introduce it as the answer: `1. Limit the range to [0, 100]`. */
export function isInItem(text: string, { from, to }: CueSpan): boolean {
  const before = lineBefore(text, from);
  const marker = MARKER.exec(before)?.[0];
  if (marker === undefined || text.slice(from, to).includes('\n')) return false;
  const words = before.slice(marker.length);
  const after = lineAfter(text, to);
  return placeBetween(words, after) === 'sentence' && roleInSentence(words, after) !== 'answer';
}
