import { type FunctionName, FUNCTIONS } from '../../schema/template-vocabulary.ts';
import { orderArguments } from './compile/bind-arguments.ts';
import { TemplateFault } from './template-fault.ts';
import { spendWork } from './work-budget.ts';
import { Namespace } from './values/namespace.ts';
import type { TextSink } from './values/segment.ts';
import { type CallArguments, entriesOf, kindOf, numberOf, Special, type Value } from './values/value.ts';

/** The largest list that `range` makes. */
const MAX_RANGE = 100_000;

class FunctionValue extends Special {
  readonly kindName = 'function';
  readonly #name: FunctionName;
  readonly #apply: (args: readonly Value[]) => Value;

  constructor(name: FunctionName, apply: (args: readonly Value[]) => Value) {
    super();
    this.#name = name;
    this.#apply = apply;
  }

  override call(args: CallArguments): Value {
    return this.#apply(orderArguments(args, FUNCTIONS[this.#name]));
  }

  override print(out: TextSink): void {
    out.write(`<function ${this.#name}>`);
  }
}

const APPLY: Readonly<Record<FunctionName, (args: readonly Value[]) => Value>> = {
  // Other tools print the variables of the template, which no model is meant to see.
  debug: () => undefined,
  range,
  dict: ([value, entries]) => mergedEntries(value, entries),
  namespace: ([value, entries]) => new Namespace(mergedEntries(value, entries)),
};

/** Every function of the vocabulary, as a value. */
export const TEMPLATE_FUNCTIONS: Readonly<Record<FunctionName, Value>> = {
  debug: new FunctionValue('debug', APPLY.debug),
  range: new FunctionValue('range', APPLY.range),
  dict: new FunctionValue('dict', APPLY.dict),
  namespace: new FunctionValue('namespace', APPLY.namespace),
};

function range([lower, upper, step]: readonly Value[]): Value {
  const [from, to] = upper === undefined ? [0, integerOf(lower)] : [integerOf(lower), integerOf(upper)];
  const by = step === undefined ? 1 : integerOf(step);
  if (by === 0) throw new TemplateFault('the step of a range cannot be 0');
  const length = Math.max(0, Math.ceil((to - from) / by));
  if (length > MAX_RANGE) throw new TemplateFault('the range has too many elements');
  spendWork(length >> 2);
  return Array.from({ length }, (_, index) => from + index * by);
}

function integerOf(value: Value): number {
  const number = numberOf(value);
  if (number === undefined || !Number.isInteger(number)) throw new TemplateFault('a range needs integers');
  return number;
}

function mergedEntries(value: Value, named: Value): Map<Value, Value> {
  const first = value === undefined ? new Map<Value, Value>() : entriesOf(value);
  if (first === undefined) throw new TemplateFault(`a value of kind ${kindOf(value)} has no entries`);
  return new Map([...first, ...(entriesOf(named) ?? [])]);
}
