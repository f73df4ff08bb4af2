import { TemplateFault } from '../template-fault.ts';
import { itemOf, readAttribute } from '../values/access-value.ts';
import { plainTextOf } from '../values/print-value.ts';
import { Float, isList, type Value } from '../values/value.ts';
import type { Work } from '../values/work.ts';
import { formatSpecified } from './format-specified.ts';

/** `{{`, `}}`, `{field:spec}`, or a brace without a partner. */
const PART = /\{\{|\}\}|\{([^{}:!]*)(?::([^{}]*))?\}|[{}]/gu;
/** One step of a field after its first name: `.name` or `[key]`. */
const STEP = /\.(\w+)|\[([^\]]+)\]/gu;
const FIELD = /^(\w*)((?:\.\w+|\[[^\]]+\])*)$/u;

interface FormatArguments {
  readonly positional: readonly Value[];
  readonly named: ReadonlyMap<Value, Value>;
}

/**
 * Python's `"…".format(…)`: fields are `{}`, `{0}` or `{name}`, with `.attribute` and `[key]`; a field can have a format
 * (https://docs.python.org/3/library/string.html#formatspec), except `=`, `%`, `c` and `n`, which BAML does not support either.
 */
export function formatText(text: string, args: FormatArguments, work: Work): string {
  let next = 0;
  return text.replace(PART, (part: string, field: string | undefined, spec: string | undefined) => {
    if (part === '{{' || part === '}}') return part.charAt(0);
    if (field === undefined)
      throw new TemplateFault(`the text of "format" contains "${part}" without a matching brace`);
    const [, name = '', steps = ''] = FIELD.exec(field) ?? refuse(field);
    const value = argumentOf(name === '' ? String(next++) : name, args);
    const reached = [...steps.matchAll(STEP)].reduce((object, step) => stepInto(object, step, work), value);
    return spec === undefined || spec === '' ? plainField(reached, work) : formatSpecified(reached, spec, work);
  });
}

function refuse(field: string): never {
  throw new TemplateFault(`"{${field}}" is not a field of "format"`);
}

function argumentOf(name: string, { positional, named }: FormatArguments): Value {
  if (/^\d+$/u.test(name) && Number(name) < positional.length) return positional[Number(name)];
  if (named.has(name)) return named.get(name);
  throw new TemplateFault(`"format" has no argument for the field "{${name}}"`);
}

function stepInto(object: Value, [, attribute, key = '']: readonly (string | undefined)[], work: Work): Value {
  if (attribute !== undefined) return readAttribute(object, attribute);
  return itemOf(object, isList(object) && /^\d+$/u.test(key) ? Number(key) : key, work);
}

/** Large and small floats have an exponent, as in Python. */
function plainField(value: Value, work: Work): string {
  const isFloat = value instanceof Float || (typeof value === 'number' && !Number.isInteger(value));
  return isFloat ? formatSpecified(value, '', work) : plainTextOf(value, work);
}
