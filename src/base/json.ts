/** A JSON value. Object keys are data: an object built from outside text has no prototype, or only own keys. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** True for a plain JSON object: not null, not an array. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** As `Array.isArray`, which types the items of a list as `any`. */
export function isJsonList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** Returns the value of JSON text; undefined if the text is not JSON, or too deep to be read. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads an own property only, so that the names `constructor` and `__proto__` never reach the prototype. */
export function ownValue<T>(object: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/** The member `key` as an object; undefined when it is anything else. */
export function objectAt(value: JsonValue | undefined, key: string): JsonObject | undefined;
export function objectAt(value: unknown, key: string): Readonly<Record<string, unknown>> | undefined;
export function objectAt(value: unknown, key: string): Readonly<Record<string, unknown>> | undefined {
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

/** A count: numbers of tokens are never negative or fractional. */
export function countAt(value: unknown, key: string): number | undefined {
  const member = memberOf(value, key);
  return typeof member === 'number' && Number.isSafeInteger(member) && member >= 0 ? member : undefined;
}

function memberOf(value: unknown, key: string): unknown {
  return isJsonObject(value) ? ownValue(value, key) : undefined;
}

/** Freezes plain data and everything in it, and returns it. Assumes that a frozen object is frozen all the way down. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const member of Object.values(value)) deepFreeze(member);
  return value;
}

/**
 * JSON text without spaces whose objects have their keys in an order that depends only on the keys: equal data gives equal text.
 * Omits members that are undefined, as JSON.stringify does. For trusted data of modest depth.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(withSortedKeys(value)) ?? 'null';
}

/** JavaScript puts keys that are indices first, and keeps the order of all others. */
function withSortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedKeys);
  if (typeof value !== 'object' || value === null) return value;
  const keys = Object.keys(value).toSorted(compareText);
  return Object.fromEntries(keys.map((key) => [key, withSortedKeys(Reflect.get(value, key))]));
}

/** Order by UTF-16 code units: the same on every machine, unlike an order by locale. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/**
 * The names under which a request can send its options. All of them mean the same object, so a request sends at most one.
 * The last one is for callers that migrate from BAML's server.
 */
export const OPTIONS_KEYS = ['svc_options', '__svc_options__', '__baml_options__'] as const;

const KEYS: ReadonlySet<string> = new Set(OPTIONS_KEYS);

export function isOptionsKey(key: string): boolean {
  return KEYS.has(key);
}
