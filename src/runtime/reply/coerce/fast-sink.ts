import { canBecomeScalar } from '../candidates/scan/bare-reader.ts';
import { CLOSE_BRACE, CLOSE_BRACKET, DOUBLE_QUOTE, OPEN_BRACE, OPEN_BRACKET } from '../candidates/scan/characters.ts';
import { MAX_COMPARED, type LikelyKey, type Sink } from '../candidates/scan/sink.ts';
import type { Escapes } from '../candidates/scan/escapes.ts';
import { GrowingString } from '../growing-text.ts';
import { CERTAIN_REPAIRS, MAX_REPLY_DEPTH, type ReplyNode } from '../candidates/scan/reply-node.ts';
import type { FastPlan, TypedContainer } from './fast-containers.ts';

/**
 * Writes one list or object as JSON text of its type. Any repair that is not certain, and any value that does not match
 * its type exactly, makes it give up, and the tolerant parser starts over.
 */
export class TypedSink implements Sink<TypedContainer> {
  /** True if the tolerant parser has to read the reply. */
  gaveUp = false;
  root: TypedContainer | undefined = undefined;
  depth = 0;
  /** The JSON text of the value; undefined until it is complete. */
  json: string | undefined = undefined;
  /** Increases with everything that a partial can show. */
  version = 0;
  /** The innermost list or object that has not ended. */
  #top: TypedContainer | undefined = undefined;
  /** The type of the value that comes next, or is being read. */
  #expected: FastPlan;
  /** The part of the open string that has been taken out of its node. */
  #string: GrowingString | undefined = undefined;

  constructor(type: FastPlan) {
    this.#expected = type;
  }

  get closers(): string {
    let closers = '';
    for (let each = this.#top; each !== undefined && closers.length < MAX_COMPARED; each = each.outer)
      closers += each.isList ? ']' : '}';
    return closers;
  }

  get inObject(): boolean {
    return this.#top?.isList === false;
  }

  get likely(): LikelyKey | undefined {
    return this.#top?.likely;
  }

  /** Gives up if it has read a value: only the tolerant parser compares two values. */
  clear(): void {
    this.gaveUp = this.root !== undefined;
  }

  giveUp(): void {
    this.gaveUp = true;
  }

  addRepair(repair: number): void {
    if ((repair & ~CERTAIN_REPAIRS) !== 0) this.gaveUp = true;
    else if (this.#top !== undefined) this.#top.repairs |= repair;
  }

  key(key: string, repairs: number): boolean {
    if (repairs !== 0) this.addRepair(repairs);
    return !this.gaveUp && this.#expect(key);
  }

  closeInnermost(): void {
    this.gaveUp = true;
  }

  nextItem(): boolean {
    return false;
  }

  itemToKey(): boolean {
    return false;
  }

  reopen(): boolean {
    return false;
  }

  readonly holdsLists = false;

  reopenRoot(): boolean {
    return this.#refuse();
  }

  dropLast(): void {
    this.gaveUp = true;
  }

  /** Returns the JSON text that a partial shows; undefined if nothing may appear yet. */
  show(): string | undefined {
    if (this.json !== undefined) return this.json;
    let shown = this.#string === undefined ? undefined : this.#expected.showString(this.#string.json);
    for (let container = this.#top; container !== undefined; container = container.outer) {
      const json = container.show(shown);
      shown = container.plan?.showsOpen(container.isList ? OPEN_BRACKET : OPEN_BRACE) === true ? json : undefined;
    }
    return shown;
  }

  #refuse(): false {
    this.gaveUp = true;
    return false;
  }

  #expect(key: string): boolean {
    const plan = this.#top?.next(key);
    if (plan === undefined) return this.#refuse();
    this.#expected = plan;
    return true;
  }

  // --- lists and objects ---------------------------------------------------------------------------------------------

  open(bracket: number): boolean {
    const plan = this.#expected;
    const container = this.depth < MAX_REPLY_DEPTH ? plan.openContainer(bracket) : undefined;
    if (container === undefined) return this.#refuse();
    container.plan = plan;
    container.outer = this.#top;
    this.root ??= container;
    this.#top = container;
    this.depth += 1;
    this.version += 1;
    return !container.isList || this.#expect('');
  }

  close(bracket: number): boolean {
    const top = this.#top;
    if (top === undefined || bracket !== (top.isList ? CLOSE_BRACKET : CLOSE_BRACE)) return this.#refuse();
    const json = top.close();
    if (json === undefined || top.plan?.accepts(json) !== true) return this.#refuse();
    this.#top = top.outer;
    this.depth -= 1;
    if (top.outer !== undefined) return this.#add(json, top);
    this.json = json;
    this.version += 1;
    return true;
  }

  /** Appends a complete member to the innermost container. */
  #add(json: string | undefined, member?: TypedContainer): boolean {
    const top = this.#top;
    if (json === undefined || top === undefined) return this.#refuse();
    top.add(json, member?.flags);
    this.version += 1;
    return !top.isList || this.#expect('');
  }

  // --- scalars -------------------------------------------------------------------------------------------------------

  string(text: string, from: number, to: number, escapes: Escapes): boolean {
    const source = text.slice(from, to);
    return this.#exactString(escapes === 'other' ? JSON.stringify(JSON.parse(source)) : source);
  }

  #exactString(json: string): boolean {
    return this.#add(this.#expected.exact(json));
  }

  token(source: string): boolean {
    return this.#add(this.#expected.exact(source));
  }

  begin(node: ReplyNode, first: number): boolean {
    if (node.repairs !== 0 || !this.#expected.mayBegin(first)) return this.#refuse();
    if (first !== DOUBLE_QUOTE) return true;
    this.#string = new GrowingString();
    this.version += 1;
    return true;
  }

  grow(node: ReplyNode): void {
    if (node.repairs !== 0) this.gaveUp = true;
    else if (this.#string === undefined) this.gaveUp ||= !canBecomeScalar(node.text.trim());
    else if (node.text !== '') {
      this.#string.append(node.text, node.plain);
      this.version += 1;
      node.text = '';
    }
  }

  end(node: ReplyNode): boolean {
    if (node.repairs !== 0) return this.#refuse();
    const string = this.#string;
    if (string === undefined) return this.token(node.text);
    this.#string = undefined;
    string.append(node.text, node.plain);
    return this.#exactString(string.end());
  }
}
