import type { Schema } from './keywords.ts';
import { patternConditions } from './pattern.ts';

/** An assert for a keyword, or the reason why there is none. */
type Bound = { readonly key: string; readonly condition: string } | { readonly key: string; readonly fault: string };

/** The largest 64-bit integer, as JSON.parse rounds it: no `int` is larger. */
const INT_END = 2 ** 63;

const COMPARISONS: Readonly<Record<string, string>> = {
  minimum: '>=',
  exclusiveMinimum: '>',
  maximum: '<=',
  exclusiveMaximum: '<',
};

const LENGTHS: Readonly<Record<string, string>> = {
  minLength: '>=',
  maxLength: '<=',
  minItems: '>=',
  maxItems: '<=',
};

/** The bounds of a schema with one type, in the order of its keywords. */
export function boundsOf(type: string, schema: Schema): readonly Bound[] {
  return Object.entries(schema).flatMap(([key, value]): readonly Bound[] => {
    if (Object.hasOwn(COMPARISONS, key)) return comparison({ type, key, value, schema });
    if (Object.hasOwn(LENGTHS, key)) return lengthBound(key, value);
    if (key === 'multipleOf') return multiple(type, value);
    if (key === 'pattern') return patternBound(value);
    if (key === 'uniqueItems') return unique(value);
    return [];
  });
}

interface Comparison {
  readonly type: string;
  readonly key: string;
  readonly value: unknown;
  readonly schema: Schema;
}

function comparison({ type, key, value, schema }: Comparison): readonly Bound[] {
  // In OpenAPI 3.0, `exclusiveMinimum` is a boolean about `minimum`.
  if (key.startsWith('exclusive') && typeof value === 'boolean') return [];
  if (typeof value !== 'number' || !Number.isFinite(value)) return [{ key, fault: 'has to be a finite number' }];
  if (type === 'integer' && isNoBound(key, value)) return [];
  if (type === 'integer' && Math.abs(value) > Number.MAX_SAFE_INTEGER) {
    return [{ key, fault: 'is beyond ±9007199254740991, where numbers of JSON are not exact. Remove it' }];
  }
  const exclusive = schema[key === 'minimum' ? 'exclusiveMinimum' : 'exclusiveMaximum'] === true;
  const operator = COMPARISONS[key] ?? '';
  const strict = exclusive && operator.endsWith('=') ? operator.slice(0, 1) : operator;
  return [{ key, condition: `this ${strict} ${numberText(value)}` }];
}

/** True for the bounds of all safe integers, which libraries write for every integer, and for bounds outside of 64 bits. */
function isNoBound(key: string, value: number): boolean {
  const limit = key.toLowerCase().endsWith('maximum') ? value : -value;
  return limit === Number.MAX_SAFE_INTEGER || limit >= INT_END;
}

/** A number in a template. One without a fraction or exponent is an integer of 128 bits. */
function numberText(value: number): string {
  const text = String(value);
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER || /[.e]/u.test(text) ? text : `${text}.0`;
}

function lengthBound(key: string, value: unknown): readonly Bound[] {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) {
    return [{ key, fault: 'has to be an integer of at least 0' }];
  }
  if (value === 0 && key.startsWith('min')) return [];
  return [{ key, condition: `this|length ${LENGTHS[key] ?? ''} ${value}` }];
}

function multiple(type: string, value: unknown): readonly Bound[] {
  const key = 'multipleOf';
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) {
    return value === 1 && type === 'integer' ? [] : [{ key, condition: `this % ${value} == 0` }];
  }
  return [{ key, fault: 'has to be an integer above 0, because remainders of fractions are not exact. Remove it' }];
}

function patternBound(value: unknown): readonly Bound[] {
  const key = 'pattern';
  if (typeof value !== 'string') return [{ key, fault: 'has to be a string' }];
  const conditions = patternConditions(value);
  if (!conditions.ok) return [{ key, fault: `${conditions.failure}. Remove it` }];
  return [{ key, condition: conditions.value.join(' and ') }];
}

function unique(value: unknown): readonly Bound[] {
  const key = 'uniqueItems';
  if (typeof value !== 'boolean') return [{ key, fault: 'has to be true or false' }];
  return value ? [{ key, condition: 'this|unique(case_sensitive=true)|length == this|length' }] : [];
}
