import type { ReplyNode } from '../text/reply-node.ts';
import { listOf, valueOf } from './make-node.ts';

/*
 * The members of a list on lines of their own, without bullets: names of a few words, without the punctuation of sentences.
 */

const INTRODUCTION = /^[^\n]{1,300}[:：][*_]{0,2}$/u;
const ITEM = /^[\p{L}\p{N}"'“«(#@+&][^:=|{}[\]<>`]{0,80}$/u;
const SENTENCE = /[.!?…。！？]["'”)*_]{0,3}$/u;
const MARKER = /^(?:\(?\d{1,4}[.)]|[a-z][.)])\s/u;
const MAX_ITEM_WORDS = 8;
const MAX_ITEMS = 1000;
/** Without an introduction or a fence, two short lines can be one sentence. */
const FEWEST_ALONE = 3;

/**
 * Returns the list of the lines below an introduction, in a fence or alone; none if a line is not a name, or if the text goes on
 * with more than sentences.
 */
export function plainLineValues(text: string): readonly ReplyNode[] {
  const lines = text.split('\n').map((line) => line.trim());
  const rest = lines.slice(lines.findIndex((line) => line !== ''));
  const isIntroduced = INTRODUCTION.test(rest[0] ?? '');
  const body = isIntroduced ? rest.slice(rest.findIndex((line, at) => at > 0 && line !== '')) : rest;
  const fence = fenceOf(body);
  const { items, after } = fence ?? firstItems(body);
  const fewest = isIntroduced || fence !== undefined ? 2 : FEWEST_ALONE;
  if (items.length < fewest || items.length > MAX_ITEMS) return [];
  const names = items.map((line) => line.replace(/,$/u, ''));
  const isList = names.every(isItem) && !isWrapped(names) && after.every((line) => line === '' || SENTENCE.test(line));
  return isList ? [listOf(names.map((name) => valueOf(name)))] : [];
}

interface Items {
  readonly items: readonly string[];
  /** The lines after them. */
  readonly after: readonly string[];
}

/** Returns the lines up to the first empty one; if one follows each of the first two, those up to the first sentence. */
function firstItems(lines: readonly string[]): Items {
  const isSpaced = lines[1] === '' && lines[3] === '';
  const found = lines.findIndex((line) => (isSpaced ? SENTENCE.test(line) : line === ''));
  const end = found < 0 ? lines.length : found;
  return { items: lines.slice(0, end).filter((line) => line !== ''), after: lines.slice(end) };
}

function fenceOf(lines: readonly string[]): Items | undefined {
  if (!/^```(?:text|txt|plaintext|plain)?$/u.test(lines[0] ?? '')) return undefined;
  const end = lines.indexOf('```', 1);
  if (end < 0) return undefined;
  return { items: lines.slice(1, end).filter((line) => line !== ''), after: lines.slice(end + 1) };
}

function isItem(line: string): boolean {
  return ITEM.test(line) && !SENTENCE.test(line) && !MARKER.test(line) && line.split(/\s+/u).length <= MAX_ITEM_WORDS;
}

/** True for lines of which only the first begins with a capital: they are one sentence. */
function isWrapped([first = '', ...others]: readonly string[]): boolean {
  return /^\p{Lu}/u.test(first) && others.every((line) => /^\p{Ll}/u.test(line));
}
