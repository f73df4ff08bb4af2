/** `bare` is a token without quotes that may still grow; once complete it is one of the other scalars. */
export type ValueKind = 'bare' | 'string' | 'number' | 'boolean' | 'null' | 'list' | 'object';

/** What had to be forgiven to read a value; bits, so that several fit in one number. */
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
} as const;

const REPAIR_WORDS: readonly (readonly [number, string])[] = [
  [REPAIR.quotes, 'quotes other than "'],
  [REPAIR.unquotedKey, 'a key without quotes'],
  [REPAIR.unquotedValue, 'a text without quotes'],
  [REPAIR.innerQuotes, 'quotes inside a text'],
  [REPAIR.comma, 'a missing or extra comma'],
  [REPAIR.comment, 'a comment'],
  [REPAIR.unclosed, 'an end that is missing'],
  [REPAIR.droppedText, 'text between the members'],
  [REPAIR.brackets, 'brackets that do not match'],
  [REPAIR.colon, 'a missing colon'],
  [REPAIR.controlCharacter, 'a line break or control character inside a text'],
  [REPAIR.escape, 'an unknown escape'],
];

/** Descriptions made so far: the same few repairs occur over and over. */
const described = new Map<number, string>();

/** The repairs of a value in words. */
export function describeRepairs(repairs: number): string {
  const known = described.get(repairs);
  if (known !== undefined) return known;
  const words = REPAIR_WORDS.filter(([bit]) => (repairs & bit) !== 0).map(([, word]) => word);
  const description = words.join(', ');
  described.set(repairs, description);
  return description;
}

/** Most values have no members, so that empty arrays of their own would be half of the memory. */
const NO_ITEMS: ValueNode[] = [];
const NO_KEYS: string[] = [];

/** A result worked out for a value. A list of these is smaller than a map, and there are one or two. */
interface Memo {
  readonly key: object;
  readonly result: unknown;
  readonly next: Memo | undefined;
}

/**
 * One value of a reply, as read so far. It grows while its text arrives; once `complete` it never changes.
 * One class for every kind, so that the loops over values stay monomorphic.
 */
export class ValueNode {
  kind: ValueKind;
  complete = false;
  /** A string without its quotes and with escapes decoded; any other scalar as it was written. */
  text = '';
  /** `text` may stand between the quotes of a JSON string as it is. */
  plain = true;
  /** Written between quotes. */
  quoted = false;
  /** Its end is dedented once it is known (block strings), so the text so far promises nothing. */
  block = false;
  /** Bits of REPAIR. */
  repairs = 0;
  #items = NO_ITEMS;
  #keys = NO_KEYS;
  #memo: Memo | undefined = undefined;

  constructor(kind: ValueKind) {
    this.kind = kind;
  }

  /** Members of a list, values of an object. */
  get items(): readonly ValueNode[] {
    return this.#items;
  }

  /** Keys of an object, in step with `items`; a key may occur twice. */
  get keys(): readonly string[] {
    return this.#keys;
  }

  /** Takes a member of a list in. */
  add(item: ValueNode): void {
    if (this.#items === NO_ITEMS) this.#items = [item];
    else this.#items.push(item);
  }

  /** Takes a member of an object in. */
  put(key: string, item: ValueNode): void {
    this.add(item);
    if (this.#keys === NO_KEYS) this.#keys = [key];
    else this.#keys.push(key);
  }

  dropLast(): void {
    if (this.#items !== NO_ITEMS) this.#items.pop();
  }

  /** The result remembered for this value by a plan, or whatever else is the key. */
  recall(key: object): unknown {
    for (let memo = this.#memo; memo !== undefined; memo = memo.next) if (memo.key === key) return memo.result;
    return undefined;
  }

  remember(key: object, result: unknown): void {
    this.#memo = { key, result, next: this.#memo };
  }

  /** Lets go of what is remembered, once the value is written into the one around it. */
  forget(): void {
    this.#memo = undefined;
  }
}

export function stringNode(text: string): ValueNode {
  const node = new ValueNode('string');
  node.text = text;
  node.plain = false;
  node.complete = true;
  return node;
}

/** The JSON text of a string value. */
export function quoteText(node: ValueNode): string {
  return node.plain ? `"${node.text}"` : JSON.stringify(node.text);
}
