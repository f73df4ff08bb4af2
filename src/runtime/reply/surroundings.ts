import {
  HAS_WORD,
  beginsCorrection,
  isCorrection,
  lineAfter,
  lineBefore,
  roleInSentence,
  roleOfLabel,
  type Role,
  type CueSpan,
} from './cues.ts';
import type { FenceBody } from './text/candidate-finder.ts';

/*
 * The text around a value in a reply: whether the value is alone on its lines, and its role according to the words before.
 */

/** A value is alone on its lines, after a label on the same line (`Answer: [1, 2]`), or inside a sentence. */
export type Place = 'alone' | 'label' | 'sentence';

export interface Surroundings {
  readonly place: Place;
  /** The role that the words around it give it; `code` for a part of a program. */
  readonly role: Role | 'code' | undefined;
}

/** The only content of a reply. */
export const NOTHING_AROUND: Surroundings = { place: 'alone', role: undefined };

/** A value in a reply: its offsets, the fence around it, the end of the value before it, and the start of the next one. */
export interface PlacedValue extends CueSpan {
  readonly fence: FenceBody | undefined;
  readonly after: number;
  readonly next?: number | undefined;
}

export function surroundingsOf(text: string, value: PlacedValue): Surroundings {
  const before = lineBefore(text, value.from, Math.max(value.fence?.from ?? 0, value.after));
  const after = lineAfter(text, value.to, Math.min(value.fence?.to ?? text.length, value.next ?? text.length));
  const place = placeBetween(before, after);
  if (isCode(text, value, before)) return { place, role: 'code' };
  if (place === 'sentence') return { place, role: roleInSentence(before, after) ?? roleAfterColon(before) };
  return { place, role: place === 'label' ? roleOfLabel(lastClause(before)) : leadRole(text, value) };
}

// --- the place ---------------------------------------------------------------------------------------------------------

/** The marks of quotes, lists, emphasis, headings and tags before a value that is alone on its lines. */
const MARKS_BEFORE = /^(?:[\s>*_#`|"'(•–,;-]|\d+[.)]\s|<\/?[\w|]+>|json\b)*$/iu;
const MARKS_AFTER = /^(?:[\s`*_.,;!)"'>|\]}]|<\/?[\w|]+>)*$/u;
/** A label ends in a colon; the number of an item can follow. */
const ENDS_LABEL = /[:=：](?:\s*\d{1,3}[.)])?\W*$/u;

/** Returns the place of a value between these parts of its lines. */
export function placeBetween(before: string, after: string): Place {
  if (!MARKS_AFTER.test(after)) return 'sentence';
  if (MARKS_BEFORE.test(before)) return 'alone';
  return ENDS_LABEL.test(before) ? 'label' : 'sentence';
}

// --- the role ----------------------------------------------------------------------------------------------------------

/** The languages whose fences contain programs and queries. */
const CODE_TAG =
  /^(?:ts|tsx|typescript|js|jsx|javascript|mjs|py|python3?|java|kotlin|c|cpp|c\+\+|cs|csharp|c#|go|golang|rust|rs|ruby|rb|php|swift|scala|r|sql|html|xml|css|sh|bash|shell|zsh|console|powershell|dockerfile|graphql|proto|protobuf|diff|makefile|lua|perl|dart|elixir|haskell|baml|prisma|zod|pydantic)$/iu;
/** The beginning of a line that declares something. */
const DECLARATION =
  /^\s*(?:export\s+|public\s+|default\s+|async\s+)*(?:interface|class|struct|enum|type|function|def|fn|const|let|var|import|message)\s[^:"]{0,80}$|=>\s*$|\)\s*$/u;

/** The tag of a fence, such as `json`. */
function tagOf(text: string, { from }: FenceBody): string {
  const start = text.lastIndexOf('```', from - 1);
  return start < 0 ? '' : text.slice(start + 3, from).trim();
}

export function isCodeFence(text: string, fence: FenceBody): boolean {
  return CODE_TAG.test(tagOf(text, fence).split(/\s/u, 1)[0] ?? '');
}

function isCode(text: string, { fence }: PlacedValue, before: string): boolean {
  return (fence !== undefined && isCodeFence(text, fence)) || DECLARATION.test(before);
}

/** The text before a value that is read for a label. */
const MAX_LEAD = 1000;

/** Returns the role that the lines before a value give it: the line directly before it, or the nearest heading. */
function leadRole(text: string, { from, fence, after }: PlacedValue): Role | undefined {
  const start = fence === undefined ? from : outerStart(text, from, fence);
  const limit = start < from ? after : Math.max(after, fence?.from ?? 0);
  const lines = text.slice(Math.max(limit, start - MAX_LEAD), start).split('\n');
  const last = lines.findLastIndex((line) => HAS_WORD.test(line));
  const lead = lines[last];
  if (lead === undefined) return undefined;
  const role = isLabel(lead) ? roleOfLabel(lastClause(lead)) : undefined;
  // In `Wait, my first attempt was wrong:`, the attempt is the value before.
  const namesOther =
    beginsCorrection(lead) || (role === 'draft' && after > 0 && isCorrection(text.slice(after, start)));
  if (role !== undefined) return namesOther ? 'answer' : role;
  const heading = lines.slice(0, last).findLast((line) => HEADING.test(line));
  return heading === undefined ? undefined : roleOfLabel(heading);
}

/** Returns the start of the fence if the value is first in it. */
function outerStart(text: string, from: number, fence: FenceBody): number {
  if (text.slice(fence.from, from).trim() !== '') return from;
  const start = text.lastIndexOf('```', fence.from - 1);
  return start < 0 ? from : start;
}

const HEADING = /^\s*(?:#{1,6}\s|\*\*[^*]+\*\*:?\s*$|<\w+>\s*$)/u;
/** The most words without a period that count as a label. */
const MAX_LABEL_WORDS = 5;

/** True for a heading, a line that ends in a colon, or a few words without a period. */
export function isLabel(line: string): boolean {
  if (HEADING.test(line) || ENDS_LABEL.test(line) || /^\W*e\.g\.\W*$/iu.test(line)) return true;
  return !/[.!?]\W*$/u.test(line) && line.trim().split(/\s+/u).length <= MAX_LABEL_WORDS;
}

/** Returns the last sentence of a line, which a colon can end. */
export function lastClause(line: string): string {
  return line.split(/[.!?;]\s+/u).findLast((part) => HAS_WORD.test(part)) ?? line;
}

function roleAfterColon(before: string): Role | undefined {
  return ENDS_LABEL.test(before) ? roleOfLabel(lastClause(before)) : undefined;
}

// --- brackets that are not values ----------------------------------------------------------------------------------------

/** The length of the longest citation or index, brackets included. */
const MAX_MARK = 8;
const CITATION = /^\[\s*\d{1,3}\s*\]$/u;
/** The words after which `[1]` is a list. */
const BEFORE_LIST =
  /(?:[:=：]|\b(?:is|are|be|was|were|equals?|gives?|returns?|returned|yields?|list|array|answer|result|output))[\s*_`"'(]*$/iu;

/** True for brackets in prose that are not values: `arr[0]`, a citation (`so it is [1].`), an empty pair in a sentence. */
export function isBracketInProse(text: string, value: PlacedValue): boolean {
  const { from, to, fence } = value;
  if (fence !== undefined || to - from > MAX_MARK) return false;
  const source = text.slice(from, to);
  if (/^\[[^,]*\]$/u.test(source) && /[\w)\]]$/u.test(text.slice(0, from).slice(-1))) return true;
  const isEmpty = /^(?:\[\s*\]|\{\s*\})$/u.test(source);
  if (!isEmpty && !CITATION.test(source)) return false;
  const before = lineBefore(text, from);
  const after = lineAfter(text, to);
  if (placeBetween(before, after) !== 'sentence' || LISTS.test(before + source + after)) return false;
  return !BEFORE_LIST.test(before) || (isEmpty && !MARKS_AFTER.test(after));
}

/** A line of several lists of numbers. */
const LISTS = /^\s*\[[\d\s.,-]*\](?:\s?,\s?\[[\d\s.,-]*\])+[\s,\]]*$/u;

// --- null ----------------------------------------------------------------------------------------------------------------

const NULL_LINE = /^(?:[^\n]{0,60}[:=])?[ \t*_`>-]*null[ \t*_`.]*$/gmu;

/** Returns the nulls that end their lines, alone or after a label. */
export function nullLines(text: string): readonly CueSpan[] {
  if (!text.includes('null')) return [];
  return [...text.matchAll(NULL_LINE)].map((match) => {
    const from = match.index + match[0].lastIndexOf('null');
    return { from, to: from + 4 };
  });
}
