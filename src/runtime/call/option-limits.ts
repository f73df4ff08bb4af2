import { isJsonObject } from '../../base/json.ts';
import { PROVIDER_DESCRIPTIONS } from '../../schema/providers/providers.ts';
import { ViolationList } from '../../schema/violation.ts';
import { pathStep, pathText } from '../../base/value-path.ts';
import type { ValuePath } from '../../base/value-path.ts';

/** The most entries of a map or list that svc reads itself: more clients, variables, tags or headers than any request needs. */
const MOST_ENTRIES = 100;

/**
 * The maximum number of entries in a map or list that goes to the provider or defines types: OpenAI accepts 128 tools, and enums of 1,000
 * values.
 */
const MOST_ENTRIES_OF_BODY = 1000;

/** All maps and lists together: svc goes through the options several times, at less than a microsecond for each entry. */
const MOST_ENTRIES_IN_ALL = 10_000;

/** Keys and strings together: svc encodes them for URLs, headers and bodies, at about ten nanoseconds for each character. */
const MOST_CHARACTERS = 2 ** 20;

/** The options of a client that svc reads entry by entry. All others go to the provider as they are. */
const READ_BY_ENTRY: ReadonlySet<string> = new Set(
  Object.values(PROVIDER_DESCRIPTIONS).flatMap(({ options }) =>
    Object.entries(options).flatMap(([key, { shape }]) =>
      ['list', 'map', 'settings', 'either'].includes(shape.kind) ? [key] : [],
    ),
  ),
);

/** The depth of a client's options: `svc_options.client_registry.clients[0].options`. */
const CLIENT_OPTIONS_DEPTH = 4;

/**
 * Returns the faults of options that are too large: maps and lists with too many entries, too many characters, and numbers
 * that JSON.parse cannot represent. `key` is the name under which the request sent the options. Takes few steps for options
 * of any size, because it does not walk a map or list that is too large.
 */
export function oversizeFaults(options: unknown, key: string): ViolationList {
  const walk = new SizeWalk();
  walk.measure(options, pathStep(undefined, key), MOST_ENTRIES);
  return walk.faults;
}

class SizeWalk {
  readonly faults = new ViolationList();
  #entries = 0;
  #characters = 0;
  /** The limit on all entries or characters is exceeded. */
  #stopped = false;
  /** The values are those of `type_builder`. Schemas have bounds beyond the exact integers, and their compiler checks them. */
  #inTypes = false;

  measure(value: unknown, path: ValuePath, mostEntries: number): void {
    if (typeof value === 'string') this.#countText(value, path);
    else if (typeof value === 'number') this.#checkNumber(value, path);
    else if (Array.isArray(value)) {
      if (this.#countEntries(value.length, path, mostEntries)) this.#measureList(value, path, mostEntries);
    } else if (isJsonObject(value)) {
      const keys = Object.keys(value);
      if (this.#countEntries(keys.length, path, mostEntries)) this.#measureMap(value, keys, { path, mostEntries });
    }
  }

  #measureList(list: readonly unknown[], path: ValuePath, mostEntries: number): void {
    for (let at = 0; at < list.length && !this.#stopped; at += 1) {
      this.measure(list[at], pathStep(path, at), mostEntries);
    }
  }

  #measureMap(
    map: Readonly<Record<string, unknown>>,
    keys: readonly string[],
    { path, mostEntries }: { readonly path: ValuePath; readonly mostEntries: number },
  ): void {
    const isClient = path.depth === CLIENT_OPTIONS_DEPTH && path.step === 'options';
    for (const key of keys) {
      if (this.#stopped) return;
      this.#countText(key, path);
      const isOfTypes = path.depth === 0 && key === 'type_builder';
      const isLarge = isClient ? !READ_BY_ENTRY.has(key) : isOfTypes;
      const most = isLarge ? MOST_ENTRIES_OF_BODY : mostEntries;
      if (isOfTypes) this.#inTypes = true;
      this.measure(map[key], pathStep(path, key), most);
      if (isOfTypes) this.#inTypes = false;
    }
  }

  /** Returns false if there are too many entries to walk. */
  #countEntries(count: number, path: ValuePath, most: number): boolean {
    if (count > most) {
      this.#fault(path, `has more than ${most} entries`);
      return false;
    }
    this.#entries += count;
    if (this.#entries > MOST_ENTRIES_IN_ALL) {
      this.#stop(path, `has more than ${MOST_ENTRIES_IN_ALL} entries in all its maps and lists`);
    }
    return !this.#stopped;
  }

  #countText(text: string, path: ValuePath): void {
    this.#characters += text.length;
    if (this.#characters > MOST_CHARACTERS) {
      this.#stop(path, `has more than ${MOST_CHARACTERS} characters in all its strings`);
    }
  }

  /** JSON.parse rounds long integers and makes a number out of range infinite: svc would send another number. */
  #checkNumber(value: number, path: ValuePath): void {
    if (!Number.isFinite(value)) this.#fault(path, 'is a number out of range');
    else if (!this.#inTypes && Number.isInteger(value) && !Number.isSafeInteger(value)) {
      this.#fault(path, `is an integer beyond ±${Number.MAX_SAFE_INTEGER}`);
    }
  }

  #fault(path: ValuePath, message: string): void {
    this.faults.add({ path: pathText(path), message });
  }

  #stop(path: ValuePath, message: string): void {
    if (this.#stopped) return;
    this.#stopped = true;
    let root = path;
    while (root.parent !== undefined) root = root.parent;
    this.#fault(root, message);
  }
}
