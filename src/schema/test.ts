import type { Span } from '../diagnostics/span.ts';
import type { OptionEntry } from './client.ts';
import type { Constraint } from './constraint.ts';

/** A `test` block: arguments for functions, and conditions for their results. A `Program` contains none. */
export interface TestType {
  readonly name: string;
  /** The name in its declaration. */
  readonly span: Span;
  /** The functions to call, each once. A function can be missing from the definitions. */
  readonly functions: readonly string[];
  /** By parameter. `env.X` is resolved when the test runs. */
  readonly args: readonly OptionEntry[];
  /** `@@assert` and `@@check`, in source order. A check can lack its label here. */
  readonly constraints: readonly Constraint[];
  /** Its `type_builder` extends the types of the definitions. */
  readonly buildsTypes: boolean;
  /** The first part that svc cannot read, such as `the argument "x"`: the test cannot run. */
  readonly unreadable?: string;
}
