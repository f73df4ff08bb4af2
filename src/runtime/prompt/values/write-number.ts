import { Float } from './value.ts';

/** Writes a number on its own in decimal notation, without an exponent; floats keep a point. */
export function formatNumber(value: number | Float): string {
  if (value instanceof Float) return `${expandFloat(value.value)}.0`;
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  return Number.isInteger(value) ? formatInteger(value) : expandFloat(value);
}

/** Writes a number inside a list or map: small and large floats have an exponent. */
export function formatInside(value: number | Float): string {
  return hasExponent(value, 1e-4) ? withExponent(value) : formatNumber(value);
}

/** Writes a number in JSON. */
export function formatForJson(value: number | Float): string {
  return hasExponent(value, 1e-5) ? withExponent(value) : formatNumber(value);
}

function formatInteger(value: number): string {
  return Number.isSafeInteger(value) ? String(value) : BigInt(value).toString();
}

function hasExponent(value: number | Float, least: number): boolean {
  const size = Math.abs(value instanceof Float ? value.value : value);
  if (value instanceof Float) return size >= 1e16;
  return size < least && !Number.isInteger(value);
}

function withExponent(value: number | Float): string {
  return (value instanceof Float ? value.value : value).toExponential().replace('e+', 'e');
}

/** The shortest digits that read back as this number, without an exponent. */
function expandFloat(value: number): string {
  if (Object.is(value, -0)) return '-0';
  const text = String(value);
  const [mantissa = '', exponent] = text.split('e');
  if (exponent === undefined) return text;
  const sign = mantissa.startsWith('-') ? '-' : '';
  const [whole = '', fraction = ''] = mantissa.slice(sign.length).split('.');
  const digits = whole + fraction;
  const shift = Number(exponent);
  return shift < 0 ? `${sign}0.${'0'.repeat(-shift - 1)}${digits}` : sign + digits.padEnd(shift + 1, '0');
}
