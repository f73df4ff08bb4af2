import type { ComparisonOperator } from '../../../schema/template.ts';
import { TemplateFault } from '../template-fault.ts';
import { assertTextLength } from '../text-limit.ts';
import { spendWork } from '../work-budget.ts';
import { compareValues, valuesEqual } from './compare-values.ts';
import { textOf } from './print-value.ts';
import { Output, RichText } from './rich-text.ts';
import { floatOf, isFloat, isList, kindOf, numberOf, type Value } from './value.ts';

export type ArithmeticOperator = '+' | '-' | '*' | '/' | '//' | '%' | '**';

/** Arithmetic on numbers; `+` also joins strings and lists, `*` repeats them. */
export function calculate(operator: ArithmeticOperator, left: Value, right: Value): Value {
  if (operator === '+') return add(left, right);
  if (operator === '*') return multiply(left, right);
  return calculateNumbers(operator, left, right);
}

function add(left: Value, right: Value): Value {
  if (isText(left) && isText(right)) return concatenate(left, right);
  if (isList(left) && isList(right)) {
    assertTextLength((left.length + right.length) * 8);
    spendWork((left.length + right.length) >> 2);
    return [...left, ...right];
  }
  return calculateNumbers('+', left, right);
}

function isText(value: Value): value is string | RichText {
  return typeof value === 'string' || value instanceof RichText;
}

function multiply(left: Value, right: Value): Value {
  if (typeof left === 'string' || isList(left)) return repeat(left, right);
  if (typeof right === 'string' || isList(right)) return repeat(right, left);
  return calculateNumbers('*', left, right);
}

function repeat(what: string | readonly Value[], times: Value): Value {
  const count = numberOf(times);
  if (count === undefined || !Number.isInteger(count) || count < 0) {
    throw new TemplateFault('text and lists are repeated a whole number of times');
  }
  assertTextLength(what.length * count * (typeof what === 'string' ? 1 : 8));
  spendWork((what.length * count) >> (typeof what === 'string' ? 7 : 3));
  return typeof what === 'string' ? what.repeat(count) : Array.from({ length: count }, () => what).flat();
}

function calculateNumbers(operator: ArithmeticOperator, left: Value, right: Value): Value {
  const a = numberOf(left);
  const b = numberOf(right);
  if (a === undefined || b === undefined) {
    throw new TemplateFault(`"${operator}" cannot be used between ${kindOf(left)} and ${kindOf(right)}`);
  }
  const float = isFloat(left) || isFloat(right);
  if (b === 0 && !float && (operator === '//' || operator === '%')) throw new TemplateFault('division by zero');
  const result = resultOf(operator, a, b);
  if (!float && operator === '**' && !Number.isInteger(result)) throw new TemplateFault('the power is no integer');
  return float || operator === '/' ? floatOf(result) : result;
}

function resultOf(operator: ArithmeticOperator, a: number, b: number): number {
  switch (operator) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return a / b;
    case '//':
      return divideWhole(a, b);
    case '%':
      return remainder(a, b);
    case '**':
      return a ** b;
  }
}

/** The remainder is never negative, and the whole quotient goes with it: `-7 // 2` is -4, `7 // -2` is -3. */
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
  if (number === undefined || typeof value === 'boolean')
    throw new TemplateFault(`"-" cannot be used on ${kindOf(value)}`);
  return isFloat(value) ? floatOf(-number) : 0 - number;
}

/** `~`: the texts of both, one after the other. */
export function concatenate(left: Value, right: Value): string | RichText {
  const a = textOf(left);
  const b = textOf(right);
  if (typeof a === 'string' && typeof b === 'string') {
    assertTextLength(a.length + b.length);
    return a + b;
  }
  const out = new Output();
  out.writePieces(typeof a === 'string' ? [a] : a.pieces);
  out.writePieces(typeof b === 'string' ? [b] : b.pieces);
  assertTextLength(out.length);
  return out.take();
}

export function compareWith(operator: ComparisonOperator, left: Value, right: Value): boolean {
  switch (operator) {
    case '==':
      return valuesEqual(left, right);
    case '!=':
      return !valuesEqual(left, right);
    case '<':
      return compareValues(left, right) < 0;
    case '<=':
      return compareValues(left, right) <= 0;
    case '>':
      return compareValues(left, right) > 0;
    case '>=':
      return compareValues(left, right) >= 0;
  }
}
