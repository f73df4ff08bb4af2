import type { Plan } from './coercion/plan.ts';
import { GrowingPartial } from './growing-partial.ts';
import type { ParseOutcome, ReplyStream } from './reply-parser.ts';
import type { ReplyType } from './reply-type.ts';
import { StraightReading } from './fast-path/straight-reading.ts';
import { GrowingText } from './text/growing-text.ts';
import { ValueNode } from './text/value-node.ts';

/** Makes the final outcome of a whole reply. `straight`: what was read straight from it, if anything was. */
export type Finish = (text: string, straight: StraightReading | undefined) => ParseOutcome;

/**
 * A reply that arrives in pieces. It is read when a partial is asked for: straight into its type as long as that goes
 * well, otherwise once more from its start by the tolerant reader, which then goes on with it. Either keeps its state,
 * so that each partial costs what has arrived since the last one, and the writing of its text.
 */
export class GrowingReply implements ReplyStream {
  readonly #plan: Plan;
  readonly #type: ReplyType;
  readonly #finish: Finish;
  /** What has been read, and what has arrived since. */
  readonly #text = new GrowingText();
  #unread = new GrowingText();
  #straight: StraightReading | undefined = undefined;
  #tolerant: GrowingPartial | undefined = undefined;
  /** The reply as a text, for types that take it as it is. */
  readonly #asText = new ValueNode('string');
  #last: string | undefined = undefined;

  constructor(plan: Plan, type: ReplyType, finish: Finish) {
    this.#plan = plan;
    this.#type = type;
    this.#finish = finish;
    this.#asText.plain = false;
  }

  push(piece: string): void {
    this.#unread.append(piece);
  }

  takePartial(): string | undefined {
    const json = this.#type.text === 'no' ? this.#partialValue() : this.#partialText();
    if (json === undefined || json === this.#last) return undefined;
    // Looking at a text that was put together makes it flat: only what the tolerant reader shows can change its kind.
    if (this.#tolerant !== undefined && this.#changesKind(json)) return undefined;
    this.#last = json;
    return json;
  }

  /** An empty list does not turn into an object, when a later value in the reply suits a union better. */
  #changesKind(json: string): boolean {
    const last = this.#last;
    return last !== undefined && last !== 'null' && json.charCodeAt(0) !== last.charCodeAt(0);
  }

  get toRead(): number {
    const unread = this.#unread.joined.length;
    return this.#straight?.gaveUp === false ? unread : this.#text.joined.length + unread;
  }

  finish(): ParseOutcome {
    const straight = this.#straight;
    if (straight?.gaveUp === false) straight.push(this.#unread.joined);
    this.#tolerant = undefined; // Lets go of what was read, before the whole is read once more.
    return this.#finish(this.#text.joined + this.#unread.joined, straight);
  }

  /** What has arrived since the last time. */
  #takeUnread(): string {
    const unread = this.#unread.joined;
    this.#text.append(unread);
    this.#unread = new GrowingText();
    return unread;
  }

  #partialText(): string | undefined {
    this.#takeUnread();
    const { text } = this.#text;
    if (text === '' || (this.#type.text === 'or-null' && 'null'.startsWith(text.trim().slice(0, 5)))) return undefined;
    this.#asText.text = text;
    return this.#plan.show(this.#asText).json;
  }

  #partialValue(): string | undefined {
    if (!this.#type.hasComposite) return undefined;
    const piece = this.#takeUnread();
    if (this.#tolerant !== undefined) return this.#tolerant.read(piece, this.#last);
    this.#straight ??= new StraightReading(this.#plan);
    this.#straight.push(piece);
    if (!this.#straight.gaveUp) return this.#straight.show();
    this.#tolerant = new GrowingPartial(this.#plan, this.#type);
    return this.#tolerant.read(this.#text.text, this.#last);
  }
}
