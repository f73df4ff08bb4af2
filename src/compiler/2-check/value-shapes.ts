import type { ValueNode } from '../1-parse/syntax-nodes.ts';
import { textOf } from './build/text-of.ts';

/** What a value has to be: in words for the message, and as a test. Environment variables fit wherever texts do. */
export interface ValueShape {
  readonly expected: string;
  readonly fits: (value: ValueNode) => boolean;
}

export const TEXT: ValueShape = {
  expected: 'a text',
  fits: (value) => value.kind === 'env' || value.kind === 'expression' || textOf(value) !== undefined,
};

export const SWITCH: ValueShape = {
  expected: 'true or false',
  fits: (value) => value.kind === 'boolean' || value.kind === 'env',
};

export const COUNT: ValueShape = {
  expected: 'a whole number, zero or more',
  fits: (value) =>
    value.kind === 'env' || (value.kind === 'number' && Number.isInteger(value.value) && value.value >= 0),
};

export const NUMBER: ValueShape = {
  expected: 'a number, zero or more',
  fits: (value) => value.kind === 'number' && value.value >= 0,
};

export const TEXTS: ValueShape = {
  expected: 'a list of texts',
  fits: (value) => value.kind === 'env' || (value.kind === 'list' && value.items.every(TEXT.fits)),
};

export const TEXT_MAP: ValueShape = {
  expected: 'a map of texts',
  fits: (value) =>
    value.kind === 'map' && value.entries.every((entry) => entry.value === undefined || TEXT.fits(entry.value)),
};

export const SETTINGS: ValueShape = { expected: 'a block `{ … }`', fits: (value) => value.kind === 'map' };

export function oneOf(words: readonly string[]): ValueShape {
  return {
    expected: `one of ${words.map((word) => `"${word}"`).join(', ')}`,
    fits: (value) => value.kind === 'env' || words.includes(textOf(value) ?? ''),
  };
}

export function either(a: ValueShape, b: ValueShape): ValueShape {
  return { expected: `${a.expected} or ${b.expected}`, fits: (value) => a.fits(value) || b.fits(value) };
}
