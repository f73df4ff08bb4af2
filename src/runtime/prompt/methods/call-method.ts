import { METHODS } from '../../../schema/template-vocabulary.ts';
import { orderArguments } from '../compile/bind-arguments.ts';
import { TemplateFault } from '../template-fault.ts';
import { attributeOf } from '../values/access-value.ts';
import { RichText } from '../values/rich-text.ts';
import { type CallArguments, entriesOf, isList, kindOf, Special, type Value } from '../values/value.ts';
import { LIST_METHODS } from './list-methods.ts';
import { MAP_METHODS } from './map-methods.ts';
import type { Method } from './method.ts';
import { STRING_METHODS } from './string-methods.ts';

type MethodCall = (value: Value, args: CallArguments) => Value;
type MethodCalls = ReadonlyMap<string, MethodCall>;

const ofStrings = withParameters(STRING_METHODS, METHODS.string);
const ofLists = withParameters(LIST_METHODS, METHODS.list);
const ofMaps = withParameters(MAP_METHODS, METHODS.map);

/** Methods that take the arguments of a call, in any order and by name, and refuse those that do not fit. */
function withParameters<N extends string>(
  methods: Readonly<Record<N, Method>>,
  parameters: Readonly<Record<N, readonly string[]>>,
): MethodCalls {
  const names = Object.keys(methods) as N[];
  return new Map(
    names.map((name) => [name, (value, args) => methods[name](value, orderArguments(args, parameters[name]))]),
  );
}

/** `value.name(…)`: Python's methods of strings, lists and maps, or an attribute that can be called. */
export function callMethod(value: Value, name: string, args: CallArguments): Value {
  if (value === undefined) throw new TemplateFault(`cannot call "${name}" of a value that is not there (undefined)`);
  if (value instanceof Special && !(value instanceof RichText)) return callSpecial(value, name, args);
  const attribute = isPlainMapping(value) ? attributeOf(value, name) : undefined;
  if (attribute instanceof Special) return attribute.call(args);
  const method = methodsOf(value)?.get(name);
  if (method === undefined) throw new TemplateFault(`a value of kind ${kindOf(value)} has no method "${name}"`);
  return method(value, args);
}

function callSpecial(value: Special, name: string, args: CallArguments): Value {
  const attribute = value.attribute(name);
  if (attribute instanceof Special) return attribute.call(args);
  const method = value.entries() === undefined ? undefined : ofMaps.get(name);
  return method === undefined ? value.callMethod(name, args) : method(value, args);
}

function isPlainMapping(value: Value): boolean {
  return typeof value === 'object' && value !== null && !isList(value) && entriesOf(value) !== undefined;
}

function methodsOf(value: Value): MethodCalls | undefined {
  if (typeof value === 'string' || value instanceof RichText) return ofStrings;
  if (isList(value)) return ofLists;
  return isPlainMapping(value) ? ofMaps : undefined;
}
