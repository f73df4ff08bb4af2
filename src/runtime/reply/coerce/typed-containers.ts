import { GrowingText, type TextParts } from '../../../base/text-parts.ts';
import { isJsonToken } from '../candidates/scan/bare-reader.ts';
import { DOUBLE_QUOTE, OPEN_BRACKET } from '../candidates/scan/characters.ts';
import type { ClassFields, FieldPlan } from './class-fields.ts';
import type { CoercionOutcome } from './outcome.ts';
import { INEXACT, Plan, TypedContainer } from './plan.ts';
import { isCommentaryKey, isFrameKey } from './wrappers.ts';

/** A list whose members all match its type. */
export class TypedList extends TypedContainer {
  readonly isList = true;
  readonly #element: Plan;
  readonly #json = new GrowingText();
  #length = 0;

  constructor(element: Plan) {
    super();
    this.#element = element;
  }

  next(): Plan {
    return this.#element;
  }

  add(json: string, member: TypedContainer | undefined): void {
    this.#json.append(this.#length === 0 ? json : `,${json}`);
    this.addFlags(this.#length, `[${this.#length}]`, member);
    this.#length += 1;
  }

  close(): string {
    return `[${this.#json.joined}]`;
  }

  show(open: TextParts | undefined): TextParts {
    const comma = open === undefined || this.#length === 0 ? '' : ',';
    return ['[', this.#json.parts, comma, open ?? '', ']'];
  }
}

/** The type of a map's entries. */
interface EntryPlan {
  readonly value: Plan;
  /** Returns the JSON text of a key as the model should write it; undefined for others. */
  exactKey(key: string): string | undefined;
}

/** A map in which no key occurs twice. */
export class TypedMap extends TypedContainer {
  readonly isList = false;
  readonly #entries: EntryPlan;
  readonly #seen = new Set<string>();
  readonly #json = new GrowingText();
  #key = '';
  /** The JSON text of the key whose value comes next. */
  #keyText = '';

  constructor(entries: EntryPlan) {
    super();
    this.#entries = entries;
  }

  next(key: string): Plan | undefined {
    this.#key = key;
    const keyText = this.#entries.exactKey(key);
    if (keyText === undefined || this.#seen.has(keyText)) return undefined;
    this.#keyText = keyText;
    return this.#entries.value;
  }

  add(json: string, member: TypedContainer | undefined): void {
    this.#json.append(`${this.#head}${json}`);
    this.addFlags(this.#seen.size, this.#key, member);
    this.#seen.add(this.#keyText);
  }

  close(): string {
    return `{${this.#json.joined}}`;
  }

  show(open: TextParts | undefined): TextParts {
    return ['{', this.#json.parts, open === undefined ? '' : [this.#head, open], '}'];
  }

  /** The text before the value that comes next. */
  get #head(): string {
    return `${this.#json.length === 0 ? '' : ','}${this.#keyText}:`;
  }
}

/** An object of a class: each field once, of which only those that may be null can be missing. Other keys are dropped. */
export class TypedObject extends TypedContainer {
  readonly isList = false;
  readonly #fields: ClassFields;
  /** The values by the positions of their fields. */
  readonly #values: (string | undefined)[] = [];
  /** The field whose value comes next or is being read; undefined for a key that belongs to no field. */
  #field: FieldPlan | undefined = undefined;
  #key = '';
  /** The keys that belong to no field. */
  #unknown: string[] | undefined = undefined;
  /** The index of the field after it. */
  #next = 0;

  constructor(fields: ClassFields) {
    super();
    this.#fields = fields;
  }

  override get likely(): FieldPlan | undefined {
    return this.#fields.shown[this.#next];
  }

  next(key: string): Plan | undefined {
    const { likely } = this;
    const field = key === likely?.key ? likely : this.#fields.of(key);
    this.#field = field;
    this.#key = key;
    // A tool call or a schema contains the object, even if its name or type is a field.
    if (field === undefined) return this.#nextUnknown(key);
    if (field.skip || this.#values[field.position] !== undefined) return undefined;
    this.#next = field === likely ? this.#next + 1 : this.#fields.shown.indexOf(field) + 1;
    return field.plan;
  }

  #nextUnknown(key: string): Plan | undefined {
    if (isFrameKey(key)) return undefined;
    if (this.#unknown?.[0] === key) return undefined; // It can be the first key of the next item of a list.
    (this.#unknown ??= []).push(key);
    return DROPPED;
  }

  add(json: string, member: TypedContainer | undefined): void {
    const field = this.#field;
    // The flags of keys that belong to no field come after those of the fields.
    if (field === undefined) return this.addFlags(Infinity, this.#key, 'extra-key');
    this.#values[field.position] = json;
    this.#field = undefined;
    this.addFlags(field.position, field.name, member);
  }

  close(): string | undefined {
    const { shown } = this.#fields;
    if (this.#next === 0 && shown.length > 0) return undefined;
    let json = '{';
    for (const field of shown) {
      const value = this.#values[field.position] ?? this.#nullFallback(field);
      if (value === undefined) return undefined;
      json += (json === '{' ? field.jsonKey : field.nextJsonKey) + value;
    }
    return `${json}}`;
  }

  /** A key that belongs to no field can be meant for a field that has no value. */
  #nullFallback({ plan }: FieldPlan): string | undefined {
    const isNull = this.#unknown?.every(isCommentaryKey) !== false && plan.fallback()?.json === 'null';
    return isNull ? 'null' : undefined;
  }

  show(open: TextParts | undefined): TextParts {
    const json: TextParts[] = ['{'];
    for (const field of this.#fields.shown) {
      const value = this.#values[field.position] ?? (field === this.#field ? open : undefined);
      json.push(json.length === 1 ? field.jsonKey : field.nextJsonKey, value ?? field.plan.blank(false));
    }
    json.push('}');
    return json;
  }
}

/** The plan of a value that belongs to no field. The value has to be JSON, so that its end is certain, and is dropped. */
class DroppedPlan extends Plan {
  readonly name = 'anything';

  override exact(source: string): string | undefined {
    return source.charCodeAt(0) === DOUBLE_QUOTE || isJsonToken(source) ? source : undefined;
  }

  override openContainer(bracket: number): TypedContainer {
    return bracket === OPEN_BRACKET ? new TypedList(this) : new TypedMap({ value: this, exactKey: JSON.stringify });
  }

  override mayBegin(): boolean {
    return true;
  }

  protected coerceOnce(): CoercionOutcome {
    return INEXACT;
  }
}

const DROPPED = new DroppedPlan();
