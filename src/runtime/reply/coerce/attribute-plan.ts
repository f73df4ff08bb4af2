import type { TextParts } from '../../../base/text-parts.ts';
import type { Condition, Constraint } from '../../../schema/constraint.ts';
import type { Violation } from '../../../schema/violation.ts';
import type { NodeKind, ReplyNode } from '../candidates/scan/reply-node.ts';
import type { GrowingString } from '../growing-text.ts';
import { CoercionError } from './coercion-error.ts';
import { addCost, FREE, nullFor, CoercedValue, type CoercionOutcome, type Flag } from './outcome.ts';
import { INEXACT, PartialValue, Plan, type TypedContainer } from './plan.ts';
import { PARSED_PER_STEP, StepBudget, type Reading } from './step-budget.ts';

/** A constraint whose expression is ready to run. */
export interface RunnableConstraint extends Constraint {
  readonly condition: Condition;
}

/** The attributes of a type where it is used. */
export interface PlanAttributes {
  readonly constraints: readonly RunnableConstraint[];
  /** `@stream.done` */
  readonly done: boolean;
  /** `@stream.with_state` */
  readonly withState: boolean;
}

/** A type with attributes: constraints, and the way in which it streams. */
export class AttributePlan extends Plan {
  readonly name: string;
  override readonly longestLabel: number;
  readonly #inner: Plan;
  readonly #asserts: readonly RunnableConstraint[];
  readonly #checks: readonly RunnableConstraint[];
  /** Null replaces a value that an assert rejects. */
  readonly #isOptional: boolean;
  override readonly isWrapped: boolean;
  override readonly takesText: boolean;
  /** The value appears only when it is complete, whatever its type. */
  readonly #done: boolean;
  /** The value inside any wrapper appears only when it is complete. */
  readonly #isHidden: boolean;
  readonly #withState: boolean;

  constructor(inner: Plan, attributes: PlanAttributes) {
    super();
    this.#inner = inner;
    this.name = inner.name;
    this.#asserts = attributes.constraints.filter((constraint) => constraint.level === 'assert');
    this.#checks = attributes.constraints.filter((constraint) => constraint.level === 'check');
    this.#isOptional = inner.fallback()?.bare === 'null';
    this.#done = attributes.done || (this.#isOptional && this.#asserts.length > 0);
    this.#withState = attributes.withState;
    this.#isHidden = this.#done || inner.doneOnly;
    this.isWrapped = this.#withState || this.#checks.length > 0;
    this.doneOnly = !this.isWrapped && this.#isHidden;
    this.takesText = inner.takesText;
    this.longestLabel = inner.longestLabel;
  }

  override hasField(key: string): boolean {
    return this.#inner.hasField(key);
  }

  override mayBecome(text: string, quoted: boolean): boolean {
    return this.#inner.mayBecome(text, quoted);
  }

  override mayBreakAssert(seen?: Set<unknown>): boolean {
    return this.#asserts.length > 0 || this.#inner.mayBreakAssert(seen);
  }

  // --- the fast path: values in wrappers are left to the tolerant parser ---------------------------------------------

  override exact(source: string): string | undefined {
    const json = this.isWrapped ? undefined : this.#inner.exact(source);
    return json !== undefined && this.#violations(json).length === 0 ? json : undefined;
  }

  override openContainer(bracket: number): TypedContainer | undefined {
    return this.isWrapped ? undefined : this.#inner.openContainer(bracket);
  }

  override accepts(json: string): boolean {
    return this.#inner.accepts(json) && this.#violations(json).length === 0;
  }

  override mayBegin(first: number): boolean {
    return !this.isWrapped && this.#inner.mayBegin(first);
  }

  override showString(string: GrowingString): TextParts | undefined {
    return this.doneOnly ? undefined : this.#inner.showString(string);
  }

  override showsOpen(bracket: number): boolean {
    return !this.doneOnly && this.#inner.showsOpen(bracket);
  }

  // --- whole values --------------------------------------------------------------------------------------------------

  protected coerceOnce(node: ReplyNode, reading: Reading, strict: boolean): CoercionOutcome {
    const outcome = this.#inner.coerce(node, reading, strict);
    if (!outcome.ok) return outcome;
    const violations = this.#violations(outcome.bare);
    if (violations.length === 0) return this.#wrapped(outcome);
    if (strict) return INEXACT;
    if (this.#isOptional) return this.#wrapped(nullFor(violations[0]?.message ?? '', node));
    return new CoercionError(() => violations);
  }

  override fallback(): CoercedValue | undefined {
    const value = this.#inner.fallback();
    return value === undefined || this.#violations(value.bare).length > 0 ? undefined : this.#wrapped(value);
  }

  override startsWith(kind: NodeKind): boolean {
    return this.#inner.startsWith(kind);
  }

  /** Runs the asserts. They do not apply to null. */
  #violations(bare: string): readonly Violation[] {
    if (this.#asserts.length === 0 || bare === 'null') return NO_VIOLATIONS;
    const self = parsed(bare);
    return this.#asserts.flatMap((constraint) => {
      const result = constraint.condition(self);
      if (result.ok && result.value) return NO_VIOLATIONS;
      const label = constraint.label === undefined ? '' : ` ${constraint.label}`;
      const reason = result.ok ? '' : ` (${result.failure})`;
      return [{ path: '', message: `the assert${label} failed: ${constraint.source}${reason}` }];
    });
  }

  #wrapped(value: CoercedValue): CoercedValue {
    if (!this.isWrapped) return value;
    const flags: Flag[] = [];
    const { json: checks, failed } = this.#runChecks(value.bare, flags);
    return new CoercedValue(withChecks(value.json, checks), {
      bare: value.bare,
      shown: this.#withStateOf(withChecks(value.shown, checks), 'Complete'),
      cost: failed === 0 ? value.cost : addCost(value.cost, { ...FREE, extra: failed }),
      kind: value.kind,
      kept: value.kept,
      flags: flags.length === 0 ? value.flags : [...value.flags, ...flags],
      losses: value.losses,
    });
  }

  #runChecks(bare: string, flags: Flag[]): CheckResults {
    if (this.#checks.length === 0) return NO_RESULTS;
    let failed = 0;
    const self = parsed(bare);
    const results = new Map<string, string>();
    for (const constraint of this.#checks) {
      const name = constraint.label ?? '';
      const result = constraint.condition(self);
      if (!result.ok) flags.push({ flag: 'check-error', path: '', detail: `${name}: ${result.failure}` });
      const status = result.ok && result.value ? 'succeeded' : 'failed';
      if (status === 'failed') failed += 1;
      const text = JSON.stringify({ name, expression: constraint.source, status });
      results.set(name, `${JSON.stringify(name)}:${text}`);
    }
    return { json: `{${[...results.values()].join(',')}}`, failed };
  }

  // --- partials ------------------------------------------------------------------------------------------------------

  override affinity(node: ReplyNode, reading: Reading, depth = 0): number {
    return this.#inner.affinity(node, reading, depth);
  }

  override blank(begun: boolean): string {
    const value = this.#isHidden ? 'null' : this.#inner.blank(begun);
    return this.#withStateOf(withChecks(value, this.#noChecks), begun ? 'Incomplete' : 'Pending');
  }

  protected override partial(node: ReplyNode, reading: Reading): PartialValue {
    if (this.#isHidden && node.complete && this.#asserts.length > 0 && !this.coerce(node, reading).ok) {
      return PartialValue.mismatch;
    }
    const inner = this.#innerPartial(node, reading);
    if (!this.isWrapped || inner === PartialValue.mismatch) return inner;
    const value = inner.json ?? 'null';
    const json = withChecks(value, node.complete ? this.#partialChecks(node, reading) : this.#noChecks);
    const state = node.complete ? 'Complete' : 'Incomplete';
    return new PartialValue(this.#withStateOf(json, state), inner.allNull || value === 'null');
  }

  #innerPartial(node: ReplyNode, reading: Reading): PartialValue {
    if (!this.#done) return this.#inner.show(node, reading);
    if (!node.complete) return PartialValue.withheld;
    const outcome = this.#inner.coerce(node, reading);
    if (!outcome.ok) return PartialValue.mismatch;
    const isRejected = this.#isOptional && this.#violations(outcome.bare).length > 0;
    return new PartialValue(isRejected ? 'null' : outcome.shown);
  }

  #partialChecks(node: ReplyNode, reading: Reading): string | undefined {
    const outcome = this.#inner.coerce(node, reading);
    return outcome.ok ? this.#runChecks(outcome.bare, []).json : this.#noChecks;
  }

  /** The results of checks that have not run. */
  get #noChecks(): string | undefined {
    return this.#checks.length === 0 ? undefined : '{}';
  }

  #withStateOf(value: string, state: 'Pending' | 'Incomplete' | 'Complete'): string {
    return this.#withState ? `{"value":${value},"state":"${state}"}` : value;
  }
}

/** The results of a type's checks. */
interface CheckResults {
  /** Their JSON text; undefined for a type without checks. */
  readonly json: string | undefined;
  readonly failed: number;
}

const NO_RESULTS: CheckResults = { json: undefined, failed: 0 };

const NO_VIOLATIONS: readonly Violation[] = [];

/** Parses a value for its constraints. Counts steps: constraints at every level parse a deep value once per level. */
function parsed(bare: string): unknown {
  StepBudget.reading.spend(bare.length / PARSED_PER_STEP);
  return JSON.parse(bare);
}

function withChecks(value: string, checks: string | undefined): string {
  return checks === undefined ? value : `{"value":${value},"checks":${checks}}`;
}
