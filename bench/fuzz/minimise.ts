import type { JsonValue } from '../../src/base/json.ts';
import { changeAt, membersOf } from './mutate.ts';

interface Limits {
  /** Members of objects can be removed. */
  readonly free?: boolean;
  /** The most checks; after that many, an input is small enough. */
  readonly checks?: number;
}

/**
 * Makes an input smaller for as long as it still fails: removes parts of its strings and lists (and members of its objects, if
 * `free`), the largest parts first, and lowers its numbers.
 */
export async function minimise<Input extends JsonValue>(
  input: Input,
  fails: (input: Input) => Promise<boolean>,
  { free = false, checks: most = 3_000 }: Limits = {},
): Promise<Input> {
  let smallest = input;
  let checks = 0;
  for (let found = true; found && checks < most;) {
    found = false;
    for (const candidate of smallerThan(smallest, free)) {
      checks += 1;
      if (checks >= most) break;
      if (!(await fails(candidate as Input))) continue;
      smallest = candidate as Input;
      found = true;
      break;
    }
  }
  return smallest;
}

function* smallerThan(value: JsonValue, free: boolean): Generator<JsonValue> {
  if (typeof value === 'string') yield* shorter(value, (from, to) => value.slice(0, from) + value.slice(to));
  else if (typeof value === 'number') yield* [0, 1, Math.trunc(value / 2)].filter((less) => less < Math.abs(value));
  else if (typeof value === 'object' && value !== null) yield* smallerCollection(value, free);
}

function* smallerCollection(value: readonly JsonValue[] | object, free: boolean): Generator<JsonValue> {
  const members = membersOf(value);
  if (Array.isArray(value)) {
    const list = value as JsonValue[];
    yield* shorter(list, (from, to) => list.toSpliced(from, to - from));
  } else if (free) {
    yield* shorter(members, (from, to) => Object.fromEntries(members.toSpliced(from, to - from)));
  }
  for (const [key, member] of members) {
    for (const less of smallerThan(member, free)) yield changeAt(value as JsonValue, [key], () => less);
  }
}

function* shorter<Made>(of: { readonly length: number }, without: (from: number, to: number) => Made): Generator<Made> {
  for (let size = of.length; size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < of.length; from += size) yield without(from, Math.min(of.length, from + size));
  }
}
