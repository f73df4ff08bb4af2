import { OPEN_BRACE } from '../text/characters.ts';
import type { Place, TypedContainer } from '../fast-path/typed-container.ts';
import type { ValueNode } from '../text/value-node.ts';
import { describeValue } from './display-text.ts';
import type { Violation } from '../../../schema/violation.ts';
import { Coerced, MARK, Misfit, type Outcome } from './outcome.ts';
import { Partial } from './partial.ts';
import { Plan } from './plan.ts';
import { compareReadings } from './rank.ts';
import { isScalar, LabelPlan, StringPlan, written } from './scalar-plans.ts';

/** One of several types, and null if `nullable`. */
export class UnionPlan extends Plan {
  readonly name: string;
  readonly #members: readonly Plan[];
  readonly #nullable: boolean;
  /** Under these the results for lists and objects are kept in the values: unions nest. */
  readonly #castKey = {};
  readonly #coerceKey = {};

  constructor(members: readonly Plan[], nullable: boolean) {
    super();
    this.#members = members;
    this.#nullable = nullable;
    const names = members.map((member) => member.name);
    this.name = (nullable ? [...names, 'null'] : names).join(' or ');
    this.doneOnly = members.every((member) => member.doneOnly);
  }

  override exact(source: string): string | undefined {
    if (this.#nullable && source === 'null') return source;
    for (const member of this.#members) {
      const json = member.exact(source);
      if (json !== undefined) return json;
    }
    return undefined;
  }

  /** Only where the bracket tells the members apart: none is tried after another. */
  override openContainer(bracket: number, place: Place): TypedContainer | undefined {
    return this.#onlyComposite(bracket)?.openContainer(bracket, place);
  }

  override mayBreakAssert(seen?: Set<Plan>): boolean {
    return this.#members.some((member) => member.mayBreakAssert(seen));
  }

  override accepts(json: string): boolean {
    return this.#onlyComposite(json.charCodeAt(0))?.accepts(json) === true;
  }

  override mayBegin(first: number): boolean {
    return (this.#nullable && first === SMALL_N) || this.#members.some((member) => member.mayBegin(first));
  }

  override showText(json: string): string | undefined {
    return this.doneOnly ? undefined : this.#textMember()?.showText(json);
  }

  /** A value that an `@assert` may still rule out does not appear. */
  override showsOpen(bracket: number): boolean {
    const member = this.doneOnly ? undefined : this.#onlyComposite(bracket);
    return member !== undefined && !member.mayBreakAssert() && member.showsOpen(bracket);
  }

  #onlyComposite(bracket: number): Plan | undefined {
    const kind = bracket === OPEN_BRACE ? 'object' : 'list';
    let only: Plan | undefined;
    for (const member of this.#members) {
      if (!member.startsWith(kind)) continue;
      if (only !== undefined) return undefined;
      only = member;
    }
    return only;
  }

  cast(node: ValueNode): Coerced | undefined {
    if (node.kind === 'null' && this.#nullable) return written('null', node);
    if (isShallow(node)) return this.#bestCast(node);
    const known = node.recall(this.#castKey);
    if (known instanceof Coerced) return known;
    if (known === null) return undefined;
    const best = this.#bestCast(node);
    node.remember(this.#castKey, best ?? null);
    return best;
  }

  #bestCast(node: ValueNode): Coerced | undefined {
    let best: Coerced | undefined;
    for (const member of this.#members) {
      const value = member.cast(node);
      if (value !== undefined && (best === undefined || value.score < best.score)) best = value;
      if (best?.score === 0) return best;
    }
    return best;
  }

  coerce(node: ValueNode): Outcome {
    const exact = this.cast(node);
    if (exact !== undefined) return exact;
    if (isShallow(node)) return this.#bestFit(node);
    const known = node.recall(this.#coerceKey);
    if (known instanceof Coerced || known instanceof Misfit) return known;
    const outcome = this.#bestFit(node);
    node.remember(this.#coerceKey, outcome);
    return outcome;
  }

  #bestFit(node: ValueNode): Outcome {
    let best: Coerced | undefined;
    const misfits: Misfit[] = [];
    for (const member of this.#members) {
      const outcome = member.coerce(node);
      if (!outcome.ok) misfits.push(outcome);
      else if (best === undefined || compareReadings(outcome, best) < 0) best = outcome;
    }
    if (best !== undefined) return best;
    return this.#nothingFits(node, misfits);
  }

  #nothingFits(node: ValueNode, misfits: readonly Misfit[]): Outcome {
    const asserted = misfits.some((failure) => failure.asserted);
    if (this.#nullable && !asserted) return nullFor(node, misfits[0]?.reason);
    return (misfits.length === 1 ? misfits[0] : undefined) ?? new NoMember(this.name, node, misfits);
  }

  override fallback(): Coerced | undefined {
    return this.#nullable ? new Coerced('null', 1) : undefined;
  }

  override startsWith(kind: 'object' | 'list'): boolean {
    return this.#members.some((member) => member.startsWith(kind));
  }

  override affinity(node: ValueNode, depth = 0): number {
    let best = Infinity;
    for (const member of this.#members) best = Math.min(best, member.affinity(node, depth));
    return best;
  }

  protected override partial(node: ValueNode): Partial {
    if (isScalar(node)) return node.complete ? super.partial(node) : this.#openScalar(node);
    const member = this.#suited(node);
    if (member !== undefined) {
      if (member.mayBreakAssert() && !(node.complete && member.coerce(node).ok)) return Partial.withheld;
      return member.show(node);
    }
    return super.partial(node);
  }

  /** The member that suits a list or object best. */
  #suited(node: ValueNode): Plan | undefined {
    let best: Plan | undefined;
    let score = Infinity;
    for (const member of this.#members) {
      const affinity = member.affinity(node);
      if (affinity < score) {
        best = member;
        score = affinity;
      }
    }
    return best;
  }

  #openScalar(node: ValueNode): Partial {
    const member = this.#textMember();
    // It may become null, which is no list of nothing and no object without values.
    const mayBeNull = this.#nullable && !(member instanceof StringPlan);
    if (node.kind === 'bare' && (this.#members.length > 1 || mayBeNull)) return Partial.withheld;
    return member?.show(node) ?? Partial.withheld;
  }

  /** The member that a text which grows will be, as far as can be told. */
  #textMember(): Plan | undefined {
    if (this.#members.length === 1) return this.#members[0];
    if (this.#members.some((member) => member instanceof LabelPlan)) return undefined;
    return this.#members.find((member) => member instanceof StringPlan);
  }
}

/** No member of a union fits. */
class NoMember extends Misfit {
  readonly #expected: string;
  readonly #node: ValueNode;
  readonly #misfits: readonly Misfit[];

  constructor(expected: string, node: ValueNode, misfits: readonly Misfit[]) {
    super(
      undefined,
      misfits.some((one) => one.asserted),
    );
    this.#expected = expected;
    this.#node = node;
    this.#misfits = misfits;
  }

  protected override explain(): readonly Violation[] {
    const message = `expected ${this.#expected}, got ${describeValue(this.#node)}`;
    const faults = this.#misfits.flatMap((one) => one.faults);
    return [{ path: '', message }, ...faults.slice(0, MAX_FAULTS)];
  }
}

/** Results for more members are worth keeping. */
const MAX_SHALLOW = 4;

/** A value that is soon read again, so that its results need not be kept: a reply may hold thousands of them. */
function isShallow(node: ValueNode): boolean {
  return node.items.length <= MAX_SHALLOW && node.items.every((item) => item.items.length === 0);
}

/** The first letter of `null`. */
const SMALL_N = 110;

const MAX_FAULTS = 20;

function nullFor(node: ValueNode, reason: string | undefined): Coerced {
  return new Coerced('null', 110, {
    marks: MARK.nullForMisfit,
    notes: [{ flag: 'null-for-value', path: '', detail: reason ?? describeValue(node) }],
  });
}
