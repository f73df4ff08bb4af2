import type { JsonValue } from '../../../base/json.ts';
import { isJsonObject } from '../../../base/json.ts';
import { didYouMean } from '../../../base/suggestion.ts';
import type { Violation } from '../../../schema/violation.ts';
import { ViolationList } from '../../../schema/violation.ts';

/**
 * Takes options out of a client's option map one by one, checking their shape. What nobody took is the provider's:
 * it goes into the request body as it is. Faults are collected; none stops the reading.
 */
export class OptionReader {
  readonly #faults = new ViolationList();
  readonly #values: Map<string, JsonValue>;

  constructor(values: ReadonlyMap<string, JsonValue>) {
    this.#values = new Map(values);
  }

  get faults(): readonly Violation[] {
    return this.#faults.all;
  }

  fault(key: string, message: string): void {
    this.#faults.add({ path: `options.${key}`, message });
  }

  /** What is left, in the order in which it was written. */
  rest(): ReadonlyMap<string, JsonValue> {
    return this.#values;
  }

  /** The value as it is; undefined when it is absent. Null counts as a value. */
  take(key: string): JsonValue | undefined {
    const value = this.#values.get(key);
    this.#values.delete(key);
    return value;
  }

  string(key: string): string | undefined {
    const value = this.take(key);
    if (value === undefined || value === null) return undefined;
    if (typeof value === 'string') return value;
    this.fault(key, 'has to be a text');
    return undefined;
  }

  boolean(key: string): boolean | undefined {
    const value = this.take(key);
    if (value === undefined || value === null) return undefined;
    if (value === true || value === 'true') return true;
    if (value === false || value === 'false') return false;
    this.fault(key, 'has to be true or false');
    return undefined;
  }

  strings(key: string): readonly string[] | undefined {
    const value = this.take(key);
    if (value === undefined || value === null) return undefined;
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
    this.fault(key, 'has to be a list of texts');
    return undefined;
  }

  /** A map of texts; numbers and booleans are taken as their text. */
  texts(key: string): ReadonlyMap<string, string> {
    const texts = new Map<string, string>();
    const value = this.take(key);
    if (value === undefined || value === null) return texts;
    if (!isJsonObject(value)) {
      this.fault(key, 'has to be a map of texts');
      return texts;
    }
    for (const [name, text] of Object.entries(value)) {
      if (this.#faults.full) break;
      if (typeof text === 'string') texts.set(name, text);
      else this.fault(`${key}.${name}`, 'has to be a text');
    }
    return texts;
  }

  oneOf<T extends string>(key: string, allowed: readonly T[]): T | undefined {
    const value = this.string(key);
    if (value === undefined) return undefined;
    const found = allowed.find((name) => name === value);
    if (found === undefined) this.fault(key, `has to be one of ${allowed.map((name) => `"${name}"`).join(', ')}`);
    return found;
  }

  /** A whole number from 0 on (a number or its text, as an environment gives it). */
  count(key: string): number | undefined {
    const value = this.take(key);
    if (value === undefined || value === null) return undefined;
    if (isCount(value)) return Number(value);
    this.fault(key, 'has to be a whole number, 0 or more');
    return undefined;
  }

  /** A map of times in milliseconds, with known members, and of switches, which are true or false. */
  times(key: string, allowed: readonly string[], switches: readonly string[] = []): ReadonlyMap<string, number> {
    const times = new Map<string, number>();
    const value = this.take(key);
    if (value === undefined || value === null) return times;
    if (!isJsonObject(value)) {
      this.fault(key, 'has to be a map');
      return times;
    }
    for (const [name, time] of Object.entries(value)) {
      if (this.#faults.full) break;
      if (switches.includes(name)) {
        if (typeof time !== 'boolean') this.fault(`${key}.${name}`, 'has to be true or false');
      } else if (!allowed.includes(name)) this.fault(`${key}.${name}`, unknownMember(name, [...allowed, ...switches]));
      else if (isCount(time)) times.set(name, Number(time));
      else this.fault(`${key}.${name}`, 'has to be a whole number of milliseconds, 0 or more');
    }
    return times;
  }
}

function unknownMember(name: string, allowed: readonly string[]): string {
  const near = didYouMean(name, allowed);
  return `is unknown; allowed: ${allowed.join(', ')}${near === '' ? '' : `. ${near}`}`;
}

function isCount(value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0;
  return typeof value === 'string' && /^\d{1,15}$/u.test(value);
}
