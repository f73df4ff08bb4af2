import { settleBareToken } from './bare-reader.ts';
import { CLOSE_BRACE, CLOSE_BRACKET, OPEN_BRACE } from './characters.ts';
import type { Escapes } from './string-reader.ts';
import type { Cursor } from './cursor.ts';
import { MAX_REPLY_DEPTH, REPAIR, ReplyNode, stringNode } from './reply-node.ts';

/** Builds a tree of nodes from a value of any type. */
export class TreeSink implements Sink<ReplyNode> {
  root: ReplyNode | undefined = undefined;
  /** True if the value nests deeper than MAX_DEPTH. */
  gaveUp = false;
  readonly likely = undefined;
  readonly keepsText = true;
  /** The lists and objects that are open, with the innermost on top. */
  readonly #stack: ReplyNode[] = [];
  #top: ReplyNode | undefined = undefined;
  /** The offsets of their brackets. */
  readonly #starts: number[] = [];
  /** The key of the next value, and the repairs that reading it took. */
  #key = '';
  #keyRepairs = 0;

  clear(): void {
    this.root = undefined;
    this.gaveUp = false;
    this.#stack.length = 0;
    this.#starts.length = 0;
    this.#top = undefined;
    this.#key = '';
    this.#keyRepairs = 0;
  }

  get depth(): number {
    return this.#stack.length;
  }

  get inObject(): boolean {
    return this.#top?.kind === 'object';
  }

  get closers(): string {
    const innermost = this.#stack.slice(-MAX_COMPARED).toReversed();
    return innermost.map(({ kind }) => (kind === 'object' ? '}' : ']')).join('');
  }

  addRepair(repair: number): void {
    if (this.#top !== undefined) this.#top.repairs |= repair;
  }

  /** The first key of an object in a list, a second time, begins the next object: its braces are missing. */
  key(key: string, repairs: number): boolean {
    const keys = this.#top?.keys ?? [];
    if (keys.length > 1 && keys[0] === key && this.#stack.at(-2)?.kind === 'list') {
      this.closeInnermost();
      this.open(OPEN_BRACE);
      this.addRepair(REPAIR.brackets);
    }
    this.#key = key;
    this.#keyRepairs = repairs;
    return true;
  }

  // --- lists and objects ---------------------------------------------------------------------------------------------

  open(bracket: number, cursor?: Readonly<Cursor>): boolean {
    if (this.#stack.length >= MAX_REPLY_DEPTH) {
      this.gaveUp = true;
      return false;
    }
    const node = new ReplyNode(bracket === OPEN_BRACE ? 'object' : 'list');
    this.begin(node);
    return this.#push(node, cursor?.offset ?? UNKNOWN);
  }

  #push(node: ReplyNode, at: number): true {
    this.#stack.push(node);
    this.#starts.push(at);
    this.#top = node;
    return true;
  }

  /** Also closes the lists and objects that are open inside it. */
  close(bracket: number, cursor?: Readonly<Cursor>): boolean {
    const kind = bracket === CLOSE_BRACE ? 'object' : 'list';
    let depth = this.#stack.length - 1;
    while (depth >= 0 && this.#stack[depth]?.kind !== kind) depth -= 1;
    if (depth < 0) return false;
    while (this.#stack.length > depth) {
      const node = this.#stack.pop();
      const start = this.#starts.pop() ?? UNKNOWN;
      if (node === undefined) break;
      node.complete = true;
      if (this.#stack.length > depth) node.repairs |= REPAIR.brackets;
      else if (start !== UNKNOWN && cursor !== undefined) node.text = cursor.textFrom(start);
    }
    this.#top = this.#stack[depth - 1];
    return true;
  }

  closeInnermost(): void {
    this.addRepair(REPAIR.brackets);
    this.close(this.inObject ? CLOSE_BRACE : CLOSE_BRACKET);
  }

  nextItem(): boolean {
    const last = this.#top?.items.at(-1);
    if (this.#top === undefined || last === undefined || !this.inObject) return false;
    if (this.#stack.at(-2)?.kind === 'list') return this.close(CLOSE_BRACE);
    if (last.kind !== 'object') return false;
    const list = new ReplyNode('list');
    list.repairs = REPAIR.brackets;
    list.add(last);
    this.#top.replaceLast(list);
    return this.#push(list, UNKNOWN);
  }

  keyToItem(): boolean {
    if (this.#top?.kind !== 'object' || this.#top.items.length > 0 || this.#key === '') return false;
    this.#top.become('list');
    this.addRepair(REPAIR.brackets);
    const item = stringNode(this.#key);
    item.quoted = true;
    return this.begin(item);
  }

  itemToKey(): boolean {
    const list = this.#top;
    const hasDropped = list !== undefined && (list.repairs & REPAIR.brackets) !== 0;
    this.addRepair(REPAIR.brackets);
    const key = list?.items.at(-1);
    if (list === undefined || key?.kind !== 'string' || !key.quoted) return false;
    const before = list.items.at(-2);
    const isOfItem = before?.kind === 'object' && before.keys.includes(key.text);
    if (before?.kind === 'object' && !isOfItem && hasDropped) {
      // The bracket that was dropped closed the object too early.
      list.dropLast();
      this.#openAgain(before);
      return this.key(key.text, key.repairs);
    }
    if (before !== undefined && !isOfItem && this.#stack.at(-2)?.kind !== 'object') return false;
    list.dropLast();
    if (before === undefined) list.become('object');
    else if (isOfItem) this.open(OPEN_BRACE);
    else this.close(CLOSE_BRACKET);
    return this.key(key.text, key.repairs);
  }

  reopen(): boolean {
    const list = this.#top?.items.at(-1);
    if (!this.inObject || list?.kind !== 'list') return false;
    list.enlistScalars();
    return this.#openAgain(list);
  }

  reopenRoot(): boolean {
    return this.root !== undefined && this.#openAgain(this.root);
  }

  #openAgain(node: ReplyNode): true {
    node.complete = false;
    node.forget();
    node.repairs |= REPAIR.brackets;
    node.text = '';
    return this.#push(node, UNKNOWN);
  }

  get holdsLists(): boolean {
    return this.#top?.items[0]?.kind === 'list';
  }

  dropLast(): void {
    if (this.#top?.kind !== 'list') return;
    this.#top.dropLast();
    this.#top.repairs |= REPAIR.droppedText;
  }

  /** Marks everything that is open as unclosed; it stays incomplete. */
  giveUp(): void {
    for (const node of this.#stack) node.repairs |= REPAIR.unclosed;
  }

  // --- scalars -------------------------------------------------------------------------------------------------------

  string(text: string, from: number, to: number, escapes: Escapes): boolean {
    const node = new ReplyNode('string');
    node.quoted = true;
    node.complete = true;
    node.plain = escapes === 'none';
    node.text = node.plain ? text.slice(from + 1, to - 1) : (JSON.parse(text.slice(from, to)) as string);
    return this.begin(node);
  }

  token(source: string): boolean {
    const node = new ReplyNode('bare');
    node.text = source;
    settleBareToken(node);
    return this.begin(node);
  }

  /** Appends the node to the innermost list or object. */
  begin(node: ReplyNode): boolean {
    const parent = this.#top;
    if (parent === undefined) {
      this.root = node;
    } else if (parent.kind === 'object') {
      parent.put(this.#key, node);
      parent.repairs |= this.#keyRepairs;
    } else parent.add(node);
    return true;
  }

  grow(): void {
    // The scanner writes into the node.
  }

  end(): boolean {
    return true;
  }
}

/** The offset of a list or object that did not begin at a bracket of its own. */
const UNKNOWN = -1;

/** The most lists and objects, from the innermost one, that are compared with the text ahead. */
export const MAX_COMPARED = 16;

/**
 * Receives the parts of one list or object in the order of the text. A sink that rejects the value sets `gaveUp`; methods
 * that return a boolean then return false.
 */
export interface Sink<T> {
  /** The outermost value; undefined until its bracket has been read. */
  readonly root: T | undefined;
  /** The number of lists and objects that are open. */
  readonly depth: number;
  /** True if the innermost of them is an object. */
  readonly inObject: boolean;
  readonly gaveUp: boolean;
  /** The brackets that close the innermost lists and objects, the innermost first: at most MAX_COMPARED. */
  readonly closers: string;
  /** True if lists and objects get their own text. */
  readonly keepsText: boolean;
  /** The key that probably comes next. */
  readonly likely: LikelyKey | undefined;
  /** Prepares for another value. */
  clear(): void;
  /** Opens a list or object at the cursor. */
  open(bracket: number, cursor: Readonly<Cursor>): boolean;
  /** Closes the innermost list or object that matches the bracket at the cursor. Returns false if there is none. */
  close(bracket: number, cursor: Readonly<Cursor>): boolean;
  /** Closes the innermost list or object, whatever its kind. */
  closeInnermost(): void;
  /** `repairs`: bits of REPAIR. */
  key(key: string, repairs: number): boolean;
  /** Takes a complete string between double quotes: the part of the text between the two offsets, quotes included. */
  string(text: string, from: number, to: number, escapes: Escapes): boolean;
  /** Takes a complete token without quotes. */
  token(source: string): boolean;
  /** Takes a scalar whose end has not arrived. `first`: its first character. */
  begin(node: ReplyNode, first: number): boolean;
  /** Takes more of a scalar: its node contains all that has arrived. */
  grow(node: ReplyNode): void;
  /** Takes the end of a scalar, which is complete. */
  end(node: ReplyNode): boolean;
  /**
   * Prepares for an object in the place of a key: closes the object that is the last member of a list, or puts the last
   * member of an object into a list, if it is an object. Returns false for any other.
   */
  nextItem(): boolean;
  /**
   * Makes the last member of a list, a string, the next key: of the list itself if that is its only member, of another
   * object in the list, or of the object around the list. Returns false if none of them can have it.
   */
  itemToKey(): boolean;
  /**
   * Makes the first key of an object, after which no value comes, the first item of a list: `{"a", "b"}` is a set. Returns
   * false for any other key.
   */
  keyToItem(): boolean;
  /**
   * Opens the list again that is the last member of the innermost object: it was closed too early. Returns false for any
   * other member.
   */
  reopen(): boolean;
  /** Opens the whole value again: it goes on after its closing bracket. */
  reopenRoot(): boolean;
  /** True if the members of the innermost list are lists. */
  readonly holdsLists: boolean;
  /** Takes back the last member of a list. */
  dropLast(): void;
  /** Records a repair between the members of the innermost list or object. */
  addRepair(repair: number): void;
  /** Ends the value as incomplete, because the text ends before it. */
  giveUp(): void;
}

/** A key, and its spelling in JSON without spaces: `"key":`. */
export interface LikelyKey {
  readonly key: string;
  readonly writtenKey: string;
}
