import type { Condition, Constraint } from '../../../schema/constraint.ts';
import type { Violation } from '../../../schema/violation.ts';
import type { Place, TypedContainer } from '../fast-path/typed-container.ts';
import type { ValueNode } from '../text/value-node.ts';
import { Coerced, Misfit, type Outcome } from './outcome.ts';
import { Partial } from './partial.ts';
import { Plan } from './plan.ts';
import type { ParseFlag } from '../reply-parser.ts';

/** A constraint with its expression ready to run. */
export interface RunnableConstraint extends Constraint {
  readonly condition: Condition;
}

export interface PlanAttributes {
  readonly constraints: readonly RunnableConstraint[];
  readonly done: boolean;
  readonly withState: boolean;
}

/** What attributes add to a type where it is used: constraints, and how it streams. */
export class AttributePlan extends Plan {
  readonly name: string;
  readonly #inner: Plan;
  readonly #asserts: readonly RunnableConstraint[];
  readonly #checks: readonly RunnableConstraint[];
  readonly #done: boolean;
  readonly #withState: boolean;

  constructor(inner: Plan, attributes: PlanAttributes) {
    super();
    this.#inner = inner;
    this.name = inner.name;
    this.#asserts = attributes.constraints.filter((constraint) => constraint.level === 'assert');
    this.#checks = attributes.constraints.filter((constraint) => constraint.level === 'check');
    this.#done = attributes.done;
    this.#withState = attributes.withState;
    this.doneOnly = !this.#isWrapped && this.#hidden;
  }

  get #hidden(): boolean {
    return this.#done || this.#inner.doneOnly;
  }

  /** Results in wrappers are made from trees of values. */
  get #isWrapped(): boolean {
    return this.#withState || this.#checks.length > 0;
  }

  override exact(source: string): string | undefined {
    const json = this.#isWrapped ? undefined : this.#inner.exact(source);
    return json !== undefined && this.#failures(json).length === 0 ? json : undefined;
  }

  override openContainer(bracket: number, place: Place): TypedContainer | undefined {
    return this.#isWrapped ? undefined : this.#inner.openContainer(bracket, place);
  }

  override mayBreakAssert(seen?: Set<Plan>): boolean {
    return this.#asserts.length > 0 || this.#inner.mayBreakAssert(seen);
  }

  override accepts(json: string): boolean {
    return this.#inner.accepts(json) && this.#failures(json).length === 0;
  }

  override mayBegin(first: number): boolean {
    return !this.#isWrapped && this.#inner.mayBegin(first);
  }

  override showText(json: string): string | undefined {
    return this.doneOnly ? undefined : this.#inner.showText(json);
  }

  override showsOpen(bracket: number): boolean {
    return !this.doneOnly && this.#inner.showsOpen(bracket);
  }

  cast(node: ValueNode): Coerced | undefined {
    const value = this.#inner.cast(node);
    if (value === undefined || this.#failures(value.bare).length > 0) return undefined;
    return this.#wrapped(value);
  }

  coerce(node: ValueNode): Outcome {
    const outcome = this.#inner.coerce(node);
    if (!outcome.ok) return outcome;
    const failures = this.#failures(outcome.bare);
    return failures.length > 0 ? new Misfit(failures, true) : this.#wrapped(outcome);
  }

  /** A missing value is not asserted of, but its checks are reported. */
  override fallback(): Coerced | undefined {
    const value = this.#inner.fallback();
    return value === undefined ? undefined : this.#wrapped(value);
  }

  /** Null is no value: asserts speak of the value when there is one. */
  #failures(bare: string): readonly Violation[] {
    if (this.#asserts.length === 0 || bare === 'null') return NO_FAULTS;
    const self: unknown = JSON.parse(bare);
    return this.#asserts.flatMap((constraint) => {
      const result = constraint.condition(self);
      if (result.ok && result.value) return NO_FAULTS;
      const label = constraint.label === undefined ? '' : ` ${constraint.label}`;
      const reason = result.ok ? '' : ` (${result.failure})`;
      return [{ path: '', message: `the assert${label} failed: ${constraint.source}${reason}` }];
    });
  }

  #wrapped(value: Coerced): Coerced {
    if (!this.#isWrapped) return value;
    const notes: ParseFlag[] = [];
    const checks = this.#checkResults(value.bare, notes);
    return new Coerced(this.#wrap(value.json, checks), value.score, {
      bare: value.bare,
      shown: this.#stated(this.#wrap(value.shown, checks), 'Complete'),
      marks: value.marks,
      notes: notes.length === 0 ? value.notes : [...value.notes, ...notes],
    });
  }

  #checkResults(bare: string, notes: ParseFlag[]): string {
    if (this.#checks.length === 0) return '{}';
    const self: unknown = JSON.parse(bare);
    const results = new Map<string, string>();
    for (const constraint of this.#checks) {
      const name = constraint.label ?? '';
      const result = constraint.condition(self);
      if (!result.ok) notes.push({ flag: 'check-error', path: '', detail: `${name}: ${result.failure}` });
      const status = result.ok && result.value ? 'succeeded' : 'failed';
      const text = JSON.stringify({ name, expression: constraint.source, status });
      results.set(name, `${JSON.stringify(name)}:${text}`);
    }
    return `{${[...results.values()].join(',')}}`;
  }

  // --- partials ---------------------------------------------------------------------------------------------------

  override startsWith(kind: 'object' | 'list'): boolean {
    return this.#inner.startsWith(kind);
  }

  override affinity(node: ValueNode, depth = 0): number {
    return this.#inner.affinity(node, depth);
  }

  protected override partial(node: ValueNode): Partial {
    if (this.#hidden && node.complete && this.#asserts.length > 0 && !this.coerce(node).ok) return Partial.unfit;
    const inner = this.#innerPartial(node);
    if (!this.#isWrapped) return inner;
    if (inner.json === undefined && inner === Partial.unfit) return inner;
    const value = inner.json ?? 'null';
    const json = this.#wrap(value, node.complete ? this.#partialChecks(node) : '{}');
    return new Partial(this.#stated(json, node.complete ? 'Complete' : 'Incomplete'), inner.hollow || value === 'null');
  }

  #innerPartial(node: ValueNode): Partial {
    if (!this.#done) return this.#inner.show(node);
    if (!node.complete) return Partial.withheld;
    const outcome = this.#inner.coerce(node);
    return outcome.ok ? new Partial(outcome.shown) : Partial.unfit;
  }

  #partialChecks(node: ValueNode): string {
    const outcome = this.#inner.coerce(node);
    return outcome.ok ? this.#checkResults(outcome.bare, []) : '{}';
  }

  #wrap(value: string, checks: string): string {
    return this.#checks.length === 0 ? value : `{"value":${value},"checks":${checks}}`;
  }

  #stated(value: string, state: string): string {
    return this.#withState ? `{"value":${value},"state":"${state}"}` : value;
  }

  override blank(begun: boolean): string {
    const value = this.#hidden ? 'null' : this.#inner.blank(begun);
    return this.#stated(this.#wrap(value, '{}'), begun ? 'Incomplete' : 'Pending');
  }
}

const NO_FAULTS: readonly Violation[] = [];
