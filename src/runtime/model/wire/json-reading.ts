import { isJsonObject, ownValue } from '../../../base/json.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The value of JSON text; undefined when it is not JSON (or too deep to be read). */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The member `key` as an object; undefined when it is anything else. */
export function objectAt(value: unknown, key: string): Fields | undefined {
  const member = memberOf(value, key);
  return isJsonObject(member) ? member : undefined;
}

export function stringAt(value: unknown, key: string): string | undefined {
  const member = memberOf(value, key);
  return typeof member === 'string' ? member : undefined;
}

export function listAt(value: unknown, key: string): readonly unknown[] | undefined {
  const member = memberOf(value, key);
  return Array.isArray(member) ? member : undefined;
}

/** A count: tokens are never negative or broken. */
export function countAt(value: unknown, key: string): number | undefined {
  const member = memberOf(value, key);
  return typeof member === 'number' && Number.isSafeInteger(member) && member >= 0 ? member : undefined;
}

function memberOf(value: unknown, key: string): unknown {
  return isJsonObject(value) ? ownValue(value, key) : undefined;
}
