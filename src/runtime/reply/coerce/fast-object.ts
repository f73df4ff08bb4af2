import { isJsonToken } from '../candidates/scan/bare-reader.ts';
import { DOUBLE_QUOTE, OPEN_BRACKET } from '../candidates/scan/characters.ts';
import type { ClassFields, FieldPlan } from './class-fields.ts';
import { isCommentaryKey, isFrameKey } from './wrappers.ts';
import { FastPlan, FlagTree, TypedContainer } from './fast-plan.ts';

// --- objects of classes ---------------------------------------------------------------------------------------------

/** An object of a class: each field once, of which only those that may be null can be missing. Other keys are dropped. */
export class TypedObject extends TypedContainer {
  readonly isList = false;
  readonly #fields: ClassFields;
  readonly #values: (string | undefined)[] = [];
  /** The position of the field whose value comes next or is being read; -1 for a key that belongs to no field. */
  #position = -1;
  #key = '';
  #dropped = 0;
  /** The keys that belong to no field. */
  #unknown: string[] | undefined = undefined;
  /** The position after it. */
  #next = 0;
  #isEmpty = true;

  constructor(fields: ClassFields) {
    super();
    this.#fields = fields;
  }

  override get likely(): FieldPlan | undefined {
    return this.#fields.all[this.#next];
  }

  next(key: string): FastPlan | undefined {
    const position = key === this.likely?.key ? this.#next : this.#fields.positionOf(key);
    this.#position = position;
    this.#key = key;
    // A tool call or a schema contains the object, even if its name or type is a field.
    if (position < 0) return this.#nextUnknown(key);
    const field = this.#fields.all[position];
    if (field === undefined || field.skip || this.#values[position] !== undefined) return undefined;
    this.#next = position + 1;
    return field.plan;
  }

  #nextUnknown(key: string): FastPlan | undefined {
    if (isFrameKey(key)) return undefined;
    if (this.#unknown?.[0] === key) return undefined; // It can be the first key of the next item of a list.
    if (this.#unknown === undefined) this.#unknown = [key];
    else this.#unknown.push(key);
    return DROPPED;
  }

  add(json: string, flags: FlagTree | undefined): void {
    const position = this.#position;
    if (position < 0) return this.#drop();
    this.#values[position] = json;
    this.#position = -1;
    this.#isEmpty = false;
    if (flags !== undefined) this.addFlags(position, this.#fields.all[position]?.name ?? '', flags);
  }

  /** Flags a key that belongs to no field, after the flags of the fields. */
  #drop(): void {
    this.#dropped += 1;
    if (!this.hasAllFlags) this.addFlags(this.#fields.all.length + this.#dropped, this.#key, EXTRA_KEY);
  }

  close(): string | undefined {
    const { all, shown } = this.#fields;
    if (this.#isEmpty && shown.length > 0) return undefined;
    let json = '{';
    for (const position of shown) {
      const field = all[position];
      const value = this.#values[position] ?? this.#nullFallback(field);
      if (field === undefined || value === undefined) return undefined;
      json += (json === '{' ? field.jsonKey : field.nextJsonKey) + value;
    }
    return `${json}}`;
  }

  /** A key that belongs to no field can be meant for a field that has no value. */
  #nullFallback(field: FieldPlan | undefined): string | undefined {
    if (this.#unknown?.every(isCommentaryKey) === false) return undefined;
    return field?.plan.fallback()?.json === 'null' ? 'null' : undefined;
  }

  show(open: string | undefined): string {
    const { all, shown } = this.#fields;
    let json = '{';
    for (const position of shown) {
      const field = all[position];
      if (field === undefined) continue;
      const begun = this.#values[position] ?? (position === this.#position ? open : undefined);
      const value = begun ?? field.plan.blank(false);
      json += (json === '{' ? field.jsonKey : field.nextJsonKey) + value;
    }
    return `${json}}`;
  }
}

const EXTRA_KEY = new FlagTree();
EXTRA_KEY.own = { flag: 'extra-key', path: '' };

// --- values that belong to no field ----------------------------------------------------------------------------------

/** The plan of a value that belongs to no field. The value has to be JSON, so that its end is certain, and is dropped. */
class DroppedPlan extends FastPlan {
  override exact(source: string): string | undefined {
    return source.charCodeAt(0) === DOUBLE_QUOTE || isJsonToken(source) ? source : undefined;
  }

  override openContainer(bracket: number): TypedContainer {
    return new DroppedContainer(bracket === OPEN_BRACKET);
  }

  override mayBegin(): boolean {
    return true;
  }
}

class DroppedContainer extends TypedContainer {
  readonly isList: boolean;

  constructor(isList: boolean) {
    super();
    this.isList = isList;
  }

  next(): FastPlan {
    return DROPPED;
  }

  add(): void {
    // Keeps nothing.
  }

  close(): string {
    return '';
  }

  show(): string {
    return '';
  }
}

const DROPPED: FastPlan = new DroppedPlan();
