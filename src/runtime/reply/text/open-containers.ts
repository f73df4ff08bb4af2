import { CLOSE_BRACE } from './characters.ts';
import { REPAIR, ValueNode } from './value-node.ts';

/**
 * Containers may nest this deep. No definition needs more, and everything that walks a value may recurse without
 * fear for the stack.
 */
export const MAX_DEPTH = 400;

/** The lists and objects that are open while a value is read, the innermost on top. */
export class OpenContainers {
  /** The outermost value; undefined until its bracket has been read. */
  root: ValueNode | undefined = undefined;
  readonly #stack: ValueNode[] = [];
  #top: ValueNode | undefined = undefined;
  /** The key of the next value, and what had to be repaired in it. */
  #key = '';
  #keyRepairs = 0;

  /** Forgets the value that was read. */
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

  /** What had to be repaired around the members of the innermost container. */
  note(repair: number): void {
    if (this.#top !== undefined) this.#top.repairs |= repair;
  }

  /** The key of the value that comes next. */
  setKey(key: string, repairs: number): void {
    this.#key = key;
    this.#keyRepairs = repairs;
  }

  /** Makes the value a member of the innermost container. */
  adopt(node: ValueNode): void {
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

  /** Opens a container inside the innermost one; false when it would be too deep. */
  open(kind: 'object' | 'list'): boolean {
    if (this.#stack.length >= MAX_DEPTH) return false;
    const node = new ValueNode(kind);
    this.adopt(node);
    this.#stack.push(node);
    this.#top = node;
    return true;
  }

  /**
   * Closes the nearest container that the bracket fits, and what was left open inside it; false when it fits none.
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

  /** Takes the last member of a list back. */
  dropLast(): void {
    if (this.#top?.kind !== 'list') return;
    this.#top.dropLast();
    this.#top.repairs |= REPAIR.droppedText;
  }

  /** Nothing more will come: what is open stays incomplete. */
  giveUp(): void {
    for (const node of this.#stack) node.repairs |= REPAIR.unclosed;
  }
}
