import type { JsonObject } from '../../../base/json.ts';
import type { MediaPart } from '../../../schema/message.ts';
import { type Work, TemplateFault } from './work.ts';

/** A boundary in a prompt. Segments are objects next to the text, so no text can become one. */
type Segment = RoleSegment | MediaSegment;

/** The start of a message. */
export interface RoleSegment {
  readonly kind: 'role';
  readonly role: string;
  readonly metadata: JsonObject;
}

interface MediaSegment {
  readonly kind: 'media';
  readonly part: MediaPart;
}

export type Fragment = string | Segment;

/** The output of a template or of one value. Text is one string up to the first segment; after that, fragments are kept apart. */
export class PromptOutput {
  /** The rendering that pays for printing. */
  readonly work: Work;
  /** The text since the last segment. */
  text = '';
  #before: Fragment[] | undefined;
  #lengthBefore = 0;

  constructor(work: Work) {
    this.work = work;
  }

  /** Characters so far; a segment counts as one. */
  get length(): number {
    return this.#lengthBefore + this.text.length;
  }

  write(text: string): void {
    this.text += text;
  }

  mark(segment: Segment): void {
    this.#before ??= [];
    if (this.text !== '') this.#before.push(this.text);
    this.#lengthBefore += this.text.length + 1;
    this.text = '';
    this.#before.push(segment);
  }

  writeFragments(fragments: readonly Fragment[]): void {
    for (const fragment of fragments) {
      if (typeof fragment === 'string') this.text += fragment;
      else this.mark(fragment);
    }
  }

  get hasSegments(): boolean {
    return this.#before !== undefined;
  }

  fragments(): readonly Fragment[] {
    const before = this.#before ?? [];
    return this.text === '' ? before : [...before, this.text];
  }
}

/**
 * A value in a template: `undefined` (absent), `null` (none), booleans, strings, lists (arrays), mappings (a Map, or a plain object
 * from JSON, of which a template sees only own properties), and the special objects below.
 *
 * A number that is an integer prints without a point; a float with an integral value is a `Float`.
 */
export type Value = undefined | null | boolean | number | string | object;

/** Positional and named arguments of a call. */
export interface CallArguments {
  readonly positional: readonly Value[];
  readonly named: ReadonlyMap<string, Value>;
}

/** How a value prints inside a list or map: on one line, or one entry per line at this indentation. */
export type Layout = 'line' | number;

/** A value with behaviour of its own. A template reaches only what these methods return. */
export abstract class Special {
  /** For messages: `enum`, `class`, `macro`, … */
  abstract readonly kindName: string;

  /** Returns `undefined` when there is no such attribute. */
  attribute(_name: string): Value {
    return undefined;
  }

  /** Prints the value as `{{ … }}` does. */
  abstract print(out: PromptOutput): void;

  /** Prints the value inside a list or map. */
  printInside(out: PromptOutput, _layout: Layout): void {
    this.print(out);
  }

  /** Entries, for values that are mappings. */
  entries(): ReadonlyMap<Value, Value> | undefined {
    return undefined;
  }

  /** Whether the value counts as true in a condition. */
  get holds(): boolean {
    return true;
  }

  call(_args: CallArguments, _work: Work): Value {
    throw new TemplateFault(`a value of kind ${this.kindName} cannot be called`);
  }

  callMethod(name: string, _args: CallArguments, _work: Work): Value {
    throw new TemplateFault(`a value of kind ${this.kindName} has no method "${name}"`);
  }
}

/** A string with segments in it, such as the result of a macro that calls `_.role`. */
export class RichText extends Special {
  readonly kindName = 'string';
  readonly fragments: readonly Fragment[];

  constructor(fragments: readonly Fragment[]) {
    super();
    this.fragments = fragments;
  }

  override print(out: PromptOutput): void {
    out.writeFragments(this.fragments);
  }

  /** The text alone. */
  plain(): string {
    return this.fragments.filter((fragment) => typeof fragment === 'string').join('');
  }

  /** Applies a change to each fragment of text; segments stay where they are. */
  mapText(change: (text: string) => string): RichText {
    return new RichText(this.fragments.map((fragment) => (typeof fragment === 'string' ? change(fragment) : fragment)));
  }

  /** Changes the text before the first and after the last segment, each on its own. */
  mapEdges(first: (text: string) => string, last: (text: string) => string): RichText {
    const fragments = [...this.fragments];
    const head = fragments[0];
    if (typeof head === 'string') fragments[0] = first(head);
    const tail = fragments.at(-1);
    if (typeof tail === 'string') fragments[fragments.length - 1] = last(tail);
    return new RichText(fragments);
  }
}

/** Converts an output to a value: a plain string, or rich text when it has segments. */
export function writtenText(out: PromptOutput): string | RichText {
  return out.hasSegments ? new RichText(out.fragments()) : out.text;
}

/** A float whose value is integral: prints with a point. Others are plain numbers. */
export class Float {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** Converts a number to a float, boxed when it would look like an integer. */
export function floatOf(value: number): Value {
  return Number.isInteger(value) ? new Float(value) : value;
}

/** A list with a meaning besides its items. `map`, `filter` and `slice` turn it into a plain list. */
class SpecialList extends Array<Value> {
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }
}

/** The result of `split`: a list that prints as `<iterator>`. */
export class LazyList extends SpecialList {}

/** A list in an argument that can contain nulls: they print as `null`, while those in a template's own lists print as `none`. */
export class ArgumentList extends SpecialList {}

/** A group of `groupby`: the pair of key and items, also by the names `grouper` and `list`. */
export class Group extends SpecialList {
  attribute(name: string): Value {
    if (name === 'grouper') return this[0];
    return name === 'list' ? this[1] : undefined;
  }
}

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

export function isString(value: Value): value is string | RichText {
  return typeof value === 'string' || value instanceof RichText;
}

/** A JSON object: own properties only. */
export function isRecord(value: Value): value is Readonly<Record<string, Value>> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Special) &&
    !(value instanceof Map) &&
    !(value instanceof Float)
  );
}

/** The number in a value, for arithmetic: booleans count as 0 and 1. */
export function numberOf(value: Value): number | undefined {
  if (typeof value === 'number') return value;
  if (value instanceof Float) return value.value;
  if (typeof value === 'boolean') return value ? 1 : 0;
  return undefined;
}

export function isFloat(value: Value): boolean {
  return value instanceof Float || (typeof value === 'number' && !Number.isInteger(value));
}

/** The mapping in a value; undefined for values of other kinds. */
export function entriesOf(value: Value, work: Work): ReadonlyMap<Value, Value> | undefined {
  if (value instanceof Map) return value;
  if (value instanceof Special) return value.entries();
  return isRecord(value) ? (work.entriesOf(value) as ReadonlyMap<Value, Value>) : undefined;
}

export function isMapping(value: Value): boolean {
  return value instanceof Map || isRecord(value) || (value instanceof Special && value.entries() !== undefined);
}

/** The word for a kind of value in messages. */
export function kindOf(value: Value): string {
  if (value === undefined) return 'undefined';
  if (value === null) return 'none';
  if (typeof value === 'boolean') return 'bool';
  if (numberOf(value) !== undefined) return 'number';
  if (typeof value === 'string') return 'string';
  if (isList(value)) return 'list';
  return value instanceof Special ? value.kindName : 'map';
}

/** Whether a condition holds: false for absent and none, `false`, 0, and empty strings, lists and mappings. */
export function isTrue(value: Value, work: Work): boolean {
  if (typeof value === 'object' && value !== null) return isTrueObject(value, work);
  return value !== undefined && value !== null && value !== false && value !== 0 && value !== '';
}

function isTrueObject(value: object, work: Work): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof Special) return value.holds;
  if (value instanceof Float) return value.value !== 0;
  return entriesOf(value, work)?.size !== 0;
}
