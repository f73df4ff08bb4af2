import type { ReplyType } from './reply-type.ts';
import { isKept, isText } from './coerce/outcome.ts';
import { CandidateFinder, type Candidate, type FenceBody } from './candidates/candidate-finder.ts';
import { closersOf, DOUBLE_QUOTE, skipSpace } from './candidates/scan/characters.ts';
import { Cursor } from './candidates/scan/cursor.ts';
import { GrowingString } from './growing-text.ts';
import { LOOK_AHEAD } from './candidates/look-ahead.ts';
import { ReplyNode } from './candidates/scan/reply-node.ts';
import { Scanner } from './candidates/scan/scanner.ts';
import { StringReader } from './candidates/scan/string-reader.ts';
import { TreeSink } from './candidates/scan/tree-sink.ts';
import { scalarNode } from './candidates/whole-text.ts';

/**
 * The partials of a reply that is the string of a union. They show prose as it grows, up to the first part of it that can
 * be another member: an object, a list, or a fence. If that part turns out to match no other member, they go on after it;
 * otherwise they end, since the final value is that member. They do not show a text that, as a whole, can still be quoted
 * or another scalar.
 */
export class TextPartials {
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
  read(delta: string, text: string): string | undefined {
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

  #showQuoted(text: string): string | undefined {
    this.#cursor.text = text;
    const node = this.#quoted;
    if (this.#strings.readToQuote()) this.#state = 'ended';
    if (node.repairs !== 0 || this.#strings.escapes === 'foreign') this.#state = 'ended';
    else this.#quotedJson.append(node.text, node.plain);
    node.text = '';
    return this.#type.plan.showString(this.#quotedJson.json);
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
    return outcome.ok && isKept(outcome) && (isString || !isText(outcome));
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
