import { settleBareToken } from './bare-reader.ts';
import { CLOSE_BRACE, CLOSE_BRACKET, OPEN_BRACE } from './characters.ts';
import type { Escapes } from './escapes.ts';
import { MAX_REPLY_DEPTH, REPAIR, ReplyNode } from './reply-node.ts';
import { MAX_COMPARED, type Sink } from './sink.ts';

/** Builds a tree of nodes from a value of any type. */
export class TreeSink implements Sink<ReplyNode> {
  root: ReplyNode | undefined = undefined;
  /** True if the value nests deeper than MAX_DEPTH. */
  gaveUp = false;
  readonly likely = undefined;
  /** The lists and objects that are open, with the innermost on top. */
  readonly #stack: ReplyNode[] = [];
  #top: ReplyNode | undefined = undefined;
  /** The key of the next value, and the repairs that reading it took. */
  #key = '';
  #keyRepairs = 0;

  clear(): void {
    this.root = undefined;
    this.gaveUp = false;
    this.#stack.length = 0;
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

  open(bracket: number): boolean {
    if (this.#stack.length >= MAX_REPLY_DEPTH) {
      this.gaveUp = true;
      return false;
    }
    const node = new ReplyNode(bracket === OPEN_BRACE ? 'object' : 'list');
    this.begin(node);
    this.#stack.push(node);
    this.#top = node;
    return true;
  }

  /** Also closes the lists and objects that are open inside it. */
  close(bracket: number): boolean {
    const kind = bracket === CLOSE_BRACE ? 'object' : 'list';
    let depth = this.#stack.length - 1;
    while (depth >= 0 && this.#stack[depth]?.kind !== kind) depth -= 1;
    if (depth < 0) return false;
    while (this.#stack.length > depth) {
      const node = this.#stack.pop();
      if (node === undefined) break;
      node.complete = true;
      if (this.#stack.length > depth) node.repairs |= REPAIR.brackets;
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
    this.#stack.push(list);
    this.#top = list;
    return true;
  }

  itemToKey(): boolean {
    const list = this.#top;
    const key = list?.items.at(-1);
    if (list === undefined || key?.kind !== 'string' || !key.quoted) return false;
    const before = list.items.at(-2);
    const isOfItem = before?.kind === 'object' && before.keys.includes(key.text);
    if (before !== undefined && !isOfItem && this.#stack.at(-2)?.kind !== 'object') return false;
    list.dropLast();
    if (before === undefined) list.becomeObject();
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
    this.#stack.push(node);
    this.#top = node;
    return true;
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
