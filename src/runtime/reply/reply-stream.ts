import { coerceReply } from './coerce-reply.ts';
import { isKept, isText, type CoercionOutcome } from './coercion/outcome.ts';
import { PartialValue, type Plan } from './coercion/plan.ts';
import { PARSED_PER_STEP, spend, StepBudget } from './coercion/step-budget.ts';
import { FastPath } from './fast-path/fast-path.ts';
import type { ParseOutcome, ReplyStream } from './reply-parser.ts';
import type { ReplyType } from './reply-type.ts';
import { TextPartials } from './text-partials.ts';
import { CandidateFinder } from './text/candidate-finder.ts';
import { GrowingText } from './text/growing-text.ts';
import { ReplyNode } from './text/reply-node.ts';
import { Scanner } from './text/scanner.ts';
import { TreeSink } from './text/tree-sink.ts';

/**
 * A reply that arrives in deltas. It is read when a partial is requested: on the fast path as long as that succeeds,
 * then again from its start by the tolerant parser. Both keep their state, so that a partial costs the reading of the
 * text since the last one, and the writing of its own text.
 */
export class GrowingReply implements ReplyStream {
  readonly #plan: Plan;
  readonly #type: ReplyType;
  readonly #outcomeOf: (outcome: CoercionOutcome) => ParseOutcome;
  /** The text that has been read. */
  readonly #text = new GrowingText();
  #unread = new GrowingText();
  #fastPath: FastPath | undefined = undefined;
  #tolerant: TolerantPartials | undefined = undefined;
  /** The reply as a string, for the type that takes it as it is. */
  readonly #string = new ReplyNode('string');
  /** The reply as the string of a union, until another member begins. */
  #prose: TextPartials | undefined;
  /** A partial has shown such a string. */
  #isProse = false;
  #last: string | undefined = undefined;
  /** The steps for partials. Once they are spent, only the final outcome follows. */
  readonly #budget = new StepBudget();

  /** `outcomeOf`: turns the result of the whole reply into the outcome for the caller. */
  constructor(plan: Plan, type: ReplyType, outcomeOf: (outcome: CoercionOutcome) => ParseOutcome) {
    this.#plan = plan;
    this.#type = type;
    this.#outcomeOf = outcomeOf;
    this.#string.plain = false;
    this.#prose = type.takesText && type.asString !== 'yes' ? new TextPartials(plan, type) : undefined;
  }

  push(delta: string): void {
    this.#unread.append(delta);
  }

  takePartial(): string | undefined {
    const isString = this.#type.asString === 'yes';
    this.#budget.grow(this.#unread.joined.length);
    const json = this.#budget.run(() => (isString ? this.#partialString() : this.#partialValue()));
    if (this.#budget.isSpent) this.#release();
    if (json === undefined || json === this.#last) return undefined;
    // Reading a character flattens a concatenated text, so this check runs only where the kind can change.
    if (this.#tolerant !== undefined && this.#changesKind(json)) return undefined;
    this.#last = json;
    return json;
  }

  /** Frees the partial state; `finish` reads the whole reply again. */
  #release(): void {
    this.#fastPath = undefined;
    this.#tolerant = undefined;
    this.#prose = undefined;
  }

  /** An empty list does not turn into an object, even if a later value in the reply suits a union better. */
  #changesKind(json: string): boolean {
    const last = this.#last;
    return last !== undefined && last !== 'null' && json.charCodeAt(0) !== last.charCodeAt(0);
  }

  get toRead(): number {
    const unread = this.#unread.joined.length;
    return this.#fastPath?.gaveUp === false ? unread : this.#text.joined.length + unread;
  }

  finish(): ParseOutcome {
    const unread = this.#unread.joined;
    this.#tolerant = undefined; // Releases its tree before the whole reply is read again.
    const fastPath = this.#finishedFastPath(unread);
    return this.#outcomeOf(coerceReply(this.#text.joined + unread, this.#plan, this.#type, fastPath));
  }

  /** Returns the fast path after the last text; undefined if it has to begin again, because no steps are left. */
  #finishedFastPath(unread: string): FastPath | undefined {
    const fastPath = this.#fastPath;
    this.#budget.grow(unread.length);
    if (fastPath?.gaveUp === false) this.#budget.run(() => fastPath.push(unread));
    return this.#budget.isSpent ? undefined : fastPath;
  }

  /** Returns the text since the last call. */
  #takeUnread(): string {
    const unread = this.#unread.joined;
    this.#text.append(unread);
    this.#unread = new GrowingText();
    return unread;
  }

  #partialString(): string | undefined {
    this.#takeUnread();
    const { text } = this.#text;
    if (text === '') return undefined;
    this.#string.text = text;
    return this.#plan.show(this.#string).json;
  }

  #partialValue(): string | undefined {
    if (!this.#type.hasComposite && this.#prose === undefined) return undefined;
    const delta = this.#takeUnread();
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
  #isOtherMember(json: string): boolean {
    if (json.startsWith('"')) return false;
    if ((this.#tolerant ?? this.#fastPath)?.isComplete === true) return true;
    spend(json.length / PARSED_PER_STEP);
    return isContent(JSON.parse(json));
  }

  #partialComposite(delta: string): string | undefined {
    if (this.#tolerant !== undefined) return this.#tolerant.read(delta, this.#last);
    this.#fastPath ??= new FastPath(this.#plan);
    this.#fastPath.push(delta);
    if (!this.#fastPath.gaveUp) return this.#fastPath.show();
    this.#tolerant = new TolerantPartials(this.#plan, this.#type);
    const { text } = this.#text;
    const before = text.length - delta.length;
    // The tolerant parser has to know what the fast path has shown, since partials take nothing back.
    if (this.#last !== undefined) this.#tolerant.read(text.slice(0, before), this.#last);
    return this.#tolerant.read(this.#last === undefined ? text : text.slice(before), this.#last);
  }
}

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
  readonly #plan: Plan;
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

  constructor(plan: Plan, type: ReplyType) {
    this.#plan = plan;
    this.#type = type;
  }

  /** True if the value that partials show is complete and matches the type. */
  get isComplete(): boolean {
    const node = this.#finder.candidates[this.#candidate]?.value;
    const outcome = node?.complete === true ? this.#plan.coerce(node) : undefined;
    return outcome?.ok === true && isKept(outcome) && !isText(outcome);
  }

  /** Reads a delta and returns the JSON text of the partial. `last`: the previous partial. */
  read(delta: string, last: string | undefined): string | undefined {
    this.#finder.push(delta);
    const { candidates } = this.#finder;
    if (this.#isJoined) return this.#joinedPartial();
    while (this.#candidate < Math.min(candidates.length, MAX_TRIED)) {
      const node = candidates[this.#candidate]?.value;
      if (node === undefined) return undefined;
      if (this.#settled) return this.#type.hasList ? this.#tryJoined(last) : undefined;
      const partial = this.#isRow(node) ? PartialValue.withheld : this.#plan.show(node);
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
  #tryJoined(last: string | undefined): string | undefined {
    if (this.#finder.candidates.length <= this.#candidate + 1) return undefined;
    const json = this.#joinedPartial();
    if (json === undefined || last === undefined || !json.startsWith(last.slice(0, -1))) return undefined;
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
    return this.#plan.show(this.#joined).json;
  }
}

function hasContent({ json, allNull }: PartialValue): boolean {
  return json !== undefined && !allNull && json !== 'null' && json !== '[]' && json !== '{}';
}
