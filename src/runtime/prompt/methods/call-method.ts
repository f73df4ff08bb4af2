import { TemplateFault } from '../template-fault.ts';
import { attributeOf } from '../values/access-value.ts';
import { RichText } from '../values/rich-text.ts';
import { type CallArguments, entriesOf, isList, kindOf, Special, type Value } from '../values/value.ts';
import { listMethods } from './list-methods.ts';
import { mapMethods } from './map-methods.ts';
import { stringMethods } from './string-methods.ts';

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
  const method = value.entries() === undefined ? undefined : mapMethods.get(name);
  return method === undefined ? value.callMethod(name, args) : method(value, args.positional);
}

function isPlainMapping(value: Value): boolean {
  return typeof value === 'object' && value !== null && !isList(value) && entriesOf(value) !== undefined;
}

function methodsOf(value: Value): ReadonlyMap<string, (value: Value, args: readonly Value[]) => Value> | undefined {
  if (typeof value === 'string' || value instanceof RichText) return stringMethods;
  if (isList(value)) return listMethods;
  return isPlainMapping(value) ? mapMethods : undefined;
}
