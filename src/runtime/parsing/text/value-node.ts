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

const NO_ITEMS: ValueNode[] = [];
const NO_KEYS: string[] = [];

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
  /** Members of a list, values of an object. */
  readonly items: ValueNode[];
  /** Keys of an object, in step with `items`; a key may occur twice. */
  readonly keys: string[];
  /** Results already worked out for this value, by the plan that worked them out. */
  memo: Map<object, unknown> | undefined = undefined;

  constructor(kind: ValueKind) {
    this.kind = kind;
    this.items = kind === 'list' || kind === 'object' ? [] : NO_ITEMS;
    this.keys = kind === 'object' ? [] : NO_KEYS;
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
