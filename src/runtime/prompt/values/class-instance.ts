import { ownValue } from '../../../base/json.ts';
import type { FitsType } from '../../../schema/type.ts';
import { printEntries } from './print-value.ts';
import type { TextSink } from './segment.ts';
import { type Layout, Special, type Value } from './value.ts';

/** What an instance needs to know of its class. */
export interface InstanceClass {
  readonly name: string;
  readonly fields: ReadonlyMap<string, InstanceField>;
}

export interface InstanceField {
  readonly name: string;
  /** The alias when there is one. */
  readonly printed: string;
  /** `fits` chooses among the members of unions; it is the one of this rendering, since it remembers its answers. */
  readonly convert: (value: unknown, fits: FitsType) => Value;
}

/** An argument of a class: fields by their real names, printed with their aliases, one per line. */
export class ClassInstance extends Special {
  readonly kindName = 'class';
  readonly type: InstanceClass;
  readonly #data: Readonly<Record<string, unknown>>;
  readonly #fits: FitsType;
  /** Fields that were read: a list of instances is made once, however often a template asks for it. */
  readonly #read = new Map<string, Value>();

  constructor(type: InstanceClass, data: Readonly<Record<string, unknown>>, fits: FitsType) {
    super();
    this.type = type;
    this.#data = data;
    this.#fits = fits;
  }

  override attribute(name: string): Value {
    const field = this.type.fields.get(name);
    return field === undefined ? undefined : this.#valueOf(field);
  }

  override entries(): ReadonlyMap<Value, Value> {
    return this.#collect((field) => field.name);
  }

  /** Entries under the names that the model sees. */
  aliasedEntries(): ReadonlyMap<Value, Value> {
    return this.#collect((field) => field.printed);
  }

  override print(out: TextSink): void {
    this.printInside(out, 0);
  }

  override printInside(out: TextSink, layout: Layout): void {
    printEntries(out, this.aliasedEntries(), layout === 'line' ? 0 : layout);
  }

  #collect(keyOf: (field: InstanceField) => string): ReadonlyMap<Value, Value> {
    const entries = new Map<Value, Value>();
    for (const field of this.type.fields.values()) {
      const value = this.#valueOf(field);
      if (value !== undefined) entries.set(keyOf(field), value);
    }
    return entries;
  }

  #valueOf({ name, convert }: InstanceField): Value {
    const known = this.#read.get(name);
    if (known !== undefined) return known;
    const value = convert(ownValue(this.#data, name), this.#fits);
    this.#read.set(name, value);
    return value;
  }
}
