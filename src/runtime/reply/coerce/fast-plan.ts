import { joinPath } from '../../../base/value-path.ts';
import { flatten, GrowingText } from '../growing-text.ts';
import type { LikelyKey } from '../candidates/scan/tree-sink.ts';
import { MAX_FLAGS, type Flag } from './outcome.ts';

/**
 * The part of a plan that the fast path uses. It knows only values that match their type exactly; undefined or false
 * leaves the reply to the tolerant parser, as all of these methods do unless a plan overrides them.
 */
export abstract class FastPlan {
  /** Returns the JSON text of a scalar, given as JSON, if `coerce` accepts it strictly and without flags. */
  exact(_source: string): string | undefined {
    return undefined;
  }

  /** Returns the list or object that the bracket opens, if its type is certain. */
  openContainer(_bracket: number): TypedContainer | undefined {
    return undefined;
  }

  /** True if the constraints on a complete list or object hold. */
  accepts(_json: string): boolean {
    return true;
  }

  /** True if a scalar that begins with the character, and has not ended, shows no more than `showString` returns. */
  mayBegin(_first: number): boolean {
    return false;
  }

  /** Returns what a partial shows of a string that has not ended. `json`: its JSON text so far. */
  showString(_json: string): string | undefined {
    return undefined;
  }

  /** True if a list or object that has not ended may appear. */
  showsOpen(_bracket: number): boolean {
    return false;
  }

  /**
   * True if an `@assert` on a value or on one of its fields can reject the value. In a union, such a value stays hidden
   * until it is complete. `seen`: the classes already visited through their fields.
   */
  mayBreakAssert(_seen?: Set<unknown>): boolean {
    return false;
  }
}

/** A list or object on the fast path: its members become JSON text as soon as they are complete, without a tree of nodes. */
export abstract class TypedContainer {
  abstract readonly isList: boolean;
  /** The plan that opened the container, with the attributes and unions around its own, and the container around it. */
  plan: FastPlan | undefined = undefined;
  outer: TypedContainer | undefined = undefined;
  /** Bits of REPAIR. */
  repairs = 0;
  #flags: FlagTree | undefined = undefined;

  /** The key that comes next if the keys come in declared order. */
  get likely(): LikelyKey | undefined {
    return undefined;
  }

  /** Returns the type of the next member; undefined leaves the reply to the tolerant parser. Lists ignore the key. */
  abstract next(key: string): FastPlan | undefined;

  /** Appends the member whose type `next` returned. */
  abstract add(json: string, flags: FlagTree | undefined): void;

  /** Returns the JSON text of the container; undefined if it does not match the type exactly. */
  abstract close(): string | undefined;

  /** Returns the JSON text that a partial shows. `open`: the visible part of the member being read. */
  abstract show(open: string | undefined): string;

  /** The flags of the container and its members. */
  get flags(): FlagTree | undefined {
    if (this.repairs !== 0) {
      this.#flags ??= new FlagTree();
      this.#flags.own = { flag: 'repaired', path: '', detail: this.repairs };
    }
    return this.#flags;
  }

  /** True if flags of more members would be dropped. */
  protected get hasAllFlags(): boolean {
    return this.#flags !== undefined && this.#flags.size >= MAX_FLAGS;
  }

  /** `order`: the position of the member's flags among those of the others. */
  protected addFlags(order: number, segment: string, flags: FlagTree): void {
    this.#flags ??= new FlagTree();
    this.#flags.add(order, segment, flags);
  }
}

/** A list whose members all match its type. */
export class TypedList extends TypedContainer {
  readonly isList = true;
  readonly #element: FastPlan;
  /** The members that a partial has shown; `#json` has those since. Most lists are never shown while they are open. */
  #shown: GrowingText | undefined = undefined;
  #json = '';
  #length = 0;

  constructor(element: FastPlan) {
    super();
    this.#element = element;
  }

  next(): FastPlan {
    return this.#element;
  }

  add(json: string, flags: FlagTree | undefined): void {
    flatten(json);
    this.#json += this.#length === 0 ? json : `,${json}`;
    if (flags !== undefined && !this.hasAllFlags) this.addFlags(this.#length, `[${this.#length}]`, flags);
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
  readonly value: FastPlan;
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

  next(key: string): FastPlan | undefined {
    this.#key = key;
    const keyText = this.#entries.exactKey(key);
    if (keyText === undefined || this.#seen.has(keyText)) return undefined;
    this.#keyText = keyText;
    return this.#entries.value;
  }

  add(json: string, flags: FlagTree | undefined): void {
    flatten(json);
    this.#json.append(this.#entry(json));
    if (flags !== undefined && !this.hasAllFlags) this.addFlags(this.#seen.size, this.#key, flags);
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

interface MemberFlags {
  readonly order: number;
  readonly segment: string;
  readonly flags: FlagTree;
}

/** The flags of a value and its members. Paths are built at the end, and only for the flags that are kept. */
export class FlagTree {
  own: Flag | undefined = undefined;
  #members: MemberFlags[] | undefined = undefined;
  /** The members arrived in their order. */
  #inOrder = true;
  #inMembers = 0;

  add(order: number, segment: string, flags: FlagTree): void {
    const member: MemberFlags = { order, segment, flags };
    const last = this.#members?.at(-1);
    if (last !== undefined && last.order > order) this.#inOrder = false;
    if (this.#members === undefined) this.#members = [member];
    else this.#members.push(member);
    this.#inMembers += flags.size;
  }

  /** The number of flags. */
  get size(): number {
    return this.#inMembers + (this.own === undefined ? 0 : 1);
  }

  /** The first MAX_FLAGS flags with their paths, starting with those of the value itself. */
  get all(): readonly Flag[] {
    const flags: Flag[] = [];
    this.#collect('', flags);
    return flags;
  }

  #collect(path: string, flags: Flag[]): void {
    if (this.own !== undefined && flags.length < MAX_FLAGS)
      flags.push({ flag: this.own.flag, path, detail: this.own.detail });
    if (this.#members === undefined) return;
    const members = this.#inOrder ? this.#members : this.#members.toSorted((a, b) => a.order - b.order);
    for (const { segment, flags: ofMember } of members) {
      if (flags.length >= MAX_FLAGS) return;
      ofMember.#collect(joinPath(path, segment), flags);
    }
  }
}
