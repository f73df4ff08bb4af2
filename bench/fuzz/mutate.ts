import type { JsonValue } from '../../src/base/json.ts';
import type { Random } from '../recover/random.ts';

export interface Mutation {
  readonly random: Random;
  readonly dictionary: readonly string[];
  /** Another input of the corpus, whose parts can replace those of the mutated one. */
  readonly donor: JsonValue;
  /** Changes types and keys too. */
  readonly free: boolean;
}

/** The longest string that a mutation makes. */
const MAX_TEXT = 20_000;

const NUMBERS = [0, 1, -1, 2, 7, 100, 255, 256, 65_535, 65_536, 2 ** 31, 2 ** 53, 1e21, 0.5];

/** Returns a copy of the value with one change at a random place. */
export function mutate<Value extends JsonValue>(value: Value, mutation: Mutation): Value {
  const places = placesOf(value);
  const [path] = [mutation.random.pick(places)];
  return changeAt(value, path, (part) => change(part, mutation)) as Value;
}

type Path = readonly (string | number)[];

function placesOf(value: JsonValue, path: Path = []): readonly Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const members = membersOf(value).flatMap(([key, member]) => placesOf(member, [...path, key]));
  return [path, ...members];
}

export function membersOf(value: readonly JsonValue[] | object): readonly (readonly [string | number, JsonValue])[] {
  return Array.isArray(value) ? [...(value as JsonValue[]).entries()] : Object.entries(value);
}

/** Returns a copy in which the part at the path is replaced. */
export function changeAt(value: JsonValue, path: Path, by: (part: JsonValue) => JsonValue): JsonValue {
  const [key, ...rest] = path;
  if (key === undefined) return by(value);
  if (Array.isArray(value)) return value.map((item: JsonValue, at) => (at === key ? changeAt(item, rest, by) : item));
  const entries = Object.entries(value as Record<string, JsonValue>);
  return Object.fromEntries(
    entries.map(([name, member]) => [name, name === key ? changeAt(member, rest, by) : member]),
  );
}

function change(value: JsonValue, mutation: Mutation): JsonValue {
  const { random, donor, free } = mutation;
  if (free && random.chance(0.2)) return partOf(donor, random);
  if (typeof value === 'string') return changeText(value, mutation);
  if (typeof value === 'number') return random.chance(0.5) ? random.pick(NUMBERS) : value + random.int(-3, 3);
  if (typeof value === 'boolean') return !value;
  if (Array.isArray(value)) return changeList(value, mutation);
  if (value === null || !free) return value;
  return changeObject(value as Record<string, JsonValue>, mutation);
}

function partOf(donor: JsonValue, random: Random): JsonValue {
  let part = donor;
  while (typeof part === 'object' && part !== null && random.chance(0.8)) {
    const members = membersOf(part);
    if (members.length === 0) break;
    [, part] = random.pick(members);
  }
  return part;
}

function changeList(list: readonly JsonValue[], mutation: Mutation): JsonValue {
  const { random } = mutation;
  const at = random.int(0, Math.max(0, list.length - 1));
  const item = list[at];
  if (item === undefined) return list;
  const other = list[random.int(0, list.length - 1)] ?? item;
  switch (random.int(0, 4)) {
    case 0:
      return list.toSpliced(at, 1);
    case 1:
      return list.toSpliced(at, 0, other);
    case 2:
      return list.length < 500 ? [...list, ...list] : list.slice(0, at);
    case 3:
      return list.with(at, other);
    default:
      return list.with(at, change(item, mutation));
  }
}

function changeObject(object: Readonly<Record<string, JsonValue>>, mutation: Mutation): JsonValue {
  const { random, dictionary, donor } = mutation;
  const entries = Object.entries(object);
  const [key = 'a', member = null] = entries.length === 0 ? [] : random.pick(entries);
  const rest = entries.filter(([name]) => name !== key);
  const name = random.chance(0.7) ? random.pick(dictionary) : changeText(key, mutation);
  switch (random.int(0, 3)) {
    case 0:
      return Object.fromEntries(rest);
    case 1:
      return Object.fromEntries([...rest, [name, member]]);
    case 2:
      return Object.fromEntries([...entries, [name, partOf(donor, random)]]);
    default:
      return Object.fromEntries([...rest, [key, change(member, mutation)]]);
  }
}

function changeText(text: string, { random, dictionary, donor }: Mutation): string {
  const at = random.int(0, text.length);
  const to = random.int(at, Math.min(text.length, at + random.pick([1, 4, 30, 1_000])));
  const part = text.slice(at, to);
  const insert = (between: string, from = at): string => text.slice(0, at) + between + text.slice(from);
  const made = ((): string => {
    switch (random.int(0, 7)) {
      case 0:
        return insert('', to);
      case 1:
        return insert(part + part);
      case 2:
        return insert(part.repeat(random.pick([3, 20, 200])));
      case 3:
        return insert(random.pick(dictionary));
      case 4:
        return insert(random.pick(dictionary), to);
      case 5:
        return insert(String.fromCharCode(random.chance(0.8) ? random.int(0, 255) : random.int(0, 0xff_ff)), at + 1);
      case 6:
        return insert(textIn(donor, random));
      default:
        return text.slice(to) + text.slice(0, to);
    }
  })();
  return made.slice(0, MAX_TEXT);
}

/** A part of a string of the donor. */
function textIn(donor: JsonValue, random: Random): string {
  const part = partOf(donor, random);
  const text = typeof part === 'string' ? part : JSON.stringify(part);
  const from = random.int(0, text.length);
  return text.slice(from, random.int(from, text.length));
}
