import { DOT, isDigit, MINUS } from './characters.ts';

/** True for a JSON number. */
export function isJsonNumber(text: string): boolean {
  let at = text.charCodeAt(0) === MINUS ? 1 : 0;
  const first = text.charCodeAt(at);
  if (!isDigit(first)) return false;
  const whole = skipDigits(text, at);
  if (first === 48 && whole > at + 1) return false;
  at = whole;
  if (at === text.length) return true;
  if (text.charCodeAt(at) === DOT) {
    const fraction = skipDigits(text, at + 1);
    if (fraction === at + 1) return false;
    at = fraction;
  }
  return at === text.length || isExponent(text, at);
}

function isExponent(text: string, from: number): boolean {
  const letter = text.charCodeAt(from);
  if (letter !== 101 && letter !== 69) return false;
  const sign = text.charCodeAt(from + 1);
  const start = sign === MINUS || sign === 43 ? from + 2 : from + 1;
  const end = skipDigits(text, start);
  return end > start && end === text.length;
}

function skipDigits(text: string, from: number): number {
  let at = from;
  while (at < text.length && isDigit(text.charCodeAt(at))) at += 1;
  return at;
}

/** A number as programming languages write it. An exponent can break off. */
const NUMBER = /^([+\-−]?)(?:(0|[1-9]\d*(?:_\d+)*)(?:\.(\d*(?:_\d+)*))?|\.(\d+))(?:([eE][+-]?\d+)|[eE][+-]?)?$/u;
const HEXADECIMAL = /^([+\-−]?)(0[xX][\da-fA-F]+)$/u;
const MAX_LENGTH = 1000;

/**
 * Returns the JSON text of a number as JSON or a programming language writes it: `+270`, `.5`, `5.`, `1_000`, `0x1F`,
 * or with a typographic minus sign. Undefined for any other text.
 */
export function jsonNumberOf(text: string): string | undefined {
  if (isJsonNumber(text)) return text;
  const code = text.charCodeAt(0);
  if (
    text.length > MAX_LENGTH ||
    !(isDigit(code) || code === DOT || code === MINUS || code === 43 || code === 0x2212)
  ) {
    return undefined;
  }
  const hexadecimal = HEXADECIMAL.exec(text);
  if (hexadecimal !== null) return signed(hexadecimal[1], String(BigInt(hexadecimal[2] ?? '')));
  const parts = NUMBER.exec(text);
  if (parts === null) return undefined;
  const [, sign, whole = '0', decimals, only, exponent = ''] = parts;
  const fraction = decimals === '' ? undefined : (decimals ?? only);
  return signed(sign, (whole + (fraction === undefined ? '' : `.${fraction}`)).replaceAll('_', '') + exponent);
}

function signed(sign: string | undefined, digits: string): string {
  return sign === '-' || sign === '−' ? `-${digits}` : digits;
}
