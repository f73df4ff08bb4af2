import type { ReplyNode } from '../text/reply-node.ts';

/** The words with which a model states that there is no value, in lower case. */
const WORDS: ReadonlySet<string> = new Set([
  '',
  '-',
  '--',
  '–',
  '—',
  'n/a',
  'na',
  'nil',
  'none',
  'not applicable',
  'not available',
  'nothing',
  'null',
  'undefined',
]);

/** The length of the longest word, with room for white space and a full stop. */
const LONGEST = 24;

/** True for null, an empty list or object, an empty string, and a word for nothing such as `n/a` or `None.`. */
export function isNothing(node: ReplyNode): boolean {
  if (node.kind === 'null') return true;
  if (!node.isScalar) return node.items.length === 0;
  return isWordForNothing(node.text);
}

/** True for an empty text, and for a word such as `n/a` or `None.`. */
export function isWordForNothing(text: string): boolean {
  if (text.length > LONGEST && text.trim().length > LONGEST) return false;
  return WORDS.has(text.trim().replace(/\.$/u, '').toLowerCase());
}
