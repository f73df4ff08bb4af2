import { OPEN_BRACE } from './characters.ts';

/** `bare` is a token without quotes that can still grow; a complete token is one of the other scalars. */
export type NodeKind = 'bare' | 'string' | 'number' | 'boolean' | 'null' | 'list' | 'object';

/** The repairs that reading a value took. They are bits, so that several fit into one number. */
export const REPAIR = {
  quotes: 1,
  unquotedKey: 2,
  unquotedValue: 4,
  innerQuotes: 8,
  comma: 16,
  comment: 32,
  unclosed: 64,
  droppedText: 128,
  brackets: 256,
  colon: 512,
  controlCharacter: 1024,
  escape: 2048,
  /** Words that belong to no member: a loss. */
  lostText: 4096,
  noValue: 8192,
} as const;

/** The repairs whose meaning is certain, as bits. */
export const CERTAIN_REPAIRS = REPAIR.comma | REPAIR.comment | REPAIR.unquotedKey;

const REPAIR_WORDS: readonly (readonly [number, string])[] = [
  [REPAIR.quotes, 'quotes other than "'],
  [REPAIR.unquotedKey, 'a key without quotes'],
  [REPAIR.unquotedValue, 'a string without quotes'],
  [REPAIR.innerQuotes, 'quotes inside a string'],
  [REPAIR.comma, 'a missing or extra comma'],
  [REPAIR.comment, 'a comment'],
  [REPAIR.unclosed, 'a missing end'],
  [REPAIR.droppedText, 'text between the members'],
  [REPAIR.brackets, 'brackets that do not match'],
  [REPAIR.colon, 'a missing colon'],
  [REPAIR.controlCharacter, 'a line break or control character inside a string'],
  [REPAIR.escape, 'an unknown escape'],
  [REPAIR.lostText, 'words without a key'],
  [REPAIR.noValue, 'a key without a value'],
];

/** Describes a set of REPAIR bits in words. */
export function describeRepairs(repairs: number): string {
  const words = REPAIR_WORDS.filter(([bit]) => (repairs & bit) !== 0).map(([, word]) => word);
  return words.join(', ');
}

/** Most values have no members, so separate empty arrays for each would take half of the memory. */
const NO_ITEMS: ReplyNode[] = [];
const NO_KEYS: string[] = [];

/** The most members and characters of a shallow value. */
const MAX_SHALLOW = { items: 4, text: 200 } as const;

/** The kind for keys that store one kind of result. */
const OTHER_RESULT = -1;

/** A result computed for a node. Most nodes have one or two, and a linked list of them is smaller than a map. */
interface Memo {
  readonly key: object;
  readonly kind: number;
  readonly result: unknown;
  readonly next: Memo | undefined;
}

/**
 * One value of a reply, as far as it has been read. It grows while its text arrives and never changes once it is
 * `complete`. One class serves every kind, so that the loops over nodes stay monomorphic.
 */
export class ReplyNode {
  kind: NodeKind;
  complete = false;
  /**
   * A string without its quotes and with its escapes decoded; any other scalar as the model wrote it. A complete list or
   * object has its text, brackets included, if it was read in one piece; an object that is one line of text has that line.
   */
  text = '';
  /** `text` needs no escapes between the quotes of a JSON string. */
  plain = true;
  /** The model wrote quotes around it. */
  quoted = false;
  /** A block string: it is dedented when its end is known, so the text so far can still change. */
  block = false;
  /** Bits of REPAIR. */
  repairs = 0;
  #items = NO_ITEMS;
  #keys = NO_KEYS;
  #memo: Memo | undefined = undefined;

  constructor(kind: NodeKind) {
    this.kind = kind;
  }

  /** The members of a list, or the values of an object. */
  get items(): readonly ReplyNode[] {
    return this.#items;
  }

  /** The keys of an object, parallel to `items`. A key can occur twice. */
  get keys(): readonly string[] {
    return this.#keys;
  }

  get isScalar(): boolean {
    return this.kind !== 'list' && this.kind !== 'object';
  }

  /** An object that is one line of text, which can be a sentence: `Note: call back`. */
  get isLine(): boolean {
    return this.kind === 'object' && this.text !== '' && this.text.charCodeAt(0) !== OPEN_BRACE;
  }

  /** Appends a member to a list. */
  add(item: ReplyNode): void {
    if (this.#items === NO_ITEMS) this.#items = [item];
    else this.#items.push(item);
  }

  /** Appends a member to an object. */
  put(key: string, item: ReplyNode): void {
    this.add(item);
    if (this.#keys === NO_KEYS) this.#keys = [key];
    else this.#keys.push(key);
  }

  /** Replaces the last member of a list or object. */
  replaceLast(item: ReplyNode): void {
    if (this.#items !== NO_ITEMS) this.#items[this.#items.length - 1] = item;
  }

  /** Makes an empty list an object, or an empty object a list. */
  become(kind: 'list' | 'object'): void {
    this.kind = kind;
    this.forget();
  }

  /** Makes the scalars at the end of a list of lists one more list: its opening bracket is missing. */
  enlistScalars(): void {
    const items = this.#items;
    const from = items.findLastIndex((item) => !item.isScalar) + 1;
    if (items[0]?.kind !== 'list' || from === items.length) return;
    const list = new ReplyNode('list');
    list.repairs = REPAIR.brackets;
    list.complete = true;
    for (const item of items.splice(from)) list.add(item);
    items.push(list);
  }

  dropLast(): void {
    if (this.#items !== NO_ITEMS) this.#items.pop();
  }

  /** True for a value that is cheap to coerce again: a reply can contain thousands of them, and they store no results. */
  get isShallow(): boolean {
    const items = this.#items;
    if (items.length > MAX_SHALLOW.items) return false;
    if (items.length === 0) return this.text.length <= MAX_SHALLOW.text;
    for (const item of items) if (item.#items.length > 0 || !item.isShallow) return false;
    return true;
  }

  /** Returns the result stored under `key` and `kind`; undefined if there is none. */
  recall(key: object, kind: number): unknown {
    let memo = this.#memo;
    while (memo !== undefined && (memo.key !== key || memo.kind !== kind)) memo = memo.next;
    return memo?.result;
  }

  /** Stores a result other than undefined. `kind` distinguishes the results under one key. */
  store(key: object, result: unknown, kind: number): void {
    this.#memo = { key, kind, result, next: this.#memo };
  }

  /** Returns the result stored under `key`, after computing it on the first call. */
  cached<T extends object>(key: object, compute: () => T): T {
    const known = this.recall(key, OTHER_RESULT) as T | undefined;
    if (known !== undefined) return known;
    const result = compute();
    this.store(key, result, OTHER_RESULT);
    return result;
  }

  /** Releases all stored results, once the JSON text of the node is part of its container's. */
  forget(): void {
    this.#memo = undefined;
  }
}

/** True for a list or object whose text has no member that can be read: it is not empty. */
export function isStripped(node: ReplyNode): boolean {
  return node.items.length === 0 && (node.repairs & REPAIR.droppedText) !== 0;
}

/** Returns a complete string. */
export function stringNode(text: string): ReplyNode {
  const node = new ReplyNode('string');
  node.text = text;
  node.plain = false;
  node.complete = true;
  return node;
}

/** Returns the JSON text of a string node. */
export function quoteText(node: ReplyNode): string {
  return node.plain ? `"${node.text}"` : JSON.stringify(node.text);
}

/**
 * The deepest nesting of containers. No definition needs more, and at this depth everything that walks a value can
 * recurse without overflowing the stack.
 */
export const MAX_REPLY_DEPTH = 400;
