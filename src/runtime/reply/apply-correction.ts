import { foldSeparators } from './coerce/folding.ts';
import type { StatedCorrection } from './corrections.ts';
import { bareNode } from './structured/make-node.ts';
import { ReplyNode, stringNode } from './text/reply-node.ts';

/*
 * Corrections in words that state all that a change needs: one field by its name, its present value, and the value that it
 * should have (`age should be 36, not 35`). Everything less is a guess.
 */

/** A value with one of its scalars replaced, and the end of the sentence that states so. */
export interface Correction {
  readonly node: ReplyNode;
  readonly key: string;
  readonly to: number;
}

/** Applies the sentence of a correction to the value before it, which ends at `to`; undefined if it does not state the whole change. */
export function applyCorrection(
  node: ReplyNode,
  text: string,
  to: number,
  { from }: StatedCorrection,
): Correction | undefined {
  const start = from + (LABEL_LINE.exec(text.slice(from, from + MAX_SENTENCE))?.[0].length ?? 0);
  const tail = text.slice(start, start + MAX_SENTENCE);
  // `The age is wrong. It should be 36, not 35.`
  for (const end of [...[...tail.matchAll(END)].map(({ index }) => index), tail.length].slice(0, 2)) {
    const stated = statedChange(tail.slice(0, end));
    if (stated === undefined) continue;
    const subject = text.slice(Math.max(to, start - MAX_SENTENCE), start) + stated.subject;
    const named = keyAtEnd(SUBJECT_WRONG.exec(subject)?.[1] ?? subject.replace(VERB, ''), node);
    if (named === undefined || named.item.text.trim() !== stated.old || stated.old === stated.value) return undefined;
    const item = named.item.kind === 'string' ? stringNode(stated.value) : bareNode(stated.value);
    return { node: replaced(node, named.item, item), key: named.name, to: start + end };
  }
  return undefined;
}

/** `Corrections:` on a line of its own. */
const LABEL_LINE = /^[^:\n]{1,60}[:：][*_ ]*\n\s*/u;
const MAX_SENTENCE = 300;
const END = /\n|[.!?](?=\s|$)/gu;

interface Change {
  /** The words before the verb. */
  readonly subject: string;
  readonly old: string;
  readonly value: string;
}

const VALUE = String.raw`("[^"\n]{1,100}"|\x60[^\x60\n]{1,100}\x60|[^\s,;:()"\x60→](?:(?:(?![.!?]\s|\s(?:should|must)\b)[^,;:()"\x60→\n]){0,60}[^\s,;:()"\x60→])?)`;
const CONTRASTED = new RegExp(
  String.raw`\s(?:(?:should|must|ought to|needs to|has to)(?: actually| instead| really)? (?:be|have been|read)|(?:is|was)(?: actually| really| in fact)?)\s+${VALUE}\s*,?\s+(?:and )?(?:not|instead of|rather than)\s+${VALUE}$`,
  'iu',
);
const FROM_TO = new RegExp(String.raw`\s+from\s+${VALUE}\s+to\s+${VALUE}$`, 'iu');
const ARROW = new RegExp(String.raw`\s*[:：]\s*${VALUE}\s*(?:→|->|=>)\s*${VALUE}$`, 'iu');

function statedChange(sentence: string): Change | undefined {
  const text = sentence.trimEnd().replace(/\*+$/u, '');
  const contrasted = CONTRASTED.exec(text);
  const [whole, first, second] = contrasted ?? FROM_TO.exec(text) ?? ARROW.exec(text) ?? [];
  if (whole === undefined || first === undefined || second === undefined) return undefined;
  const [value, old] = contrasted === null ? [second, first] : [first, second];
  return { subject: text.slice(0, -whole.length), old: withoutMarks(old), value: withoutMarks(value) };
}

function withoutMarks(text: string): string {
  return text.replace(/^(["`*']{1,3})(.*)\1$/u, '$2').trim();
}

/** `the limit is wrong: it` */
const SUBJECT_WRONG =
  /(.{0,80}?)\s+(?:is|was|looks)\s+(?:wrong|incorrect|off|inaccurate|mistaken|too (?:high|low|large|small))\W{0,4}\s*(?:it|that|this)\s*$/iu;
/** `the limit should be changed` */
const VERB =
  /\s+(?:(?:has|have|had) been|should be|must be|was|is|to be)?\s*(?:changed?|corrected|updated?|fixed)\s*$/iu;

interface NamedItem {
  readonly name: string;
  readonly item: ReplyNode;
}

const MAX_KEY_WORDS = 4;

/** Returns the scalar whose key the phrase ends with; undefined if the value has none with this key, or several. */
function keyAtEnd(phrase: string, node: ReplyNode): NamedItem | undefined {
  const words = phrase.split(/[\s"'`*.[\]:,]+/u).filter((word) => word !== '');
  const items = itemsIn(node, []);
  for (let count = Math.min(words.length, MAX_KEY_WORDS); count > 0; count -= 1) {
    const key = foldSeparators(words.slice(-count).join(''));
    const named = items.filter(({ name }) => foldSeparators(name) === key);
    if (named.length > 0) return named.length === 1 && named[0]?.item.isScalar === true ? named[0] : undefined;
  }
  return undefined;
}

/** No sentence is applied to a value with more members. */
const MAX_ITEMS = 500;

function itemsIn(node: ReplyNode, found: NamedItem[]): readonly NamedItem[] {
  for (const [at, item] of node.items.entries()) {
    if (found.length > MAX_ITEMS) return found;
    const name = node.keys[at];
    if (name !== undefined) found.push({ name, item });
    itemsIn(item, found);
  }
  return found;
}

function replaced(node: ReplyNode, old: ReplyNode, item: ReplyNode): ReplyNode {
  if (node === old) return item;
  if (node.isScalar) return node;
  const copy = new ReplyNode(node.kind);
  copy.complete = node.complete;
  copy.repairs = node.repairs;
  for (const [at, each] of node.items.entries()) {
    const key = node.keys[at];
    const member = replaced(each, old, item);
    if (key === undefined) copy.add(member);
    else copy.put(key, member);
  }
  return copy;
}
