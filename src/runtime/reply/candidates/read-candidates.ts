import { isText, type CoercionOutcome } from '../coerce/outcome.ts';
import { roleOfLabel, type Role } from '../phrases.ts';
import type { ReplyType } from '../reply-type.ts';
import { isSpace, skipSpace } from './scan/characters.ts';
import type { ReplyNode } from './scan/reply-node.ts';
import { Scanner } from './scan/scanner.ts';
import { TreeSink } from './scan/tree-sink.ts';
import { isJsonString, unframe } from '../unframe.ts';
import { CandidateFinder, type Candidate, type FenceBody } from './candidate-finder.ts';
import { listOf } from './nodes.ts';
import { outlineValues } from './outline.ts';
import { tableValues } from './table.ts';
import { fenceBody, scalarNode } from './whole-text.ts';
import { xmlValues } from './xml.ts';

/** A part of a reply that can be the answer, and what it becomes. Offsets count UTF-16 units from the start of the reply. */
export interface ReplyCandidate {
  /**
   * `whole`: the reply as a whole is this value. `fence`, `prose`: a value inside one. `text`: the reply as a whole, read as
   * a scalar. `several`: the values of the reply as the members of a list. `lines`: the reply as an outline, a table or XML.
   */
  readonly kind: 'whole' | 'fence' | 'prose' | 'text' | 'several' | 'lines';
  readonly from: number;
  readonly to: number;
  readonly node: ReplyNode;
  readonly outcome: CoercionOutcome;
  /** A value is alone on its lines, after a label on the same line (`Answer: [1, 2]`), or inside a sentence. */
  readonly place: 'alone' | 'label' | 'sentence';
  /** The role that its label gives it; `code` for a part of a program. */
  readonly role: Role | 'code' | undefined;
  /** The frames that were removed, or the notation of the lines. */
  readonly notations: readonly string[];
}

/** All candidates of a reply. */
export interface Candidates {
  readonly all: readonly ReplyCandidate[];
  /** The number of objects and lists that were not coerced, because there are too many. */
  readonly omitted: number;
  /** The end of the last thought; the answer comes after it. */
  readonly answerFrom: number;
  /** The reader gave up because the reply nests too deeply. */
  readonly gaveUp: boolean;
}

/** Reads the objects, lists, fences and scalars of a reply. `readThoughts`: look inside thoughts as well. */
export function readCandidates(text: string, type: ReplyType, readThoughts = false): Candidates {
  return new CandidateReader(text, type, readThoughts).read();
}

/** Reads the candidates of a reply without its frames: none if it has no frame. */
export function readUnframed(text: string, type: ReplyType): readonly ReplyCandidate[] {
  const { text: inner, frames } = unframe(text);
  if (frames.length === 0) return [];
  const found = readCandidates(inner, type).all.filter(({ kind }) => kind !== 'text');
  const all = found.length > 0 || frames.includes('special tokens') ? found : readLines(inner, type, 0);
  return all.map((each) => ({ ...each, from: 0, to: text.length, notations: [...frames, ...each.notations] }));
}

const READERS: readonly (readonly [notation: string, read: (text: string) => readonly ReplyNode[]])[] = [
  ['a table', tableValues],
  ['XML', xmlValues],
  ['lines of text', outlineValues],
];

/** Reads a reply that is more than JSON as a table, XML or an outline. */
export function readLines(text: string, type: ReplyType, from: number): readonly ReplyCandidate[] {
  if (!type.hasComposite || type.takesText) return [];
  const source = text.slice(from);
  if (JSON_LINE.test(source)) return [];
  return READERS.flatMap(([notation, read]) =>
    read(source).map((node): ReplyCandidate => {
      const outcome = type.plan.coerce(node);
      return { ...WHOLE, kind: 'lines', from, to: text.length, node, outcome, notations: [notation] };
    }),
  );
}

/** A line of JSON that spans several lines: an open bracket, or a quoted key whose value ends in a comma. */
const JSON_LINE =
  /^[ \t]*(?:(?:"[^"\n]{1,100}"[ \t]*:[ \t]*)?[[{][ \t]*|(?:"[^"\n]{1,100}"|'[^'\n]{1,100}')[ \t]*:.*,[ \t]*)$/mu;

const WHOLE = { place: 'alone', role: undefined, notations: [] } as const;

/** A reply with more values than this is a list of them, or noise: only those at the ends are coerced. */
const MAX_COERCED = 100;

function endsOf<T>(all: readonly T[]): readonly T[] {
  if (all.length <= MAX_COERCED) return all;
  return [...all.slice(0, MAX_COERCED / 2), ...all.slice(-MAX_COERCED / 2)];
}

class CandidateReader {
  readonly #text: string;
  readonly #type: ReplyType;
  readonly #finder: CandidateFinder<ReplyNode>;
  /** The offsets at which the text begins and ends without the white space around it. */
  readonly #start: number;
  readonly #end: number;
  /** The reply is a single fence. */
  readonly #isFence: boolean;

  constructor(text: string, type: ReplyType, readThoughts: boolean) {
    this.#text = text;
    this.#type = type;
    this.#start = text.length - text.trimStart().length;
    this.#end = text.trimEnd().length;
    this.#isFence = fenceBody(text) !== undefined;
    this.#finder = new CandidateFinder(new Scanner(new TreeSink()), readThoughts);
    this.#finder.readWhole(text);
  }

  read(): Candidates {
    const { candidates, gaveUp, thoughtsEnd } = this.#finder;
    // Brackets inside a JSON string are escaped: the string contains the value.
    const values = isJsonString(this.#text) ? [] : candidates.filter(({ to }) => to > thoughtsEnd);
    const coerced = endsOf(values);
    const single = coerced.flatMap((each, at) => this.#value(each, coerced[at - 1]?.to ?? 0, coerced[at + 1]?.from));
    const all = [...single, ...this.#several(values, single), ...this.#wholeText(), ...this.#fences()];
    return { all, omitted: values.length - coerced.length, answerFrom: thoughtsEnd, gaveUp };
  }

  // --- objects and lists -----------------------------------------------------------------------------------------------

  #value(candidate: Candidate<ReplyNode>, after: number, next = this.#text.length): readonly ReplyCandidate[] {
    const { value: node, from, to, fence: number } = candidate;
    const kind = number > 0 ? 'fence' : this.#isWhole(candidate) ? 'whole' : 'prose';
    const fence = number > 0 ? this.#finder.fences[number - 1] : undefined;
    const around = kind === 'whole' ? WHOLE : surroundingsOf(this.#text, { from, to, fence, after, next });
    // A scalar comes from an object or list that is an answer of its own, not from brackets in a sentence.
    if (!this.#type.hasComposite && around.place === 'sentence') return [];
    const outcome = this.#type.plan.coerce(node);
    // The string of a union is the reply as a whole: a part of it would lose the rest.
    if (kind !== 'whole' && !this.#isFence && isText(outcome)) return [];
    return [{ kind, from, to, node, outcome, ...around, notations: [] }];
  }

  #isWhole({ from, to }: Candidate<ReplyNode>): boolean {
    return from <= this.#start && to >= this.#end;
  }

  /** Reads several objects, or several lists that match only so, as the members of a list. */
  #several(values: readonly Candidate<ReplyNode>[], single: readonly ReplyCandidate[]): readonly ReplyCandidate[] {
    const { hasList, takesText, plan } = this.#type;
    if (!hasList || takesText || values.length < 2) return [];
    const members = endsOf(values).length < values.length ? values : membersOf(values, single);
    const isRun = this.#isRun(members);
    const objects = members.filter(({ value }) => value.kind === 'object' && (isRun || value.items.length > 0));
    const lists = members.filter(({ value }) => value.kind === 'list');
    if (isRun && objects.length > 0 && lists.length > 0) {
      return [this.#joined(members, ({ value }) => (value.kind === 'list' ? value.items : [value]))];
    }
    if (objects.length > 1) return [this.#joined(objects, ({ value }) => [value])];
    if (lists.length < 2 || lists.some(({ value }) => plan.coerce(value, undefined, true).ok)) return [];
    const rows = this.#joined(lists, ({ value }) => [value], true);
    return rows.outcome.ok ? [rows] : [];
  }

  /** Reads values as one list. `itemsOf`: returns the items that a value adds to it. */
  #joined(
    members: readonly Candidate<ReplyNode>[],
    itemsOf: (member: Candidate<ReplyNode>) => readonly ReplyNode[],
    strict = false,
  ): ReplyCandidate {
    const node = listOf(members.flatMap(itemsOf));
    const outcome = this.#type.plan.coerce(node, undefined, strict);
    return { ...WHOLE, kind: 'several', from: members[0]?.from ?? 0, to: members.at(-1)?.to ?? 0, node, outcome };
  }

  /** Are the values members of one list whose brackets are missing or wrong: are there only commas between them? */
  #isRun(members: readonly Candidate<ReplyNode>[]): boolean {
    return members.every(({ from }, index) => {
      const before = members[index - 1];
      return before === undefined || (from - before.to <= MAX_GAP && GAP.test(this.#text.slice(before.to, from)));
    });
  }

  // --- scalars ---------------------------------------------------------------------------------------------------------

  /** Reads the fences without an object or list. Text in a fence is the string of a union only in quotes, in the only fence. */
  #fences(): readonly ReplyCandidate[] {
    if (!this.#type.hasScalar && !this.#type.nullable) return [];
    const { candidates, fences } = this.#finder;
    const used = new Set(candidates.map(({ fence }) => fence));
    return endsOf(fences.filter(({ number }) => !used.has(number))).flatMap((fence) => {
      const { from, to } = fence;
      const node = scalarNode(this.#text.slice(from, to));
      const outcome = this.#type.plan.coerce(node);
      if (isText(outcome) && (!node.quoted || fences.length > 1)) return [];
      const { role } = surroundingsOf(this.#text, { from, to, fence, after: 0, next: this.#text.length });
      return [{ kind: 'fence', from, to, node, outcome, place: 'alone', role, notations: [] } as const];
    });
  }

  /** Reads the text as a whole, if it is neither an object nor a list. */
  #wholeText(): readonly ReplyCandidate[] {
    const { candidates, thoughtsEnd: from, openThought } = this.#finder;
    const { nullable, takesText, plan } = this.#type;
    const to = Math.min(openThought, this.#text.length);
    const source = this.#text.slice(from, to);
    const isEmpty = source.trim() === '';
    if (candidates.some((each) => this.#isWhole(each))) return [];
    if (isEmpty && (this.#end > 0 || !(nullable || takesText))) return [];
    const node = scalarNode(source, takesText);
    if (node.text === '' && !isEmpty && !takesText) return []; // An empty fence.
    const outcome = plan.coerce(node);
    if (this.#isGuess(outcome, node) || (!outcome.ok && isEmpty)) return [];
    return [{ ...WHOLE, kind: 'text', from, to, node, outcome }];
  }

  /** True for prose that a class takes as its only field, or a list as its only member. */
  #isGuess(outcome: CoercionOutcome, node: ReplyNode): boolean {
    if (node.kind !== 'string' || this.#type.hasScalar || !outcome.ok) return false;
    if (outcome.isImplied) return true;
    return (
      !node.quoted &&
      outcome.flags.some(({ flag }) => flag === 'single-to-list') &&
      node.text.trim().split(/\s+/u).length > MAX_WORDS
    );
  }
}

/** True for a value that its label, or the program around it, sets apart from the answer. */
export function isAside({ role }: Pick<ReplyCandidate, 'role'>): boolean {
  return role !== undefined && role !== 'final';
}

/** The most words of a list member without quotes. */
const MAX_WORDS = 4;

/** Returns the values that can be members: those in sentences only if no other is, and none that a label sets apart. */
function membersOf(
  values: readonly Candidate<ReplyNode>[],
  single: readonly ReplyCandidate[],
): readonly Candidate<ReplyNode>[] {
  const byNode = new Map(single.map((each) => [each.node, each]));
  const hasAlone = single.some(({ place }) => place !== 'sentence');
  return values.filter(({ value }) => {
    const candidate = byNode.get(value);
    if (candidate === undefined) return false;
    return !isAside(candidate) && !(hasAlone && candidate.place === 'sentence');
  });
}

/** The text between two members of a list without its brackets. */
const GAP = /^[\s\]}]*,(?:\s|\/\*[^*]*\*\/)*$/u;
const MAX_GAP = 200;

// --- the text around a value -----------------------------------------------------------------------------------------

/** The offsets of a value, the fence around it, the end of the value before it, and the start of the next one. */
export interface PlacedValue {
  readonly from: number;
  readonly to: number;
  readonly fence: FenceBody | undefined;
  readonly after: number;
  readonly next: number;
}

/** The marks of quotes, lists, emphasis, headings and tags before and after a value that is alone on its lines. */
const MARKS_BEFORE = /^(?:[\s>*_#`|"'(•–,;-]|\d+[.)]\s|<\/?[\w|]+>|json\b)*$/iu;
const MARKS_AFTER = /^(?:[\s`*_.,;!)"'>|\]}]|<\/?[\w|]+>)*$/u;
const ENDS_LABEL = /[:=：][^\w:=：]*$/u;
/** The text before a value that is read for a label, and the text of a line around it. */
const MAX_LEAD = 1000;

/** Returns the place of a value, and the role that the label before it gives. */
export function surroundingsOf(text: string, value: PlacedValue): Pick<ReplyCandidate, 'place' | 'role'> {
  const { from, fence, after, next } = value;
  let { to } = value; // A value without its last bracket can end after a line break.
  while (to > from && isSpace(text.charCodeAt(to - 1))) to -= 1;
  const lineStart = Math.max(text.lastIndexOf('\n', from - 1) + 1, fence?.from ?? 0, after, from - MAX_LEAD);
  const lineEnd = text.indexOf('\n', to);
  const before = text.slice(lineStart, from);
  const limit = Math.min(fence?.to ?? text.length, next, to + MAX_LEAD);
  const rest = text.slice(to, Math.max(to, lineEnd < 0 ? limit : Math.min(lineEnd, limit)));
  const isAlone = MARKS_BEFORE.test(before);
  const place = !MARKS_AFTER.test(rest)
    ? 'sentence'
    : isAlone
      ? 'alone'
      : ENDS_LABEL.test(before)
        ? 'label'
        : 'sentence';
  if (fence !== undefined && CODE_TAG.test(tagOf(text, fence)) && !isAllOf(text, value, fence))
    return { place, role: 'code' };
  const label = isAlone ? lineAbove(text, value) : before;
  return { place, role: label === undefined ? undefined : roleOfLabel(lastClause(label)) };
}

/** True for a value that is all the text in its fence. */
function isAllOf(text: string, { from, to }: PlacedValue, fence: FenceBody): boolean {
  return skipSpace(text, fence.from) >= from && skipSpace(text, to) >= fence.to;
}

/** The languages whose fences contain programs and queries. */
const CODE_TAG =
  /^(?:tsx?|typescript|jsx?|javascript|py|python3?|java|kotlin|c|cpp|c\+\+|cs|csharp|go|rust|rs|ruby|rb|php|swift|scala|sql|html|css|sh|bash|shell|graphql|proto|baml|prisma|zod|pydantic)\b/iu;

function tagOf(text: string, { from }: FenceBody): string {
  const start = text.lastIndexOf('```', from - 1);
  return start < 0 ? '' : text.slice(start + 3, from).trim();
}

const HAS_WORD = /[\p{L}\p{N}]/u;

/** Returns the line with words above a value, or above the fence in which it is first, if it ends in a colon or is a heading. */
function lineAbove(text: string, { from, fence, after }: PlacedValue): string | undefined {
  const isFirst = fence !== undefined && text.slice(fence.from, from).trim() === '';
  const start = isFirst ? Math.max(0, text.lastIndexOf('```', fence.from - 1)) : from;
  const limit = Math.max(after, isFirst ? 0 : (fence?.from ?? 0), start - MAX_LEAD);
  const line = text
    .slice(limit, start)
    .split('\n')
    .findLast((each) => HAS_WORD.test(each));
  if (line === undefined) return undefined;
  const isShort = !/[.!?][^\w.!?]*$/u.test(line) && line.trim().split(/\s+/u).length <= MAX_LABEL_WORDS;
  return ENDS_LABEL.test(line) || /^\s*(?:#{1,6}\s|\*\*[^*]+\*\*:?\s*$|<\w+>\s*$)/u.test(line) || isShort
    ? line
    : undefined;
}

/** The most words without a period that count as a label. */
const MAX_LABEL_WORDS = 5;

/** Returns the last sentence of a line, which a colon can end. */
function lastClause(line: string): string {
  return line.split(/[.!?;]\s+/u).findLast((part) => HAS_WORD.test(part)) ?? line;
}
