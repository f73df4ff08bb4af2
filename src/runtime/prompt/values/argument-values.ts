import { ownValue } from '../../../base/json.ts';
import type { MediaPart } from '../../../schema/message.ts';
import type { EnumType, EnumValueType, FitsType } from '../../../schema/type.ts';
import { type PromptOutput, type Layout, Special, type Value } from './value.ts';
import { printEntries } from './print-value.ts';

/** The class of an instance, as a template sees it. */
export interface InstanceClass {
  readonly name: string;
  readonly fields: ReadonlyMap<string, InstanceField>;
  /** The class is `@@dynamic`: templates also see fields that it does not declare, as JSON values after the declared ones. */
  readonly dynamic: boolean;
}

export interface InstanceField {
  readonly name: string;
  /** The alias when there is one. */
  readonly printed: string;
  readonly convert: Convert;
}

/**
 * Turns a checked JSON value into the value that a template sees. `fits` chooses among the members of unions; each rendering has
 * its own, since it remembers its answers.
 */
export type Convert = (value: unknown, fits: FitsType) => Value;

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
    const field = this.type.fields.get(name) ?? (this.type.dynamic ? undeclared(name) : undefined);
    return field === undefined ? undefined : this.#valueOf(field);
  }

  override entries(): ReadonlyMap<Value, Value> {
    return this.#collect((field) => field.name);
  }

  /** Entries under the names that the model sees. */
  aliasedEntries(): ReadonlyMap<Value, Value> {
    return this.#collect((field) => field.printed);
  }

  /** An instance for which no field was given counts as false, like an empty map. */
  override get holds(): boolean {
    return [...this.#fields()].some(({ name }) => Object.hasOwn(this.#data, name));
  }

  override print(out: PromptOutput): void {
    this.printInside(out, 0);
  }

  override printInside(out: PromptOutput, layout: Layout): void {
    printEntries(out, this.aliasedEntries(), { layout: layout === 'line' ? 0 : layout, nullText: 'null' });
  }

  #collect(keyOf: (field: InstanceField) => string): ReadonlyMap<Value, Value> {
    const entries = new Map<Value, Value>();
    for (const field of this.#fields()) {
      const value = this.#valueOf(field);
      if (value !== undefined) entries.set(keyOf(field), value);
    }
    return entries;
  }

  #fields(): Iterable<InstanceField> {
    const { dynamic, fields } = this.type;
    if (!dynamic) return fields.values();
    const others = Object.keys(this.#data).filter((name) => !fields.has(name));
    return [...fields.values(), ...others.map(undeclared)];
  }

  #valueOf({ name, convert }: InstanceField): Value {
    const known = this.#read.get(name);
    if (known !== undefined) return known;
    const value = convert(ownValue(this.#data, name), this.#fits);
    this.#read.set(name, value);
    return value;
  }
}

function undeclared(name: string): InstanceField {
  return { name, printed: name, convert: asIs };
}

/** Every JSON value is a value of templates as it is. */
export function asIs(value: unknown): Value {
  return value as Value;
}

/** A value of an enum: prints its alias, and equals its real name and any enum value with the same real name and alias. */
export class EnumValue extends Special {
  readonly kindName = 'enum';
  readonly name: string;
  readonly alias: string | undefined;

  constructor(type: EnumValueType) {
    super();
    this.name = type.name;
    this.alias = type.alias;
  }

  get printed(): string {
    return this.alias ?? this.name;
  }

  override attribute(name: string): Value {
    return name === 'value' ? this.name : undefined;
  }

  override print(out: PromptOutput): void {
    out.write(this.printed);
  }
}

/** An enum by its name: `Color.Red`. */
export class EnumNamespace extends Special {
  readonly kindName = 'enum';
  readonly values: ReadonlyMap<string, EnumValue>;

  constructor(type: EnumType) {
    super();
    this.values = new Map(type.values.map((value) => [value.name, new EnumValue(value)]));
  }

  override attribute(name: string): Value {
    return this.values.get(name);
  }

  override print(out: PromptOutput): void {
    out.write('{}');
  }
}

/** An image, audio, pdf or video: printing it puts the part itself into the prompt. */
export class MediaValue extends Special {
  readonly kindName = 'media';
  readonly part: MediaPart;

  constructor(part: MediaPart) {
    super();
    this.part = part;
  }

  override print(out: PromptOutput): void {
    out.mark({ kind: 'media', part: this.part });
  }
}
