import { type FunctionName, FUNCTIONS } from '../../../schema/template-vocabulary.ts';
import { orderArguments } from '../compile/bind-arguments.ts';
import { TemplateFault } from '../template-fault.ts';
import type { PromptOutput } from '../values/output.ts';
import { printEntries } from '../values/print-value.ts';
import { type CallArguments, entriesOf, kindOf, numberOf, Special, type Value } from '../values/value.ts';
import type { Work } from '../values/work.ts';

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
  // Other engines print the variables of the template, which are not meant for the model.
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
  return Array.from({ length }, (_, index) => from + index * by);
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
    printEntries(out, this.values, 'line');
  }
}
