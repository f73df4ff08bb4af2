import {
  isFilterName,
  isTestName,
  type TestName,
  type FunctionName,
  FUNCTIONS,
} from '../../../schema/template-vocabulary.ts';
import { TemplateFault, type Work } from '../values/work.ts';
import { contains, compareValues, valuesEqual } from '../values/access-value.ts';
import { plainTextOf, printEntries } from '../values/print-value.ts';
import {
  isFloat,
  isList,
  isMapping,
  isString,
  numberOf,
  type Value,
  type PromptOutput,
  type CallArguments,
  entriesOf,
  Float,
  kindOf,
  RichText,
  Special,
} from '../values/value.ts';
import type { JsonObject, JsonValue } from '../../../base/json.ts';
import { orderArguments } from '../compile/bind-arguments.ts';
import { EnumValue } from '../values/argument-values.ts';
import { type Data, dataOf } from './write-data.ts';

/** Applies a test. Arguments come in the order of the vocabulary. */
type TestFunction = (value: Value, args: readonly Value[], work: Work) => boolean;

const isEqual: TestFunction = (value, [other], work) => valuesEqual(value, other, work);
const isOther: TestFunction = (value, [other], work) => !valuesEqual(value, other, work);
const isLess: TestFunction = (value, [other], work) => compareValues(value, other, work) < 0;
const isAtMost: TestFunction = (value, [other], work) => compareValues(value, other, work) <= 0;
const isGreater: TestFunction = (value, [other], work) => compareValues(value, other, work) > 0;
const isInteger: TestFunction = (value) => typeof value === 'number' && Number.isInteger(value);
const isAtLeast: TestFunction = (value, [other], work) => compareValues(value, other, work) >= 0;

/** Every test of the vocabulary. */
export const TEST_FUNCTIONS: Readonly<Record<TestName, TestFunction>> = {
  '!=': isOther,
  '<': isLess,
  '<=': isAtMost,
  '==': isEqual,
  '>': isGreater,
  '>=': isAtLeast,
  boolean: (value) => typeof value === 'boolean',
  defined: (value) => value !== undefined,
  divisibleby: (value, [number]) => rest(value, number) === 0,
  endingwith: (value, [end], work) => plainTextOf(value, work).endsWith(plainTextOf(end, work)),
  eq: isEqual,
  equalto: isEqual,
  escaped: () => false,
  even: (value) => rest(value, 2) === 0,
  false: (value) => value === false,
  filter: (value) => typeof value === 'string' && isFilterName(value),
  float: isFloat,
  ge: isAtLeast,
  greaterthan: isGreater,
  gt: isGreater,
  in: (value, [container], work) => contains(container, value, work),
  int: isInteger,
  integer: isInteger,
  // A loop over null or an undefined value visits no items.
  iterable: (value) => value === undefined || value === null || isString(value) || isList(value) || isMapping(value),
  le: isAtMost,
  lessthan: isLess,
  lower: (value, _, work) => isString(value) && /^\p{Lowercase}*$/u.test(plainTextOf(value, work)),
  lt: isLess,
  mapping: isMapping,
  ne: isOther,
  none: (value) => value === null,
  number: (value) => typeof value !== 'boolean' && numberOf(value) !== undefined,
  odd: (value) => Math.abs(rest(value, 2)) === 1,
  safe: () => false,
  sameas: (value, [other], work) =>
    value === other || (isFloat(value) && isFloat(other) && valuesEqual(value, other, work)),
  sequence: isList,
  startingwith: (value, [start], work) => plainTextOf(value, work).startsWith(plainTextOf(start, work)),
  string: isString,
  test: (value) => typeof value === 'string' && isTestName(value),
  true: (value) => value === true,
  undefined: (value) => value === undefined,
  upper: (value, _, work) => isString(value) && /^\p{Uppercase}*$/u.test(plainTextOf(value, work)),
};

/** The remainder. NaN unless the value is a number: then no test on it holds. */
function rest(value: Value, divisor: Value): number {
  const a = numberOf(value);
  const b = numberOf(divisor);
  if (b === undefined || b === 0) throw new TemplateFault('the divisor must be a number other than 0');
  return a === undefined ? Number.NaN : a % b;
}

/** The largest list that `range` makes. */
const MAX_RANGE = 100_000;

type Apply = (args: readonly Value[], work: Work) => Value;

class FunctionValue extends Special {
  readonly kindName = 'function';
  readonly #name: FunctionName;
  readonly #apply: Apply;

  constructor(name: FunctionName, apply: Apply) {
    super();
    this.#name = name;
    this.#apply = apply;
  }

  override call(args: CallArguments, work: Work): Value {
    return this.#apply(orderArguments(args, FUNCTIONS[this.#name]), work);
  }

  override print(out: PromptOutput): void {
    out.write(`<function ${this.#name}>`);
  }
}

/** Every function of the vocabulary, as a value. */
export const TEMPLATE_FUNCTIONS: Readonly<Record<FunctionName, Value>> = {
  // Other engines print the variables of the template, which a model is not meant to see.
  debug: new FunctionValue('debug', () => undefined),
  range: new FunctionValue('range', range),
  dict: new FunctionValue('dict', mergedEntries),
  namespace: new FunctionValue('namespace', (args, work) => new Namespace(mergedEntries(args, work))),
};

function range([lower, upper, step]: readonly Value[], work: Work): Value {
  const [from, to] = upper === undefined ? [0, integerOf(lower)] : [integerOf(lower), integerOf(upper)];
  const by = step === undefined ? 1 : integerOf(step);
  if (by === 0) throw new TemplateFault('the step of a range cannot be 0');
  const length = Math.max(0, Math.ceil((to - from) / by));
  if (length > MAX_RANGE) throw new TemplateFault('the range has too many elements');
  work.spend(length >> 2);
  // One allocation: the growing array of Array.from takes most of the time of a long loop.
  const numbers: number[] = [];
  numbers.length = length;
  for (let index = 0; index < length; index += 1) numbers[index] = from + index * by;
  return numbers;
}

function integerOf(value: Value): number {
  const number = numberOf(value);
  if (number === undefined || !Number.isInteger(number)) throw new TemplateFault('a range needs integers');
  return number;
}

function mergedEntries([value, named]: readonly Value[], work: Work): Map<Value, Value> {
  const first = value === undefined ? new Map<Value, Value>() : entriesOf(value, work);
  if (first === undefined) throw new TemplateFault(`a value of kind ${kindOf(value)} has no entries`);
  return new Map([...first, ...(entriesOf(named, work) ?? [])]);
}

/** `namespace(…)`: the one value whose attributes a template can set. */
export class Namespace extends Special {
  readonly kindName = 'namespace';
  readonly values: Map<Value, Value>;

  constructor(values: Map<Value, Value>) {
    super();
    this.values = values;
  }

  override attribute(name: string): Value {
    return this.values.get(name);
  }

  override entries(): ReadonlyMap<Value, Value> {
    return this.values;
  }

  override print(out: PromptOutput): void {
    printEntries(out, this.values, { layout: 'line' });
  }
}

/** `_`: `_.role("user")` and `_.chat("user")` begin a message. */
class ChatHelper extends Special {
  readonly kindName = 'chat helper';

  override callMethod(name: string, args: CallArguments, work: Work): Value {
    if (name === 'role' || name === 'chat') return beginMessage(args, work);
    throw new TemplateFault(`"_" has no method "${name}"`);
  }

  override print(out: PromptOutput): void {
    out.write('{"chat": <function>, "role": <function>}');
  }
}

export const CHAT_HELPER: Value = new ChatHelper();

function beginMessage({ positional, named }: CallArguments, work: Work): RichText {
  if (positional.length > 1) throw new TemplateFault('"_.role" takes one role; other arguments need a name');
  const role = positional.length === 1 ? positional[0] : named.get('role');
  if (role === undefined) throw new TemplateFault('"_.role" needs a role: _.role("user")');
  const metadata = named.size === 0 ? NO_METADATA : metadataOf(named, { withRole: positional.length === 0, work });
  return new RichText([{ kind: 'role', role: nameOf(role, work), metadata }]);
}

/** A value of an enum is a role by its printed form, the alias. */
function nameOf(role: Value, work: Work): string {
  if (typeof role === 'string') return role;
  if (role instanceof EnumValue || role instanceof RichText) return plainTextOf(role, work);
  throw new TemplateFault('the role must be a string or a value of an enum');
}

const NO_METADATA: JsonObject = {};

interface MetadataOptions {
  /** One of the arguments is the role. */
  readonly withRole: boolean;
  readonly work: Work;
}

function metadataOf(named: ReadonlyMap<string, Value>, { withRole, work }: MetadataOptions): JsonObject {
  const entries = [...named].filter(([name]) => name !== 'role' || !withRole);
  return Object.fromEntries(entries.map(([name, value]) => [name, jsonOf(dataOf(value, { naming: 'real', work }))]));
}

function jsonOf(data: Data): JsonValue {
  if (data instanceof Float) return data.value;
  if (data instanceof Map) {
    return Object.fromEntries([...(data as ReadonlyMap<string, Data>)].map(([key, value]) => [key, jsonOf(value)]));
  }
  return Array.isArray(data) ? (data as readonly Data[]).map(jsonOf) : (data as JsonValue);
}
