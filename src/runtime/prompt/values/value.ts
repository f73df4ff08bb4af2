import { TemplateFault } from '../template-fault.ts';
import type { TextSink } from './segment.ts';

/**
 * A value in a template: `undefined` (nothing there), `null` (none), booleans, strings, lists (arrays), mappings (Map, or a
 * plain object as it came from JSON, of which only own properties are seen), and the special objects below.
 *
 * A number that is an integer prints without a point; a float with an integral value is a `Float`.
 */
export type Value = undefined | null | boolean | number | string | object;

/** Positional and named arguments of a call. */
export interface CallArguments {
  readonly positional: readonly Value[];
  readonly named: ReadonlyMap<string, Value>;
}

/** How a value prints inside of a list or map: on one line, or one entry per line at this indentation. */
export type Layout = 'line' | number;

/** A value with behaviour of its own. What a template can reach of it is only what these methods give. */
export abstract class Special {
  /** For messages: `enum`, `class`, `macro`, … */
  abstract readonly kindName: string;

  /** `undefined` when there is no such attribute. */
  attribute(_name: string): Value {
    return undefined;
  }

  /** As printed by `{{ … }}`. */
  abstract print(out: TextSink): void;

  /** As printed inside of a list or map. */
  printInside(out: TextSink, _layout: Layout): void {
    this.print(out);
  }

  isTrue(): boolean {
    return true;
  }

  /** Entries, for values that are mappings. */
  entries(): ReadonlyMap<Value, Value> | undefined {
    return undefined;
  }

  call(_args: CallArguments): Value {
    throw new TemplateFault(`a value of kind ${this.kindName} cannot be called`);
  }

  callMethod(name: string, _args: CallArguments): Value {
    throw new TemplateFault(`a value of kind ${this.kindName} has no method "${name}"`);
  }
}

/** A float whose value is integral: prints with a point. Others are plain numbers. */
export class Float {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

/** The float of a number, boxed when it would look like an integer. */
export function floatOf(value: number): Value {
  return Number.isInteger(value) ? new Float(value) : value;
}

/** A list that is more than its items. What is made of it (`map`, `filter`, `slice`) is a plain list. */
class SpecialList extends Array<Value> {
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }
}

/** What `split` gives: a list that prints as `<iterator>`. */
export class LazyList extends SpecialList {}

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

/** The mapping in a value, or undefined when it is none. */
export function entriesOf(value: Value): ReadonlyMap<Value, Value> | undefined {
  if (value instanceof Map) return value;
  if (value instanceof Special) return value.entries();
  return isRecord(value) ? recordEntries(value) : undefined;
}

/**
 * Entries of JSON objects, made once in each rendering: a template may ask for them in every round of a loop. Rendering is
 * synchronous, so no object changes while they are kept.
 */
let knownEntries: WeakMap<object, ReadonlyMap<Value, Value>> | undefined;

/** Begins a rendering: its objects may have changed since the last one. */
export function forgetEntries(): void {
  knownEntries = undefined;
}

function recordEntries(record: Readonly<Record<string, Value>>): ReadonlyMap<Value, Value> {
  knownEntries ??= new WeakMap();
  const known = knownEntries.get(record);
  if (known !== undefined) return known;
  const entries = new Map(Object.entries(record));
  knownEntries.set(record, entries);
  return entries;
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

export function isTrue(value: Value): boolean {
  if (typeof value === 'object' && value !== null) return isTrueObject(value);
  return value !== undefined && value !== null && value !== false && value !== 0 && value !== '';
}

function isTrueObject(value: object): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (value instanceof Special) return value.isTrue();
  if (value instanceof Float) return value.value !== 0;
  return entriesOf(value)?.size !== 0;
}
