import type { BinaryOperator } from '../../../schema/template.ts';
import { TemplateFault, assertTextLength, type Work } from './work.ts';
import { contains, compareValues, valuesEqual } from './access-value.ts';
import {
  PromptOutput,
  floatOf,
  isFloat,
  isList,
  isString,
  kindOf,
  numberOf,
  type RichText,
  type Value,
  writtenText,
} from './value.ts';
import { printedText } from './print-value.ts';

type Operation = (left: Value, right: Value, work: Work) => Value;

const NUMBER_OPERATIONS = {
  '+': (a: number, b: number) => a + b,
  '-': (a: number, b: number) => a - b,
  '*': (a: number, b: number) => a * b,
  '/': (a: number, b: number) => a / b,
  '//': divideWhole,
  '%': remainder,
  '**': (a: number, b: number) => a ** b,
};

/** Every binary operator except `and` and `or`, which evaluate their right side only when needed. */
export const OPERATIONS: Readonly<Record<Exclude<BinaryOperator, 'and' | 'or'>, Operation>> = {
  '+': add,
  '-': (left, right) => calculate('-', left, right),
  '*': multiply,
  '/': (left, right) => calculate('/', left, right),
  '//': (left, right) => calculate('//', left, right),
  '%': (left, right) => calculate('%', left, right),
  '**': (left, right) => calculate('**', left, right),
  '~': concatenate,
  in: (left, right, work) => contains(right, left, work),
  'not in': (left, right, work) => !contains(right, left, work),
  '==': valuesEqual,
  '!=': (left, right, work) => !valuesEqual(left, right, work),
  '<': (left, right, work) => compareValues(left, right, work) < 0,
  '<=': (left, right, work) => compareValues(left, right, work) <= 0,
  '>': (left, right, work) => compareValues(left, right, work) > 0,
  '>=': (left, right, work) => compareValues(left, right, work) >= 0,
};

/** Adds numbers, and joins strings or lists. */
export function add(left: Value, right: Value, work: Work): Value {
  if (isString(left) && isString(right)) return concatenate(left, right, work);
  if (isList(left) && isList(right)) {
    assertTextLength((left.length + right.length) * 8);
    work.spend((left.length + right.length) >> 2);
    return [...left, ...right];
  }
  return calculate('+', left, right);
}

function multiply(left: Value, right: Value, work: Work): Value {
  if (typeof left === 'string' || isList(left)) return repeat(left, right, work);
  if (typeof right === 'string' || isList(right)) return repeat(right, left, work);
  return calculate('*', left, right);
}

function repeat(part: string | readonly Value[], times: Value, work: Work): Value {
  const count = numberOf(times);
  if (count === undefined || !Number.isInteger(count) || count < 0) {
    throw new TemplateFault('a string or list can only be repeated a whole number of times');
  }
  assertTextLength(part.length * count * (typeof part === 'string' ? 1 : 8));
  work.spend((part.length * count) >> (typeof part === 'string' ? 7 : 3));
  return typeof part === 'string' ? part.repeat(count) : Array.from({ length: count }, () => part).flat();
}

function calculate(operator: keyof typeof NUMBER_OPERATIONS, left: Value, right: Value): Value {
  const a = numberOf(left);
  const b = numberOf(right);
  if (a === undefined || b === undefined) {
    throw new TemplateFault(`"${operator}" cannot be used between ${kindOf(left)} and ${kindOf(right)}`);
  }
  const float = isFloat(left) || isFloat(right);
  if (b === 0 && !float && (operator === '//' || operator === '%')) throw new TemplateFault('division by zero');
  const result = float && operator === '%' ? a % b : NUMBER_OPERATIONS[operator](a, b);
  if (!float && operator === '**' && !Number.isInteger(result)) throw new TemplateFault('the power is not an integer');
  return float || operator === '/' ? floatOf(result) : result;
}

/**
 * Returns the remainder of integers, which is never negative. The whole quotient matches it: `-7 // 2` is -4, `7 // -2` is -3.
 * The remainder of floats has the sign of the first.
 */
function remainder(a: number, b: number): number {
  const rest = a % b;
  return rest < 0 ? rest + Math.abs(b) : rest + 0;
}

function divideWhole(a: number, b: number): number {
  const quotient = Math.trunc(a / b);
  if (a % b >= 0) return quotient + 0;
  return b > 0 ? quotient - 1 : quotient + 1;
}

export function negate(value: Value): Value {
  const number = numberOf(value);
  if (number === undefined || typeof value === 'boolean') {
    throw new TemplateFault(`"-" cannot be used on ${kindOf(value)}`);
  }
  return isFloat(value) ? floatOf(-number) : 0 - number;
}

/** `~`: the printed forms of both, one after the other. */
function concatenate(left: Value, right: Value, work: Work): string | RichText {
  const a = printedText(left, work);
  const b = printedText(right, work);
  if (typeof a === 'string' && typeof b === 'string') {
    assertTextLength(a.length + b.length);
    return a + b;
  }
  const out = new PromptOutput(work);
  for (const text of [a, b]) out.writeFragments(typeof text === 'string' ? [text] : text.fragments);
  assertTextLength(out.length);
  return writtenText(out);
}
