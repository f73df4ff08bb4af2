import { printEntries } from './print-value.ts';
import type { TextSink } from './segment.ts';
import { Special, type Value } from './value.ts';

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

  override print(out: TextSink): void {
    printEntries(out, this.values, 'line');
  }
}
