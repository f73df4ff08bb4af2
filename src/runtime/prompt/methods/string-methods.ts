import { join } from '../filters/list-filters.ts';
import {
  capitalize,
  linesOf,
  mapText,
  replaceText,
  splitBy,
  titleCase,
  trimEnd,
  trimStart,
  trimText,
} from '../filters/text-filters.ts';
import type { MethodName } from '../../../schema/template-vocabulary.ts';
import { itemsOf } from '../values/access-value.ts';
import { plainTextOf } from '../values/print-value.ts';
import type { Method } from './method.ts';
import { isList, isTrue, type Value } from '../values/value.ts';

/** Methods of strings, as in Python. */
export const STRING_METHODS: Readonly<Record<MethodName<'string'>, Method>> = {
  upper: (value) => mapText(value, (text) => text.toUpperCase()),
  lower: (value) => mapText(value, (text) => text.toLowerCase()),
  title: (value) => mapText(value, titleCase),
  capitalize: (value) => mapText(value, capitalize),
  strip: (value, [characters]) => trimText(value, characters),
  lstrip: (value, [characters]) => trimStart(plainTextOf(value), setOf(characters)),
  rstrip: (value, [characters]) => trimEnd(plainTextOf(value), setOf(characters)),
  split: (value, [separator, limit]) => splitBy(plainTextOf(value), separator, limit),
  splitlines: (value, [keepEnds]) => (isTrue(keepEnds) ? wholeLinesOf(value) : linesOf(value)),
  replace: replaceText,
  startswith: (value, [start]) => affixes(start).some((text) => plainTextOf(value).startsWith(text)),
  endswith: (value, [end]) => affixes(end).some((text) => plainTextOf(value).endsWith(text)),
  find: (value, [part]) => plainTextOf(value).indexOf(plainTextOf(part)),
  rfind: (value, [part]) => plainTextOf(value).lastIndexOf(plainTextOf(part)),
  count: (value, [part]) => countOf(plainTextOf(value), plainTextOf(part)),
  join: (value, [items]) => join(items, value),
  isdigit: (value) => /^\p{Nd}*$/u.test(plainTextOf(value)),
  isnumeric: (value) => /^\p{N}*$/u.test(plainTextOf(value)),
  isalpha: (value) => /^\p{L}*$/u.test(plainTextOf(value)),
  isalnum: (value) => /^[\p{L}\p{N}]*$/u.test(plainTextOf(value)),
  isspace: (value) => /^\s*$/u.test(plainTextOf(value)),
  isupper: (value) => /^\p{Uppercase}*$/u.test(plainTextOf(value)),
  islower: (value) => /^\p{Lowercase}*$/u.test(plainTextOf(value)),
  // oxlint-disable-next-line no-control-regex -- all of ASCII
  isascii: (value) => /^[\u0000-\u007f]*$/u.test(plainTextOf(value)),
};

/** Lines with the line breaks that end them. */
function wholeLinesOf(value: Value): readonly string[] {
  return plainTextOf(value).match(/[^\n]*\n|[^\n]+/gu) ?? [];
}

function setOf(characters: Value): ReadonlySet<string> | undefined {
  return characters === undefined || characters === null ? undefined : new Set(plainTextOf(characters));
}

/** One text or a list of texts. */
function affixes(value: Value): readonly string[] {
  return isList(value) ? itemsOf(value).map(plainTextOf) : [plainTextOf(value)];
}

function countOf(text: string, part: string): number {
  return part === '' ? text.length + 1 : text.split(part).length - 1;
}
