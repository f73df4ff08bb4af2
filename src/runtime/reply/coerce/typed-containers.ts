import { joinPath } from '../../../base/value-path.ts';
import { isJsonToken } from '../candidates/scan/bare-reader.ts';
import { DOUBLE_QUOTE, OPEN_BRACKET } from '../candidates/scan/characters.ts';
import type { LikelyKey } from '../candidates/scan/tree-sink.ts';
import { flatten, GrowingText } from '../growing-text.ts';
import type { ClassFields, FieldPlan } from './class-fields.ts';
import { MAX_FLAGS, type CoercionOutcome, type Flag } from './outcome.ts';
import { INEXACT, Plan } from './plan.ts';
import { isCommentaryKey, isFrameKey } from './wrappers.ts';

interface MemberFlags {
  readonly order: number;
  readonly segment: string;
  readonly flags: readonly Flag[];
}

/** A list or object on the fast path: its members become JSON text as soon as they are complete, without a tree of nodes. */
export abstract class TypedContainer {
  abstract readonly isList: boolean;
  /** The plan that opened the container, with the attributes and unions around its own, and the container around it. */
  plan: Plan | undefined = undefined;
  outer: TypedContainer | undefined = undefined;
  /** Bits of REPAIR. */
  repairs = 0;
  #flagged: MemberFlags[] | undefined = undefined;

  /** The key that comes next if the keys come in declared order. */
  get likely(): LikelyKey | undefined {
    return undefined;
  }

  /** Returns the type of the next member; undefined leaves the reply to the tolerant parser. Lists ignore the key. */
  abstract next(key: string): Plan | undefined;

  /** Appends the member whose type `next` returned. */
  abstract add(json: string, flags: readonly Flag[]): void;

  /** Returns the JSON text of the container; undefined if it does not match the type exactly. */
  abstract close(): string | undefined;

  /** Returns the JSON text that a partial shows. `open`: the visible part of the member being read. */
  abstract show(open: string | undefined): string;

  /** `order`: the position of the member's flags among those of the others. */
  protected addFlags(order: number, segment: string, flags: readonly Flag[]): void {
    if (flags.length === 0) return;
    this.#flagged ??= [];
    if (this.#flagged.length < MAX_FLAGS) this.#flagged.push({ order, segment, flags });
  }

  /** The first flags of the container and its members. */
  get flags(): readonly Flag[] {
    const own = this.repairs === 0 ? NO_FLAGS : [{ flag: 'repaired', path: '', detail: this.repairs }];
    if (this.#flagged === undefined) return own;
    const inOrder = this.#flagged.toSorted((a, b) => a.order - b.order);
    const ofMembers = inOrder.flatMap(({ segment, flags }) =>
      flags.map((flag) => ({ ...flag, path: joinPath(segment, flag.path) })),
    );
    return [...own, ...ofMembers].slice(0, MAX_FLAGS);
  }
}

const NO_FLAGS: readonly Flag[] = [];

/** A list whose members all match its type. */
export class TypedList extends TypedContainer {
  readonly isList = true;
  readonly #element: Plan;
  /** The members that a partial has shown; `#json` has those since. Most lists are never shown while they are open. */
  #shown: GrowingText | undefined = undefined;
  #json = '';
  #length = 0;

  constructor(element: Plan) {
    super();
    this.#element = element;
  }

  next(): Plan {
    return this.#element;
  }

  add(json: string, flags: readonly Flag[]): void {
    flatten(json);
    this.#json += this.#length === 0 ? json : `,${json}`;
    this.addFlags(this.#length, `[${this.#length}]`, flags);
    this.#length += 1;
  }

  close(): string {
    return this.#shown === undefined ? `[${this.#json}]` : `[${this.#shown.joined}${this.#json}]`;
  }

  show(open: string | undefined): string {
    this.#shown ??= new GrowingText();
    this.#shown.append(this.#json);
    this.#json = '';
    if (open === undefined) return `[${this.#shown.text}]`;
    return `[${this.#shown.text}${this.#length === 0 ? '' : ','}${open}]`;
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

  add(json: string, flags: readonly Flag[]): void {
    flatten(json);
    this.#json.append(this.#entry(json));
    this.addFlags(this.#seen.size, this.#key, flags);
    this.#seen.add(this.#keyText);
  }

  close(): string {
    return `{${this.#json.joined}}`;
  }

  show(open: string | undefined): string {
    if (open === undefined) return `{${this.#json.text}}`;
    return `{${this.#json.text}${this.#entry(open)}}`;
  }

  #entry(value: string): string {
    return `${this.#json.isEmpty ? '' : ','}${this.#keyText}:${value}`;
  }
}

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

  next(key: string): Plan | undefined {
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

  #nextUnknown(key: string): Plan | undefined {
    if (isFrameKey(key)) return undefined;
    if (this.#unknown?.[0] === key) return undefined; // It can be the first key of the next item of a list.
    if (this.#unknown === undefined) this.#unknown = [key];
    else this.#unknown.push(key);
    return DROPPED;
  }

  add(json: string, flags: readonly Flag[]): void {
    const position = this.#position;
    if (position < 0) return this.#drop();
    this.#values[position] = json;
    this.#position = -1;
    this.#isEmpty = false;
    this.addFlags(position, this.#fields.all[position]?.name ?? '', flags);
  }

  /** Flags a key that belongs to no field, after the flags of the fields. */
  #drop(): void {
    this.#dropped += 1;
    this.addFlags(this.#fields.all.length + this.#dropped, this.#key, EXTRA_KEY);
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

const EXTRA_KEY: readonly Flag[] = [{ flag: 'extra-key', path: '' }];

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
