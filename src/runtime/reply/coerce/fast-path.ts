import type { TextParts } from '../../../base/text-parts.ts';
import { isAside, surroundingsOf } from '../candidates/read-candidates.ts';
import { CandidateFinder, type Candidate } from '../candidates/candidate-finder.ts';
import type { ReplyType } from '../reply-type.ts';
import {
  COMMA,
  skipSpace,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  DOUBLE_QUOTE,
  OPEN_BRACE,
  OPEN_BRACKET,
} from '../candidates/scan/characters.ts';
import { Scanner } from '../candidates/scan/scanner.ts';
import type { Plan, TypedContainer } from './plan.ts';
import { CoercedValue } from './outcome.ts';
import { canBecomeScalar } from '../candidates/scan/bare-reader.ts';
import { MAX_COMPARED, type LikelyKey, type Sink } from '../candidates/scan/tree-sink.ts';
import type { Escapes } from '../candidates/scan/string-reader.ts';
import { GrowingString } from '../growing-text.ts';
import { CERTAIN_REPAIRS, MAX_REPLY_DEPTH, type ReplyNode } from '../candidates/scan/reply-node.ts';

/**
 * The fast path for a reply with a single list or object that matches its type exactly. Most replies are like that, and
 * this costs a fraction of the tolerant parser's work. The reply arrives in deltas, each of which is read once.
 */
export class FastPath {
  readonly #sink: TypedSink;
  readonly #finder: CandidateFinder<TypedContainer>;
  /** The sink's version when `show` was last called. */
  #shownVersion = 0;

  constructor(type: ReplyType) {
    this.#sink = new TypedSink(type.plan);
    this.#finder = new CandidateFinder(new Scanner(this.#sink));
  }

  /** The whole reply is left to the tolerant parser. */
  get gaveUp(): boolean {
    return this.#finder.gaveUp;
  }

  /** The list or object is complete. */
  get isComplete(): boolean {
    return this.#sink.json !== undefined;
  }

  push(delta: string): void {
    this.#finder.push(delta);
  }

  /** Returns the JSON text of a partial; undefined if nothing has changed or nothing may appear. */
  show(): TextParts | undefined {
    if (this.#sink.version === this.#shownVersion) return undefined;
    this.#shownVersion = this.#sink.version;
    return this.#sink.show();
  }

  /** Returns the value after the last delta; undefined leaves the reply to the tolerant parser. `text`: the whole reply. */
  finish(text: string): CoercedValue | undefined {
    this.#finder.finish();
    const { candidates, fences, gaveUp, thoughtsEnd } = this.#finder;
    const candidate = candidates[0];
    const { json } = this.#sink;
    if (gaveUp || json === undefined || candidate === undefined) return undefined;
    if (fences.some((fence) => fence.number !== candidate.fence)) return undefined;
    const place = placeFlag(candidate, text);
    // An empty value inside a text is rarely the answer.
    if (place !== undefined && json.length === 2) return undefined;
    const { from, to, fence: number } = candidate;
    if (from < thoughtsEnd) return undefined; // A value in a thought is the answer only if there is no other.
    if (text.charCodeAt(skipSpace(text, to)) === COMMA) return undefined; // The value can go on after a bracket too many.
    const fence = number > 0 ? fences[0] : undefined;
    if (place !== undefined && !isAnswer(text, { from, to, fence, after: 0, next: text.length })) return undefined;
    const flags = this.#sink.root?.flags ?? [];
    return new CoercedValue(json, { flags: place === undefined ? flags : [{ flag: place, path: '' }, ...flags] });
  }
}

/** True for a value alone on its lines, which no label sets apart. */
function isAnswer(...value: Parameters<typeof surroundingsOf>): boolean {
  const { place, role } = surroundingsOf(...value);
  return place === 'alone' && !isAside({ role });
}

/** Returns the flag for a value in a fence or in prose; undefined if the value is the whole reply. */
function placeFlag(candidate: Candidate<unknown>, text: string): string | undefined {
  if (candidate.fence > 0) return 'markdown';
  const isWhole = candidate.from <= skipSpace(text, 0) && skipSpace(text, candidate.to) === text.length;
  return isWhole ? undefined : 'prose';
}

/**
 * Writes one list or object as JSON text of its type. Any repair that is not certain, and any value that does not match
 * its type exactly, makes it give up, and the tolerant parser starts over.
 */
class TypedSink implements Sink<TypedContainer> {
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
  #expected: Plan;
  /** The part of the open string that has been taken out of its node. */
  #string: GrowingString | undefined = undefined;

  constructor(type: Plan) {
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
    return this.#refuse();
  }

  keyToItem(): boolean {
    return this.#refuse();
  }

  reopen(): boolean {
    return false;
  }

  readonly holdsLists = false;
  readonly keepsText = false;

  reopenRoot(): boolean {
    return this.#refuse();
  }

  dropLast(): void {
    this.gaveUp = true;
  }

  /** Returns the JSON text that a partial shows; undefined if nothing may appear yet. */
  show(): TextParts | undefined {
    if (this.json !== undefined) return this.json;
    let shown = this.#string === undefined ? undefined : this.#expected.showString(this.#string);
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
    top.add(json, member);
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
