/** A number found in text: `exact` when the text was nothing but the number. */
export interface FoundNumber {
  readonly value: number;
  /** The digits of an integer, as JSON writes it; they may be more than a float can hold. */
  readonly integer: string | undefined;
  readonly exact: boolean;
}

const INTEGER = /^[+-]?\d+$/u;
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/u;
const FRACTION = /^([+-]?\d+(?:\.\d+)?)\s*\/\s*(\d+(?:\.\d+)?)$/u;
/** A number inside text: an optional sign and currency, thousands commas, decimals, exponent. */
const INSIDE = /[+-]?[$€£¥₹]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?/gu;
/** `1.234,56`: whether the comma or the point is the decimal sign cannot be told. */
const CONTINENTAL = /\d\.\d{3},\d/u;
/** No number is written with more characters; it keeps the search in a long text short. */
const MAX_NUMBER_TEXT = 100_000;

/** The single number that a text holds; undefined when there is none, or more than one. */
export function parseNumber(raw: string): FoundNumber | undefined {
  if (raw.length > MAX_NUMBER_TEXT) return undefined;
  const text = withoutCommas(raw.trim());
  if (INTEGER.test(text)) return integerOf(text, true);
  if (DECIMAL.test(text)) return finite(Number(text), true);
  const fraction = FRACTION.exec(text);
  if (fraction !== null) return finite(Number(fraction[1]) / Number(fraction[2]), false);
  return numberInside(text);
}

/** The text without the commas at its end. */
function withoutCommas(text: string): string {
  let end = text.length;
  while (text[end - 1] === ',') end -= 1;
  return text.slice(0, end);
}

function numberInside(text: string): FoundNumber | undefined {
  if (CONTINENTAL.test(text)) return undefined;
  const matches = text.match(INSIDE);
  if (matches === null || matches.length !== 1) return undefined;
  const digits = (matches[0] ?? '').replace(/[,$€£¥₹]/gu, '');
  return INTEGER.test(digits) ? integerOf(digits, false) : finite(Number(digits), false);
}

function integerOf(text: string, exact: boolean): FoundNumber {
  const negative = text.startsWith('-');
  const digits = text.replace(/^[+-]?0*(?=\d)/u, '');
  const integer = negative && digits !== '0' ? `-${digits}` : digits;
  return { value: Number(integer), integer, exact };
}

function finite(value: number, exact: boolean): FoundNumber | undefined {
  return Number.isFinite(value) ? { value, integer: undefined, exact } : undefined;
}

/** Half away from zero. */
export function roundNumber(value: number): number {
  return value < 0 ? -Math.round(-value) : Math.round(value);
}
