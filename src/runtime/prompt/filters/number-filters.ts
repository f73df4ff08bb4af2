import { TemplateFault } from '../template-fault.ts';
import { plainTextOf } from '../values/print-value.ts';
import { floatOf, isFloat, kindOf, numberOf, type Value } from '../values/value.ts';

export function absolute(value: Value): Value {
  const number = numberOf(value);
  if (number === undefined) throw new TemplateFault(`a value of kind ${kindOf(value)} is no number`);
  return isFloat(value) ? floatOf(Math.abs(number)) : Math.abs(number);
}

/** Halves go away from zero; integers stay as they are. */
export function round(value: Value, precision: Value): Value {
  const number = numberOf(value);
  if (number === undefined) throw new TemplateFault(`a value of kind ${kindOf(value)} is no number`);
  if (!isFloat(value)) return number;
  const factor = 10 ** (numberOf(precision) ?? 0);
  const scaled = Math.sign(number) * Math.round(Math.abs(number) * factor);
  return floatOf(Number.isFinite(scaled) ? scaled / factor : number);
}

export function toInteger(value: Value): Value {
  const number = numericOf(value);
  if (!Number.isFinite(number)) throw new TemplateFault('the number is too large for an integer');
  return Math.trunc(number);
}

export function toFloat(value: Value): Value {
  return floatOf(numericOf(value));
}

const NUMERIC = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/u;

function numericOf(value: Value): number {
  const number = numberOf(value);
  if (number !== undefined) return number;
  if (value === undefined || value === null) return 0;
  const text = plainTextOf(value);
  if (text.length > 400 || !NUMERIC.test(text)) throw new TemplateFault('the text is no number');
  return Number(text);
}
