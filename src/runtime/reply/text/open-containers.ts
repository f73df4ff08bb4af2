import { CLOSE_BRACE } from './characters.ts';
import { REPAIR, ReplyNode } from './reply-node.ts';

/**
 * The deepest nesting of containers. No definition needs more, and at this depth everything that walks a value can
 * recurse without overflowing the stack.
 */
export const MAX_DEPTH = 400;

/** The lists and objects that are open while the tolerant parser reads a value, with the innermost on top. */
export class OpenContainers {
  /** The outermost value; undefined until its bracket has been read. */
  root: ReplyNode | undefined = undefined;
  readonly #stack: ReplyNode[] = [];
  #top: ReplyNode | undefined = undefined;
  /** The key of the next value, and the repairs that reading it took. */
  #key = '';
  #keyRepairs = 0;

  /** Prepares for another value. */
  clear(): void {
    this.root = undefined;
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

  /** Records a repair between the members of the innermost container. */
  addRepair(repair: number): void {
    if (this.#top !== undefined) this.#top.repairs |= repair;
  }

  /** Sets the key of the next value. */
  setKey(key: string, repairs: number): void {
    this.#key = key;
    this.#keyRepairs = repairs;
  }

  /** Appends the node to the innermost container. */
  adopt(node: ReplyNode): void {
    const parent = this.#top;
    if (parent === undefined) {
      this.root = node;
      return;
    }
    if (parent.kind === 'object') {
      parent.put(this.#key, node);
      parent.repairs |= this.#keyRepairs;
    } else parent.add(node);
  }

  /** Opens a container inside the innermost one. Returns false if it would be too deep. */
  open(kind: 'object' | 'list'): boolean {
    if (this.#stack.length >= MAX_DEPTH) return false;
    const node = new ReplyNode(kind);
    this.adopt(node);
    this.#stack.push(node);
    this.#top = node;
    return true;
  }

  /**
   * Closes the nearest container that matches the bracket, and everything that is open inside it. Returns false if no
   * container matches.
   */
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

  /** Removes the last member of a list. */
  dropLast(): void {
    if (this.#top?.kind !== 'list') return;
    this.#top.dropLast();
    this.#top.repairs |= REPAIR.droppedText;
  }

  /** Marks everything that is open as unclosed; it stays incomplete. */
  giveUp(): void {
    for (const node of this.#stack) node.repairs |= REPAIR.unclosed;
  }
}
