import { coercionError } from './coerce/coercion-error.ts';
import { isText, lossOf, type CoercedValue, type CoercionOutcome } from './coerce/outcome.ts';
import { findValues, type FoundValues } from './find-values.ts';
import { isJsonString } from './frames/unframe.ts';
import type { ReplyType } from './reply-type.ts';
import { listOf } from './structured/make-node.ts';
import {
  isBracketInProse,
  isCodeFence,
  NOTHING_AROUND,
  nullLines,
  surroundingsOf,
  type Surroundings,
} from './surroundings.ts';
import type { Candidate, FenceBody } from './text/candidate-finder.ts';
import { MAX_REPLY_DEPTH, type ReplyNode } from './text/reply-node.ts';
import type { CueSpan } from './cues.ts';
import { fenceBody, scalarNode } from './text/whole-text.ts';
import { hasItems, isInItem } from './values-in-lines.ts';

/** A part of a reply that can be the answer, and what it becomes. Offsets count from the start of the reply. */
export interface ReplyPart extends Surroundings {
  /**
   * `whole`: the reply as a whole is this value. `text`: the reply as a whole, read as a string. `several`: the values
   * of the reply as the members of a list.
   */
  readonly kind: 'whole' | 'fence' | 'prose' | 'text' | 'several';
  readonly from: number;
  readonly to: number;
  readonly node: ReplyNode;
  readonly outcome: CoercionOutcome;
  /** The part is before the end of a thought. */
  readonly inThought: boolean;
  /** For a list in parts: the values that it joins. */
  readonly joins?: readonly ReplyNode[];
}

/** A part of a reply that was tried. */
export type Standing = RankedPart | FailedPart;

/** A part that matches the type, with its rank by each criterion: lower is better. */
export interface RankedPart extends Demotion {
  readonly part: ReplyPart;
  readonly value: CoercedValue;
  readonly ranks: readonly number[];
}

interface FailedPart extends Demotion {
  readonly part: ReplyPart;
  readonly value: undefined;
}

/** The reason why a part is unlikely to be the answer; empty if there is none. */
interface Demotion {
  readonly demotion: string;
}

/** The parts of a reply in the order of their ends. */
export interface ReplyParts {
  readonly parts: readonly ReplyPart[];
  /** All objects and lists, including those that are not parts because there are too many. */
  readonly values: readonly Candidate<ReplyNode>[];
  /** The number of these that are coerced one by one. */
  readonly coerced: number;
  /** The end of the last thought; the answer comes after it. */
  readonly answerFrom: number;
  /** True if the reader gave up because the reply nests too deeply. */
  readonly gaveUp: boolean;
}

/** Coerces every part of a reply that can be the answer. `readThoughts`: look inside thoughts as well. */
export function readParts(text: string, type: ReplyType, readThoughts: boolean): ReplyParts {
  return new PartReader(text, type, findValues(text, readThoughts)).read();
}

/** A reply with more values than this is a list of them, or noise: only those at the ends are coerced. */
const MAX_LIKELY = 100;

function mostLikely<T>(all: readonly T[]): readonly T[] {
  if (all.length <= MAX_LIKELY) return all;
  return [...all.slice(0, MAX_LIKELY / 2), ...all.slice(-MAX_LIKELY / 2)];
}

class PartReader {
  readonly #text: string;
  readonly #type: ReplyType;
  readonly #found: FoundValues;
  /** The objects and lists that are coerced one by one. */
  readonly #candidates: readonly Candidate<ReplyNode>[];
  /** The offsets at which the text begins and ends without the spaces around it. */
  readonly #start: number;
  readonly #end: number;
  /** The reply is a single fence. */
  readonly #isFence: boolean;

  constructor(text: string, type: ReplyType, found: FoundValues) {
    this.#text = text;
    this.#type = type;
    this.#found = found;
    this.#start = text.length - text.trimStart().length;
    this.#end = text.trimEnd().length;
    this.#isFence = fenceBody(text) !== undefined;
    // Brackets inside a JSON string are escaped: the string contains the value.
    this.#candidates = isJsonString(text) ? [] : mostLikely(found.candidates);
  }

  read(): ReplyParts {
    const { candidates, gaveUp } = this.#found;
    const hasTextItems = this.#type.hasTextItems && hasItems(this.#text);
    const brackets = new Set(this.#candidates.filter((each) => this.#isInProse(each, hasTextItems)));
    const likely = this.#candidates.filter((each) => !brackets.has(each));
    const values = likely.flatMap((candidate, index) =>
      this.#valuePart(candidate, likely[index - 1]?.to ?? 0, likely[index + 1]?.from),
    );
    const parts = [...values, ...this.#nullParts(), ...this.#fenceParts(), ...this.#textParts()].toSorted(
      (a, b) => a.to - b.to,
    );
    return {
      parts,
      values: candidates.filter((each) => !brackets.has(each)),
      coerced: likely.length,
      answerFrom: this.#found.thoughtsEnd,
      gaveUp,
    };
  }

  #isInProse(candidate: Candidate<ReplyNode>, hasTextItems: boolean): boolean {
    if (isBracketInProse(this.#text, this.#placed(candidate, 0))) return true;
    return hasTextItems && candidate.fence === 0 && isInItem(this.#text, candidate);
  }

  // --- objects and lists -----------------------------------------------------------------------------------------------

  #valuePart(candidate: Candidate<ReplyNode>, after: number, next: number | undefined): ReplyPart[] {
    const { value: node, from, to, fence } = candidate;
    const kind = fence > 0 ? 'fence' : this.#isWhole(candidate) ? 'whole' : 'prose';
    const around =
      kind === 'whole' ? NOTHING_AROUND : surroundingsOf(this.#text, { ...this.#placed(candidate, after), next });
    // A scalar comes from an object or list that is an answer of its own, not from brackets in a sentence.
    if (!this.#type.hasComposite && around.place === 'sentence') return [];
    const outcome = this.#type.plan.coerce(node);
    // The string of a union is the reply as a whole: a part of it would lose the rest.
    if (kind !== 'whole' && !this.#isFence && isText(outcome)) return [];
    const role = candidate === this.#found.broken ? 'draft' : around.role;
    return [{ kind, from, to, node, outcome, inThought: this.#isThought(to), place: around.place, role }];
  }

  #placed(
    { from, to, fence }: Candidate<ReplyNode>,
    after: number,
  ): { from: number; to: number; fence: FenceBody | undefined; after: number } {
    return { from, to, fence: fence === 0 ? undefined : this.#found.fences[fence - 1], after };
  }

  #isWhole({ from, to }: Candidate<ReplyNode>): boolean {
    return from <= this.#start && to >= this.#end;
  }

  #isThought(to: number): boolean {
    return to <= this.#found.thoughtsEnd;
  }

  /** Reads a null on a line of its own, for types of objects and lists that may be null. */
  #nullParts(): ReplyPart[] {
    if (!this.#type.nullable || !this.#type.hasComposite) return [];
    return mostLikely(nullLines(this.#text)).flatMap(({ from, to }) => {
      if (from <= this.#start && to >= this.#end) return [];
      if (this.#found.candidates.some((each) => each.from <= from && to <= each.to)) return [];
      if (this.#found.fences.some((each) => each.from <= from && to <= each.to)) return [];
      const node = scalarNode('null');
      const around = surroundingsOf(this.#text, { from, to, fence: undefined, after: 0 });
      return [
        {
          kind: 'prose',
          from,
          to,
          node,
          outcome: this.#type.plan.coerce(node),
          inThought: this.#isThought(to),
          ...around,
        },
      ];
    });
  }

  // --- scalars in fences -----------------------------------------------------------------------------------------------

  #fenceParts(): ReplyPart[] {
    if (!this.#type.hasScalar && !this.#type.nullable) return [];
    const used = new Set(this.#found.candidates.map((candidate) => candidate.fence));
    const unused = this.#found.fences.filter((fence) => !used.has(fence.number));
    return mostLikely(unused).flatMap((fence) => this.#fencePart(fence));
  }

  /** Text in a fence, such as code, is the string of a union only if it is in quotes and the reply has no other fence. */
  #fencePart(fence: FenceBody): ReplyPart[] {
    const { from, to } = fence;
    const node = scalarNode(this.#text.slice(from, to));
    const outcome = this.#type.plan.coerce(node);
    if (isText(outcome) && (!node.quoted || this.#found.fences.length > 1)) return [];
    const around = surroundingsOf(this.#text, { from, to, fence, after: 0 });
    return [{ kind: 'fence', from, to, node, outcome, inThought: this.#isThought(to), ...around, place: 'alone' }];
  }

  // --- the text as a whole -----------------------------------------------------------------------------------------------

  /** Coerces text that is neither an object nor a list. */
  #textParts(): ReplyPart[] {
    const from = this.#found.thoughtsEnd;
    const to = Math.min(this.#found.openThought, this.#text.length);
    const isValue = this.#found.candidates.some((candidate) => this.#isWhole(candidate));
    const isEmpty = this.#text.slice(from, to).trim() === '';
    if (isValue || (isEmpty && (this.#end > 0 || !(this.#type.nullable || this.#type.takesText)))) return [];
    const node = scalarNode(this.#proseBetween(from, to), this.#type.takesText);
    if (node.text === '' && !isEmpty && !this.#type.takesText) return []; // An empty fence.
    const outcome = this.#type.plan.coerce(node);
    if (this.#isGuess(outcome, node) || (!outcome.ok && isEmpty)) return [];
    const place =
      node.kind === 'string' && !node.quoted && outcome.ok && outcome.flags.length > 0 ? 'sentence' : 'alone';
    const role = outcome.ok && outcome.flags.some(({ flag }) => flag === 'answer-cue') ? 'answer' : undefined;
    return [{ kind: 'text', from, to, node, outcome, inThought: false, place, role }];
  }

  /** Returns the text without the fences that contain code, unless they can be a part of a string. */
  #proseBetween(from: number, to: number): string {
    if (this.#type.takesText) return this.#text.slice(from, to);
    let prose = '';
    let at = from;
    for (const fence of this.#found.fences) {
      if (fence.from < at || fence.to > to || !isCodeFence(this.#text, fence)) continue;
      prose += this.#text.slice(at, Math.max(at, this.#text.lastIndexOf('```', fence.from - 1)));
      at = Math.min(to, fence.to + 3);
    }
    prose += this.#text.slice(at, to);
    return prose.trim() === '' ? this.#text.slice(from, to) : prose;
  }

  /** True for prose that a class takes as its only field, and for a sentence that a list of strings takes as its member. */
  #isGuess(outcome: CoercionOutcome, node: ReplyNode): boolean {
    if (node.kind !== 'string' || this.#type.hasScalar || !outcome.ok) return false;
    if (outcome.isImplied) return true;
    return !node.quoted && outcome.flags.some(({ flag }) => flag === 'single-to-list') && isSentence(node.text, outcome.json);
  }
}

/** The most words of a list member without quotes. */
const MAX_MEMBER_WORDS = 4;

/** True for a text that became a list member unchanged, but has the form of one or more sentences. */
function isSentence(text: string, json: string): boolean {
  if (!json.includes(JSON.stringify(text))) return false;
  return /[\n,;:，、；：]|[.?!…。]$/u.test(text) || text.split(/\s+/u).length > MAX_MEMBER_WORDS;
}

// --- several values as a list --------------------------------------------------------------------------------------------

/** Coerces several values as the members of a list; undefined if one of the parts is the list. */
export function severalPart(
  values: readonly Candidate<ReplyNode>[],
  parts: readonly ReplyPart[],
  type: ReplyType,
): ReplyPart | undefined {
  if (!type.hasList) return undefined;
  return severalObjects(values, parts, type) ?? severalLists(values, type);
}

function severalObjects(
  values: readonly Candidate<ReplyNode>[],
  parts: readonly ReplyPart[],
  { plan, takesText }: ReplyType,
): ReplyPart | undefined {
  // An empty pair of braces is not a member.
  const objects = values.filter(({ value }) => value.kind === 'object' && value.items.length > 0);
  if (objects.length < 2 || parts.some((part) => isCleanList(part))) return undefined;
  const outcome = plan.coerce(joined(objects));
  // As with a single object, strings made of parts of a reply would lose the rest.
  if (takesText && outcome.ok && outcome.flags.some(({ flag }) => flag === 'to-string')) return undefined;
  return partOf(objects, outcome);
}

/** Reads `[1, 2], [3, 4]` as the members of a list, if they match as they are. */
function severalLists(values: readonly Candidate<ReplyNode>[], { plan, takesText }: ReplyType): ReplyPart | undefined {
  const lists = values.filter(({ value }) => value.kind === 'list');
  if (takesText || lists.length < 2 || lists.some(({ value }) => plan.cast(value) !== undefined)) return undefined;
  const outcome = plan.cast(joined(lists));
  return outcome === undefined ? undefined : partOf(lists, outcome);
}

function partOf(members: readonly Candidate<ReplyNode>[], outcome: CoercionOutcome): ReplyPart {
  const span = { from: members[0]?.from ?? 0, to: members.at(-1)?.to ?? 0 };
  return severalOf(span, joined(members), outcome);
}

/** Returns the part that consists of several values of the reply. */
export function severalOf({ from, to }: CueSpan, node: ReplyNode, outcome: CoercionOutcome): ReplyPart {
  return { kind: 'several', from, to, node, outcome, inThought: false, ...NOTHING_AROUND };
}

function joined(members: readonly Candidate<ReplyNode>[]): ReplyNode {
  return listOf(members.map(({ value }) => value));
}

function isCleanList({ outcome, kind }: ReplyPart): boolean {
  return kind !== 'text' && outcome.ok && lossOf(outcome) === 0;
}

/** The error of a reply whose reader gave up. */
export function tooDeep(): CoercionOutcome {
  return coercionError(`the reply nests deeper than ${MAX_REPLY_DEPTH} levels`);
}
