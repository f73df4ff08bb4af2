import { isStripped, type ReplyNode } from '../candidates/scan/reply-node.ts';

// --- words for nothing ----------------------------------------------------------------------------------------------------

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

// --- folding ---------------------------------------------------------------------------------------------------------------

/*
 * The differences between the spelling of a key or label in a reply and the declared one. Each function removes some of
 * them: two spellings are the same if they fold to the same string.
 */

/** Letters that Unicode does not decompose, and their spelling without marks. */
const LIGATURES: Readonly<Record<string, string>> = {
  ß: 'ss',
  ẞ: 'SS',
  æ: 'ae',
  Æ: 'AE',
  œ: 'oe',
  Œ: 'OE',
  ø: 'o',
  Ø: 'O',
  ł: 'l',
  Ł: 'L',
  đ: 'd',
  Đ: 'D',
};

/** Removes accents: `café` becomes `cafe`, `Straße` becomes `Strasse`. */
export function foldAccents(text: string): string {
  if (isAscii(text)) return text;
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[ßẞæÆœŒøØłŁđĐ]/gu, (letter) => LIGATURES[letter] ?? letter);
}

/** Removes accents and differences of letter case. */
export function foldCase(text: string): string {
  return foldAccents(text.toLowerCase());
}

/**
 * Also removes the separators of words and the marks around a key or label: `finalAnswer`, `Final Answer` and
 * `**final-answer**` become `finalanswer`.
 */
export function foldWords(text: string): string {
  return foldCase(withoutDecoration(text)).replace(/[\s_\-‐‑–\u200b]+/gu, '');
}

/** Also removes punctuation, except signs that are part of a name: `C#` and `A+` do not change. */
export function foldPunctuation(text: string): string {
  return foldCase(text).replace(/[^\p{L}\p{N}\p{M}\p{Sm}\p{Sc}\p{So}#%&@/]+/gu, '');
}

/** The marks that models put around a key or a label. */
const DECORATION = String.raw`[\s*_"'\x60“”‘’«»()[\]{}<>|:;,.!?。，！？：、\\\u200b]+`;
const BEFORE = new RegExp(String.raw`^(?:${DECORATION})?(?:(?:[-•#]+\s*|\d{1,3}[.)]\s+)(?:${DECORATION})?)?`, 'u');
const AFTER = new RegExp(`${DECORATION}$`, 'u');

/** The longest run of marks that is removed at the end, which keeps the search for it short. */
const MAX_TAIL = 20;

/** Removes the marks around a key or a label: `**1. name**:` becomes `name`. */
export function withoutDecoration(raw: string): string {
  const text = raw.replace(BEFORE, '');
  const from = Math.max(0, text.length - MAX_TAIL);
  return (text.slice(0, from) + text.slice(from).replace(AFTER, '')).replaceAll('\\', '');
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) if (text.charCodeAt(at) > 127) return false;
  return true;
}
