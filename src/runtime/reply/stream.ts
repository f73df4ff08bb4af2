import { GrowingText, isSameText, joinParts, lengthOfParts, textParts, type TextParts } from '../../base/text-parts.ts';
import { coerceReply, coerceShortReply, parseOutcome, SHORT_TEXT } from './reply.ts';
import { isText } from './coerce/outcome.ts';
import { PartialValue } from './coerce/plan.ts';
import { PARSED_PER_STEP, spend, StepBudget, type Patience } from './coerce/step-budget.ts';
import { FastPath } from './coerce/fast-path.ts';
import type { ParseOutcome, ReplyStream } from './reply-parser.ts';
import type { ReplyType } from './reply-type.ts';
import { CandidateFinder, type Candidate, type FenceBody } from './candidates/candidate-finder.ts';
import { GrowingString } from './growing-text.ts';
import { ReplyNode } from './candidates/scan/reply-node.ts';
import { Scanner } from './candidates/scan/scanner.ts';
import { TreeSink } from './candidates/scan/tree-sink.ts';
import { closersOf, DOUBLE_QUOTE, skipSpace } from './candidates/scan/characters.ts';
import { Cursor, LOOK_AHEAD } from './candidates/scan/cursor.ts';
import { StringReader } from './candidates/scan/string-reader.ts';
import { scalarNode } from './candidates/whole-text.ts';

/**
 * A reply that arrives in deltas. It is read when a partial is requested: on the fast path as long as that succeeds,
 * then again from its start by the tolerant parser. Both keep their state, so that a partial costs the reading of the
 * text since the last one, and the writing of its own text.
 */
export class GrowingReply implements ReplyStream {
  readonly #type: ReplyType;
  /** The text that has been read. */
  readonly #text = new GrowingText();
  /** The text after that: first what was too much for the last partial, then the deltas since. */
  #waiting = '';
  #unread = new GrowingText();
  #fastPath: FastPath | undefined = undefined;
  #tolerant: TolerantPartials | undefined = undefined;
  /** The text that the tolerant parser has not read: first what the fast path has shown, then the rest. */
  #shown = '';
  #rest = '';
  /** The reply as a string, for the type that takes it as it is. */
  readonly #string = new ReplyNode('string');
  /** The reply as the string of a union, until another member begins. */
  #prose: TextPartials | undefined;
  /** The length of the last partial that was examined for content. */
  #examined = 0;
  /** A partial has shown such a string. */
  #isProse = false;
  /** The parts of the last partial. */
  #last: readonly string[] | undefined = undefined;
  /** The steps for partials. Once they are spent, only the final outcome follows. */
  readonly #budget = new StepBudget();

  constructor(type: ReplyType) {
    this.#type = type;
    this.#string.plain = false;
    this.#prose = type.takesText && type.asString !== 'yes' ? new TextPartials(type) : undefined;
  }

  push(delta: string): void {
    this.#unread.append(delta);
  }

  takePartial(): readonly string[] | undefined {
    const isString = this.#type.asString === 'yes';
    const delta = this.#takeUnread(isString ? Infinity : SHORT_TEXT);
    this.#budget.grow(delta.length);
    const json = this.#budget.run(() => (isString ? this.#partialString() : this.#partialValue(delta)), 'short');
    if (this.#budget.isSpent) this.#release();
    if (json === undefined) return undefined;
    const parts = textParts(json);
    if (this.#last !== undefined && isSameText(parts, this.#last)) return undefined;
    if (this.#tolerant !== undefined && this.#changesKind(parts)) return undefined;
    this.#last = parts;
    return parts;
  }

  /** Frees the partial state; `finish` reads the whole reply again. */
  #release(): void {
    this.#fastPath = undefined;
    this.#tolerant = undefined;
    this.#prose = undefined;
    this.#shown = '';
    this.#rest = '';
  }

  /** An empty list does not turn into an object, even if a later value in the reply suits a union better. */
  #changesKind([json = '']: readonly string[]): boolean {
    const last = this.#last?.[0];
    return last !== undefined && last !== 'null' && json.charCodeAt(0) !== last.charCodeAt(0);
  }

  get isBehind(): boolean {
    return (
      !this.#budget.isSpent &&
      (this.#waiting !== '' || this.#unread.length > 0 || this.#shown !== '' || this.#rest !== '')
    );
  }

  get toRead(): number {
    const unread = this.#waiting.length + this.#unread.length;
    return this.#fastPath?.gaveUp === false ? unread : this.#text.length + unread;
  }

  finish(isCut = false): ParseOutcome {
    const fastPath = this.#finishedFastPath('long');
    return parseOutcome(coerceReply(this.#whole, this.#type, { fastPath, isCut }));
  }

  finishShort(isCut = false): ParseOutcome | undefined {
    const fastPath = this.#finishedFastPath('short');
    const outcome = coerceShortReply(this.#whole, this.#type, { fastPath, isCut });
    return outcome && parseOutcome(outcome);
  }

  get #whole(): string {
    return this.#text.joined + this.#waiting + this.#unread.joined;
  }

  /** Returns the fast path after the last text; undefined if it has to begin again, because no steps are left. */
  #finishedFastPath(patience: Patience): FastPath | undefined {
    this.#tolerant = undefined; // Releases its tree before the whole reply is read again.
    const unread = this.#waiting + this.#unread.joined;
    const fastPath = this.#fastPath;
    this.#budget.grow(unread.length);
    if (fastPath?.gaveUp === false) this.#budget.run(() => fastPath.push(unread), patience);
    return this.#budget.isSpent ? undefined : fastPath;
  }

  /** Returns the text since the last call, at most so many units of it. */
  #takeUnread(most: number): string {
    if (this.#waiting.length < most) {
      this.#waiting += this.#unread.joined;
      this.#unread = new GrowingText();
    }
    const taken = this.#waiting.slice(0, most);
    this.#waiting = this.#waiting.slice(most);
    this.#text.append(taken);
    return taken;
  }

  #partialString(): string | undefined {
    const { text } = this.#text;
    if (text === '') return undefined;
    this.#string.text = text;
    return this.#type.plan.show(this.#string).json;
  }

  #partialValue(delta: string): TextParts | undefined {
    if (!this.#type.hasComposite && this.#prose === undefined) return undefined;
    const prose = this.#prose?.read(delta, this.#text.text);
    if (prose !== undefined) {
      this.#isProse = true;
      this.#fastPath = undefined;
      this.#tolerant = undefined;
    }
    if (this.#isProse || !this.#type.hasComposite) return prose;
    const json = this.#partialComposite(delta);
    if (json === undefined || (this.#prose !== undefined && !this.#isOtherMember(json))) return undefined;
    this.#prose = undefined;
    return json;
  }

  /** True for an object or list that is complete or has some content: any other can still become part of a string. */
  #isOtherMember(json: TextParts): boolean {
    const parts = textParts(json);
    if (parts[0]?.startsWith('"') === true) return false;
    if ((this.#tolerant ?? this.#fastPath)?.isComplete === true) return true;
    const length = lengthOfParts(parts);
    if (length > SHORT_PARTIAL && length < PARTIAL_GROWTH * this.#examined) return false;
    this.#examined = length;
    spend(length / PARSED_PER_STEP);
    return isContent(JSON.parse(joinParts(parts)));
  }

  #partialComposite(delta: string): TextParts | undefined {
    if (this.#tolerant !== undefined) {
      this.#rest += delta;
      return this.#readTolerantly(this.#tolerant);
    }
    this.#fastPath ??= new FastPath(this.#type);
    this.#fastPath.push(delta);
    if (!this.#fastPath.gaveUp) return this.#fastPath.show();
    this.#tolerant = new TolerantPartials(this.#type);
    const { text } = this.#text;
    const before = text.length - delta.length;
    this.#shown = this.#last === undefined ? '' : text.slice(0, before);
    this.#rest = this.#last === undefined ? text : text.slice(before);
    return this.#readTolerantly(this.#tolerant);
  }

  /** The tolerant parser has to know what the fast path has shown, since partials take nothing back. */
  #readTolerantly(tolerant: TolerantPartials): string | undefined {
    const known = this.#shown.slice(0, SHORT_TEXT);
    if (known !== '') tolerant.read(known, this.#last);
    this.#shown = this.#shown.slice(known.length);
    const room = SHORT_TEXT - known.length;
    if (this.#shown !== '' || room === 0) return undefined;
    const next = this.#rest.slice(0, room);
    this.#rest = this.#rest.slice(next.length);
    return tolerant.read(next, this.#last);
  }
}

/**
 * A partial of more characters is examined for content only when it has grown by this factor: to examine each would take time in
 * proportion to the square of the reply.
 */
const SHORT_PARTIAL = 1000;
const PARTIAL_GROWTH = 1.25;

/** False for null and for an object or list that contains only nulls and empty values. */
function isContent(value: unknown): boolean {
  return typeof value !== 'object' || (value !== null && Object.values(value).some(isContent));
}

/** Partials end after so many values without content; the final value decides. */
const MAX_TRIED = 100;

/**
 * The partials of a reply that the tolerant parser reads. They come from the first value in the reply that has content,
 * and stay with it: if a later value turns out to be the answer, only the final value shows it, because a partial never
 * takes back what an earlier one has shown.
 */
export class TolerantPartials {
  readonly #type: ReplyType;
  readonly #finder = new CandidateFinder(new Scanner(new TreeSink()));
  /** The position of the candidate that partials come from. */
  #candidate = 0;
  /** The number of nulls with which that candidate begins, as far as they are counted. */
  #nulls = 0;
  /** That candidate has content and is complete. */
  #settled = false;
  /** Several objects, where the type is a list. */
  readonly #joined = new ReplyNode('list');
  #isJoined = false;
  /** The position of the first candidate that is not in the list. */
  #joinedTo = 0;

  constructor(type: ReplyType) {
    this.#type = type;
  }

  /** True if the value that partials show is complete and matches the type. */
  get isComplete(): boolean {
    const node = this.#finder.candidates[this.#candidate]?.value;
    const outcome = node?.complete === true ? this.#type.plan.coerce(node) : undefined;
    return outcome?.ok === true && outcome.kept && !isText(outcome);
  }

  /** Reads a delta and returns the JSON text of the partial. `last`: the parts of the previous partial. */
  read(delta: string, last: readonly string[] | undefined): string | undefined {
    this.#finder.push(delta);
    const { candidates } = this.#finder;
    if (this.#isJoined) return this.#joinedPartial();
    while (this.#candidate < Math.min(candidates.length, MAX_TRIED)) {
      const node = candidates[this.#candidate]?.value;
      if (node === undefined) return undefined;
      if (this.#settled) return this.#type.hasList ? this.#tryJoined(last) : undefined;
      const partial = this.#isRow(node) ? PartialValue.withheld : this.#type.plan.show(node);
      if (hasContent(partial)) {
        this.#settled = node.complete;
        return partial.json;
      }
      if (!node.complete || this.#candidate + 1 >= candidates.length) return partial.json;
      this.#candidate += 1;
      this.#nulls = 0;
    }
    return undefined;
  }

  /** Only the whole reply shows whether `[1, 2]` is the first of several rows or a list of two lists. */
  #isRow({ kind, items }: ReplyNode): boolean {
    if (!this.#type.hasRows || kind !== 'list') return false;
    while (items[this.#nulls]?.kind === 'null') this.#nulls += 1;
    return items[this.#nulls]?.isScalar === true;
  }

  /** A second object can continue the list that the first one began. */
  #tryJoined(last: readonly string[] | undefined): string | undefined {
    if (this.#finder.candidates.length <= this.#candidate + 1) return undefined;
    const json = this.#joinedPartial();
    if (json === undefined || last === undefined || !json.startsWith(joinParts(last).slice(0, -1))) return undefined;
    this.#isJoined = true;
    return json;
  }

  #joinedPartial(): string | undefined {
    const { candidates } = this.#finder;
    this.#joinedTo = Math.max(this.#joinedTo, this.#candidate);
    for (; this.#joinedTo < candidates.length; this.#joinedTo += 1) {
      const node = candidates[this.#joinedTo]?.value;
      if (node === undefined || (node.items.length === 0 && !node.complete)) break;
      if (node.items.length > 0) this.#joined.add(node);
    }
    return this.#type.plan.show(this.#joined).json;
  }
}

function hasContent({ json, allNull }: PartialValue): boolean {
  return json !== undefined && !allNull && json !== 'null' && json !== '[]' && json !== '{}';
}

/**
 * The partials of a reply that is the string of a union. They show prose as it grows, up to the first part of it that can
 * be another member: an object, a list, or a fence. If that part turns out to match no other member, they go on after it;
 * otherwise they end, since the final value is that member. They do not show a text that, as a whole, can still be quoted
 * or another scalar.
 */
class TextPartials {
  readonly #type: ReplyType;
  readonly #finder: CandidateFinder<ReplyNode>;
  readonly #string = new ReplyNode('string');
  #state: 'waiting' | 'prose' | 'quoted' | 'ended' = 'waiting';
  /** The offset of the string, after the last thought. */
  #start = 0;
  /** The offset up to which partials have shown it. */
  #shown = 0;
  /** The candidates and fences before these belong to the string. */
  #candidate = 0;
  #fence = 0;
  /** The numbers of the fences that contain candidates. */
  readonly #usedFences = new Set<number>();
  /** Some part of the reply is another member of the union. */
  #foundOther = false;
  readonly #cursor = new Cursor();
  readonly #strings = new StringReader(this.#cursor);
  #quoted = new ReplyNode('string');
  readonly #quotedJson = new GrowingString();

  constructor(type: ReplyType) {
    this.#type = type;
    // `string?` takes thoughts as they are.
    this.#finder = new CandidateFinder(new Scanner(new TreeSink()), type.asString !== 'no');
    this.#string.plain = false;
  }

  /** Reads a delta and returns the JSON text of the partial; undefined if it shows nothing. `text`: the reply so far. */
  read(delta: string, text: string): TextParts | undefined {
    if (this.#state === 'ended') return undefined;
    if (this.#state === 'quoted') return this.#showQuoted(text);
    this.#finder.push(delta);
    this.#skipThoughts();
    const end = this.#certainEnd(text);
    if (this.#state === 'waiting' && end === this.#finder.consumed) this.#begin(text.slice(this.#start, end), text);
    const json = this.#state === 'prose' ? this.#showTo(Math.max(this.#shown, end), text) : undefined;
    if (this.#foundOther || this.#finder.gaveUp) this.#state = 'ended';
    return json;
  }

  #skipThoughts(): void {
    const { thoughtsEnd } = this.#finder;
    if (thoughtsEnd <= this.#start) return;
    if (this.#state === 'prose') this.#foundOther = true;
    else this.#start = thoughtsEnd;
  }

  #showTo(end: number, text: string): string | undefined {
    this.#shown = end;
    this.#string.text = text.slice(this.#start, end).trimEnd();
    return this.#type.plan.show(this.#string).json;
  }

  // --- the beginning -------------------------------------------------------------------------------------------------

  /** Determines the kind of string from its beginning. */
  #begin(raw: string, text: string): void {
    const head = raw.trim();
    if (head === '' || this.#canBeScalar(head)) return;
    const first = head.charCodeAt(0);
    this.#start += raw.length - raw.trimStart().length;
    if (first > 127 || closersOf(first) === '') this.#state = 'prose';
    else this.#beginQuoted(head, text);
  }

  /** True if the text can be the beginning of a number, a word or a label. A longer text is a string. */
  #canBeScalar(text: string): boolean {
    return text.length <= Math.max(LOOK_AHEAD, this.#type.plan.longestLabel) && this.#type.plan.mayBecome(text, false);
  }

  /** A quote at the beginning encloses the whole reply, unless its end is near and more text follows. */
  #beginQuoted(head: string, text: string): void {
    const end = head.indexOf(head.charAt(0), 1);
    if (end > 0 && end < head.length - 1 && head.charAt(end - 1) !== '\\') this.#state = 'prose';
    else if (head.length > LOOK_AHEAD) this.#openQuoted(text);
  }

  #openQuoted(text: string): void {
    const isShown = text.charCodeAt(this.#start) === DOUBLE_QUOTE && this.#type.plan.mayBegin(DOUBLE_QUOTE);
    this.#state = isShown ? 'quoted' : 'ended';
    this.#cursor.start(text, this.#start, false);
    this.#quoted = this.#strings.open('item');
  }

  #showQuoted(text: string): TextParts | undefined {
    this.#cursor.text = text;
    const node = this.#quoted;
    if (this.#strings.readToQuote()) this.#state = 'ended';
    if (node.repairs !== 0 || this.#strings.escapes === 'foreign') this.#state = 'ended';
    else this.#quotedJson.append(node.text, node.plain);
    node.text = '';
    return this.#type.plan.showString(this.#quotedJson);
  }

  // --- other members -------------------------------------------------------------------------------------------------

  /** Returns the offset up to which the text belongs to the string. */
  #certainEnd(text: string): number {
    const { consumed, openThought } = this.#finder;
    return Math.min(consumed, openThought, this.#candidateStart(text), this.#fenceStart(text), this.#openFence(text));
  }

  /** Returns the start of the first candidate that can be another member. */
  #candidateStart(text: string): number {
    const { candidates } = this.#finder;
    for (; this.#candidate < candidates.length; this.#candidate += 1) {
      const candidate = candidates[this.#candidate];
      if (candidate === undefined) continue;
      this.#usedFences.add(candidate.fence);
      if (!this.#isInString(candidate, text)) return this.#startOf(candidate, text);
    }
    return Infinity;
  }

  #startOf({ from, fence }: Candidate<ReplyNode>, text: string): number {
    if (fence === 0) return from;
    return fenceStart(this.#finder.fences[fence - 1]?.from ?? this.#finder.openFence ?? from, text);
  }

  #isInString(candidate: Candidate<ReplyNode>, text: string): boolean {
    const isFirst = this.#isFirst(candidate.from, text);
    if (!isFirst && !this.#type.hasComposite) return true;
    if (candidate.to === Infinity) return false;
    if (this.#type.hasComposite) this.#foundOther ||= this.#isOther(candidate.value, false);
    return !this.#foundOther && (!isFirst || this.#hasMore(candidate.to, text));
  }

  #isOther(node: ReplyNode, isString: boolean): boolean {
    const outcome = this.#type.plan.coerce(node);
    return outcome.ok && outcome.kept && (isString || !isText(outcome));
  }

  /** Returns the start of the first complete fence that can be another member. */
  #fenceStart(text: string): number {
    const { fences } = this.#finder;
    for (; this.#fence < fences.length; this.#fence += 1) {
      const fence = fences[this.#fence];
      if (fence === undefined) continue;
      const start = fenceStart(fence.from, text);
      if (!this.#usedFences.has(fence.number)) this.#foundOther ||= this.#isOtherFence(fence, text);
      const isFirst = this.#isFirst(start, text);
      if (this.#foundOther || (isFirst && !this.#hasMore(fence.to + 3, text))) return start;
    }
    return Infinity;
  }

  #isOtherFence(fence: FenceBody, text: string): boolean {
    const node = scalarNode(text.slice(fence.from, fence.to));
    return this.#isOther(node, node.quoted);
  }

  /** Returns the start of the open fence while its content can become another member. */
  #openFence(text: string): number {
    const { openFence } = this.#finder;
    if (openFence === undefined) return Infinity;
    const start = fenceStart(openFence, text);
    if (this.#isFirst(start, text)) return start;
    const body = text.slice(openFence, openFence + LOOK_AHEAD).trim();
    return body === '' || body.startsWith('"') || this.#canBeScalar(body) ? start : Infinity;
  }

  #isFirst(offset: number, text: string): boolean {
    return this.#state === 'waiting' && skipSpace(text, this.#start) >= offset;
  }

  #hasMore(from: number, text: string): boolean {
    return skipSpace(text, from) < this.#finder.consumed;
  }
}

/** Returns the offset of the backticks of a fence. `from`: the start of the text in it. */
function fenceStart(from: number, text: string): number {
  return text.lastIndexOf('```', from - 1);
}
