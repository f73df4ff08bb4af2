import { isStripped, type ReplyNode } from '../candidates/scan/reply-node.ts';

/** The spellings of null in programming languages and tables, in lower case. */
const NULL_WORDS = ['null', 'nil', 'none', 'undefined', 'nan', 'n/a'];

/** The words with which a model states that there is no value, in lower case. */
const WORDS: ReadonlySet<string> = new Set([
  ...NULL_WORDS,
  '',
  '-',
  '--',
  '–',
  '—',
  'n.a.',
  'na',
  'no data',
  'not applicable',
  'not available',
  'not given',
  'not known',
  'not mentioned',
  'not provided',
  'not specified',
  'not stated',
  'nothing',
  'unknown',
  'unspecified',
]);

/** The length of the longest word, with room for white space and a full stop. */
const LONGEST = 24;

/** True for null, an empty list or object, an empty string, and a word for nothing such as `n/a` or `None.`. */
export function isNothing(node: ReplyNode): boolean {
  if (node.kind === 'null') return true;
  if (!node.isScalar) return node.items.length === 0 && !isStripped(node);
  return isWordForNothing(node.text);
}

/** True for an empty text, and for a word such as `n/a` or `None.`. */
export function isWordForNothing(text: string): boolean {
  if (text.length > LONGEST && text.trim().length > LONGEST) return false;
  const word = text.trim().toLowerCase();
  return WORDS.has(word) || WORDS.has(word.replace(/\.$/u, ''));
}

/** True for a spelling of null in any letter case: `null`, `None`, `NIL`, `undefined`, `NaN`, `N/A`. */
export function isNullWord(text: string): boolean {
  return text.length <= LONGEST && NULL_WORDS.includes(text.toLowerCase());
}

/** True while a growing token can still turn out to be a spelling of null. */
export function canBecomeNull(text: string): boolean {
  if (text.length > LONGEST) return false;
  const start = text.toLowerCase();
  return NULL_WORDS.some((word) => word.startsWith(start));
}
