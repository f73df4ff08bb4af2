import { TemplateFault } from '../template-fault.ts';
import { attributeOf } from '../values/access-value.ts';
import { RichText } from '../values/rich-text.ts';
import { type CallArguments, entriesOf, isList, kindOf, Special, type Value } from '../values/value.ts';
import { LIST_METHODS } from './list-methods.ts';
import { MAP_METHODS } from './map-methods.ts';
import type { Method } from './method.ts';
import { STRING_METHODS } from './string-methods.ts';

const ofStrings: ReadonlyMap<string, Method> = new Map(Object.entries(STRING_METHODS));
const ofLists: ReadonlyMap<string, Method> = new Map(Object.entries(LIST_METHODS));
const ofMaps: ReadonlyMap<string, Method> = new Map(Object.entries(MAP_METHODS));

/** `value.name(…)`: Python's methods of strings, lists and maps, or an attribute that can be called. */
export function callMethod(value: Value, name: string, args: CallArguments): Value {
  if (value === undefined) throw new TemplateFault(`cannot call "${name}" of a value that is not there (undefined)`);
  if (value instanceof Special && !(value instanceof RichText)) return callSpecial(value, name, args);
  const attribute = isPlainMapping(value) ? attributeOf(value, name) : undefined;
  if (attribute instanceof Special) return attribute.call(args);
  const method = methodsOf(value)?.get(name);
  if (method === undefined) throw new TemplateFault(`a value of kind ${kindOf(value)} has no method "${name}"`);
  return method(value, args.positional);
}

function callSpecial(value: Special, name: string, args: CallArguments): Value {
  const attribute = value.attribute(name);
  if (attribute instanceof Special) return attribute.call(args);
  const method = value.entries() === undefined ? undefined : ofMaps.get(name);
  return method === undefined ? value.callMethod(name, args) : method(value, args.positional);
}

function isPlainMapping(value: Value): boolean {
  return typeof value === 'object' && value !== null && !isList(value) && entriesOf(value) !== undefined;
}

function methodsOf(value: Value): ReadonlyMap<string, Method> | undefined {
  if (typeof value === 'string' || value instanceof RichText) return ofStrings;
  if (isList(value)) return ofLists;
  return isPlainMapping(value) ? ofMaps : undefined;
}
