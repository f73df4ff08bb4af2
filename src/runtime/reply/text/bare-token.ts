import { DOT, isDigit, MINUS } from './characters.ts';
import { REPAIR, ReplyNode } from './reply-node.ts';

/** True for a number as JSON writes it. */
export function isJsonNumber(text: string): boolean {
  let at = text.charCodeAt(0) === MINUS ? 1 : 0;
  const first = text.charCodeAt(at);
  if (!isDigit(first)) return false;
  const whole = skipDigits(text, at);
  if (first === 48 && whole > at + 1) return false;
  at = whole;
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

/** Decides the kind of a finished token without quotes. Python's and JavaScript's words for null are null as well. */
export function settleBareToken(node: ReplyNode): void {
  node.complete = true;
  const text = node.text.trim();
  node.text = text;
  const first = text.charCodeAt(0);
  if ((isDigit(first) || first === MINUS) && isJsonNumber(text)) {
    node.kind = 'number';
  } else if (text === 'true' || text === 'false') {
    node.kind = 'boolean';
  } else if (text === 'null' || text === 'None' || text === 'undefined') {
    node.kind = 'null';
    if (text !== 'null') node.repairs |= REPAIR.unquotedValue;
  } else {
    node.kind = 'string';
    node.plain = false;
    node.repairs |= REPAIR.unquotedValue;
  }
}

const NULL_WORDS = ['null', 'None', 'undefined'];

/** True while a growing token can still turn out to be null. */
export function canBecomeNull(text: string): boolean {
  return NULL_WORDS.some((word) => word.startsWith(text));
}

/** Splits a string without quotes into numbers, booleans and nulls; empty if it contains anything else. */
export function separateScalars(node: ReplyNode): readonly ReplyNode[] {
  if (node.kind !== 'string' || node.quoted || !/^\S+(?:\s+\S+)+$/u.test(node.text)) return [];
  const scalars = node.text.split(/\s+/u).map((text) => {
    const scalar = new ReplyNode('bare');
    scalar.text = text;
    settleBareToken(scalar);
    return scalar;
  });
  return scalars.some((scalar) => scalar.kind === 'string') ? [] : scalars;
}
