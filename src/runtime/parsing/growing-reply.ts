import type { Partial } from './coercion/partial.ts';
import type { Plan } from './coercion/plan.ts';
import type { ParseOutcome, ReplyParser, ReplyStream } from './reply-parser.ts';
import type { ReplyType } from './reply-type.ts';
import { CandidateFinder } from './text/candidate-finder.ts';
import { GrowingText } from './text/growing-text.ts';
import { ValueNode } from './text/value-node.ts';

/**
 * A reply that arrives in pieces. Partials come from the first value in it that shows something, and stay with it:
 * when a later one turns out to be the answer, only the final value says so, because a partial never takes back what
 * an earlier one showed.
 */
export class GrowingReply implements ReplyStream {
  readonly #parser: ReplyParser;
  readonly #plan: Plan;
  readonly #type: ReplyType;
  #finder = new CandidateFinder();
  /** The reply as a text, for types that take it as it is. */
  readonly #asText = new ValueNode('string');
  /** Several objects, where a list is wanted. */
  readonly #joined = new ValueNode('list');
  /** The first candidate that the list has not seen. */
  #joinedTo = 0;
  readonly #text = new GrowingText();
  /** What has arrived since the last partial: read at one go, when the next one is asked for. */
  #unread = new GrowingText();
  #last: string | undefined = undefined;
  #candidate = 0;
  #settled = false;
  #isJoined = false;

  constructor(parser: ReplyParser, plan: Plan, type: ReplyType) {
    this.#parser = parser;
    this.#plan = plan;
    this.#type = type;
    this.#asText.plain = false;
  }

  push(piece: string): void {
    this.#text.append(piece);
    this.#unread.append(piece);
  }

  takePartial(): string | undefined {
    const json = this.#type.text === 'no' ? this.#partialValue() : this.#partialText();
    if (json === undefined || json === this.#last || this.#changesKind(json)) return undefined;
    this.#last = json;
    return json;
  }

  /** An empty list does not turn into an object, when a later value in the reply suits a union better. */
  #changesKind(json: string): boolean {
    const last = this.#last;
    return last !== undefined && last !== 'null' && json.charCodeAt(0) !== last.charCodeAt(0);
  }

  finish(): ParseOutcome {
    // Lets go of what was read, before the whole is read once more.
    this.#finder = new CandidateFinder();
    this.#unread = new GrowingText();
    return this.#parser.parse(this.#text.text);
  }

  #partialText(): string | undefined {
    const { text } = this.#text;
    if (text === '' || (this.#type.text === 'or-null' && 'null'.startsWith(text.trim().slice(0, 5)))) return undefined;
    this.#asText.text = text;
    return this.#plan.show(this.#asText).json;
  }

  #partialValue(): string | undefined {
    if (!this.#type.hasComposite) return undefined;
    this.#finder.push(this.#unread.text);
    this.#unread = new GrowingText();
    const { candidates } = this.#finder;
    if (this.#isJoined) return this.#joinedPartial();
    while (this.#candidate < Math.min(candidates.length, MAX_TRIED)) {
      const node = candidates[this.#candidate]?.node;
      if (node === undefined) return undefined;
      if (this.#settled) return this.#type.isList ? this.#tryJoined() : undefined;
      const partial = this.#plan.show(node);
      if (showsSomething(partial)) {
        this.#settled = node.complete;
        return partial.json;
      }
      if (!node.complete || this.#candidate + 1 >= candidates.length) return partial.json;
      this.#candidate += 1;
    }
    return undefined;
  }

  /** A second object may continue the list that the first one began. */
  #tryJoined(): string | undefined {
    if (this.#finder.candidates.length <= this.#candidate + 1) return undefined;
    const json = this.#joinedPartial();
    if (json === undefined || this.#last === undefined || !json.startsWith(this.#last.slice(0, -1))) return undefined;
    this.#isJoined = true;
    return json;
  }

  #joinedPartial(): string | undefined {
    const { candidates } = this.#finder;
    this.#joinedTo = Math.max(this.#joinedTo, this.#candidate);
    for (; this.#joinedTo < candidates.length; this.#joinedTo += 1) {
      const node = candidates[this.#joinedTo]?.node;
      if (node === undefined || (node.items.length === 0 && !node.complete)) break;
      if (node.items.length > 0) this.#joined.add(node);
    }
    return this.#plan.show(this.#joined).json;
  }
}

/** Where so many values show nothing, the next ones will not either: partials end, and the final value decides. */
const MAX_TRIED = 100;

function showsSomething(partial: Partial): boolean {
  const { json } = partial;
  return json !== undefined && !partial.hollow && json !== 'null' && json !== '[]' && json !== '{}';
}
