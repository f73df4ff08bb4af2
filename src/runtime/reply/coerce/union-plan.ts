import type { TextParts } from '../../../base/text-parts.ts';
import { OPEN_BRACE } from '../candidates/scan/characters.ts';
import { isNothing, isNullWord, isWordForNothing } from './spelling.ts';
import { REPAIR, type NodeKind, type ReplyNode } from '../candidates/scan/reply-node.ts';
import type { GrowingString } from '../growing-text.ts';
import { mismatch, unionError, type CoercionError } from './coercion-error.ts';
import { asWritten, CoercedValue, compareCost, isPerfect, isShaped, nullFor, type CoercionOutcome } from './outcome.ts';
import { INEXACT, MISMATCH, PartialValue, Plan, type TypedContainer } from './plan.ts';
import { nullWord, wholeAnswerIn } from './scalars.ts';
import type { Reading } from './step-budget.ts';

/** One of several types, or null if `nullable`. */
export class UnionPlan extends Plan {
  /** `coerce` begins with the exact values, for which the union around it has looked already. */
  override isShared = true;
  readonly name: string;
  override readonly longestLabel: number;
  readonly #members: readonly Plan[];
  readonly #nullable: boolean;
  /** The checks of one member decide between it and the others. */
  override readonly isWrapped: boolean;
  override readonly takesText: boolean;
  /** The members in words. */
  readonly #expected: string;

  /** `name`: the name of the alias of the union. */
  constructor(members: readonly Plan[], nullable: boolean, name?: string) {
    super();
    this.#members = members;
    this.#nullable = nullable;
    this.isWrapped = members.some((member) => member.isWrapped);
    this.takesText = members.some((member) => member.takesText);
    const names = members.map((member) => member.name);
    this.#expected = (nullable ? [...names, 'null'] : names).join(' or ');
    this.name = name ?? this.#expected;
    this.doneOnly = members.every((member) => member.doneOnly);
    this.longestLabel = Math.max(0, ...members.map((member) => member.longestLabel));
  }

  override hasField(key: string): boolean {
    return this.#members.some((member) => member.hasField(key));
  }

  override mayBecome(text: string, quoted: boolean): boolean {
    if (this.#nullable && !quoted && 'null'.startsWith(text)) return true;
    return this.#members.some((member) => member.mayBecome(text, quoted));
  }

  override mayBreakAssert(seen?: Set<unknown>): boolean {
    return this.#members.some((member) => member.mayBreakAssert(seen));
  }

  // --- the fast path: only if the bracket alone identifies the member ------------------------------------------------------

  override exact(source: string): string | undefined {
    if (this.isWrapped) return undefined;
    if (this.#nullable && source === 'null') return source;
    for (const member of this.#members) {
      const json = member.exact(source);
      if (json !== undefined) return json;
    }
    return undefined;
  }

  override openContainer(bracket: number): TypedContainer | undefined {
    return this.#onlyStarting(bracket)?.openContainer(bracket);
  }

  override accepts(json: string): boolean {
    return this.#onlyStarting(json.charCodeAt(0))?.accepts(json) === true;
  }

  override mayBegin(first: number): boolean {
    return (this.#nullable && first === SMALL_N) || this.#members.some((member) => member.mayBegin(first));
  }

  override showString(string: GrowingString): TextParts | undefined {
    if (this.doneOnly) return undefined;
    // An escape takes up to six characters.
    const isShort = string.size - 2 <= 6 * this.longestLabel;
    const canBeLabel = isShort && this.mayBecome(JSON.parse(string.text) as string, true);
    return canBeLabel ? undefined : this.#stringMember()?.showString(string);
  }

  /** A value that an `@assert` can still reject is hidden. */
  override showsOpen(bracket: number): boolean {
    const member = this.doneOnly ? undefined : this.#onlyStarting(bracket);
    return member !== undefined && !member.mayBreakAssert() && member.showsOpen(bracket);
  }

  /** Returns the only member whose values start with the bracket. */
  #onlyStarting(bracket: number): Plan | undefined {
    const kind = bracket === OPEN_BRACE ? 'object' : 'list';
    let only: Plan | undefined;
    for (const member of this.#members) {
      if (!member.startsWith(kind)) continue;
      if (only !== undefined) return undefined;
      only = member;
    }
    return only;
  }

  // --- whole values --------------------------------------------------------------------------------------------------

  protected coerceOnce(node: ReplyNode, reading: Reading, strict: boolean): CoercionOutcome {
    const exact = strict ? this.#exact(node, reading) : this.coerce(node, reading, true);
    if (strict || (exact.ok && (isPerfect(exact) || !this.#hasSeveral(node.kind)))) return exact;
    return this.#bestMatch(node, exact.ok, reading);
  }

  #exact(node: ReplyNode, reading: Reading): CoercionOutcome {
    if (!this.#nullable) return this.#exactMember(node, reading) ?? INEXACT;
    if (node.kind === 'null' && node.text === 'null') return asWritten('null', node);
    const value = this.#exactMember(node, reading);
    if (node.kind === 'null') return value ?? asWritten('null', node);
    // A string in quotes, or the reply as a whole, can be `N/A`; a token in an object or a list means null by it.
    return value?.kind === 'text' && isBareNull(node) ? nullWord(node) : (value ?? INEXACT);
  }

  #exactMember(node: ReplyNode, reading: Reading): CoercedValue | undefined {
    let best: CoercedValue | undefined;
    for (const member of this.#members) {
      const value = member.coerce(node, reading, true);
      if (value.ok && (best === undefined || compareCost(value.cost, best.cost) < 0)) best = value;
      if (best !== undefined && isPerfect(best)) return best;
    }
    return best;
  }

  /** True if values of several members are lists, or objects: one that needs repairs can suit better than one that does not. */
  #hasSeveral(kind: NodeKind): boolean {
    if (kind !== 'list' && kind !== 'object') return false;
    return this.#members.filter((member) => member.startsWith(kind)).length > 1;
  }

  /** `isExact`: some member matches without concessions; only members whose values are of the same kind can be better. */
  #bestMatch(node: ReplyNode, isExact: boolean, reading: Reading): CoercionOutcome {
    let best: CoercedValue | undefined;
    const errors: CoercionError[] = [];
    const { kind } = node;
    for (const member of this.#members) {
      if (isExact && !((kind === 'list' || kind === 'object') && member.startsWith(kind))) continue;
      const outcome = member.coerce(node, reading);
      if (!outcome.ok) errors.push(outcome);
      else if (best === undefined || compareCost(outcome.cost, best.cost) < 0) best = outcome;
    }
    if (this.#nullable && isNullInstead(node, best)) return nullWord(node);
    if (best !== undefined) return best;
    if (!this.#nullable) return unionError(this.#expected, node, errors);
    if (isNullAnswer(node)) return nullWord(node);
    const error = errors.length === 1 ? errors[0] : mismatch(this.#expected, node);
    return nullFor(error?.reason ?? '', node);
  }

  override fallback(): CoercedValue | undefined {
    return this.#nullable ? NULL : undefined;
  }

  override startsWith(kind: NodeKind): boolean {
    return this.#members.some((member) => member.startsWith(kind));
  }

  // --- partials ------------------------------------------------------------------------------------------------------

  override affinity(node: ReplyNode, reading: Reading, depth = 0): number {
    let best = Infinity;
    for (const member of this.#members) best = Math.min(best, member.affinity(node, reading, depth));
    return best;
  }

  protected override partial(node: ReplyNode, reading: Reading): PartialValue {
    if (node.isScalar) return node.complete ? super.partial(node, reading) : this.#openScalar(node, reading);
    const member = this.#suitable(node, reading);
    if (member === undefined) return super.partial(node, reading);
    if (member.mayBreakAssert() && !(node.complete && member.coerce(node, reading).ok)) return PartialValue.withheld;
    return member.show(node, reading);
  }

  /** Returns the member that suits a list or object best. */
  #suitable(node: ReplyNode, reading: Reading): Plan | undefined {
    let best: Plan | undefined;
    let score = Infinity;
    for (const member of this.#members) {
      const affinity = member.affinity(node, reading);
      if (affinity < score) {
        best = member;
        score = affinity;
      }
    }
    return score >= MISMATCH && this.takesText ? undefined : best;
  }

  #openScalar(node: ReplyNode, reading: Reading): PartialValue {
    const member = this.#stringMember();
    // It can become null, which is neither an empty list nor an object without values.
    const canBeNull = this.#nullable && member?.takesText !== true;
    if (node.kind === 'bare' && (this.#members.length > 1 || canBeNull)) return PartialValue.withheld;
    const canBeLabel = node.text.length <= this.longestLabel && this.mayBecome(node.text, true);
    return (canBeLabel ? undefined : member?.show(node, reading)) ?? PartialValue.withheld;
  }

  /** Returns the member that a growing string will match, as far as its beginning can tell. */
  #stringMember(): Plan | undefined {
    if (this.#members.length === 1) return this.#members[0];
    return this.#members.find((member) => member.takesText && !member.mayBreakAssert());
  }
}

const NULL = new CoercedValue('null');

/** True for a spelling of null, or YAML's `~`, without quotes in an object or a list. */
function isBareNull(node: ReplyNode): boolean {
  return (node.repairs & REPAIR.unquotedValue) !== 0 && (node.text === '~' || isNullWord(node.text));
}

/** True for a word for nothing that no member of the union takes as it is. */
function isNullInstead(node: ReplyNode, best: CoercedValue | undefined): boolean {
  if (best?.kind === 'text' || (best !== undefined && isShaped(best))) return false;
  return node.kind === 'string' && isWordForNothing(node.text);
}

/** True for null in an object or list around it: `{"value": null, "confidence": 0.9}`. */
function isNullAnswer(node: ReplyNode): boolean {
  const answer = node.isScalar ? undefined : wholeAnswerIn(node);
  return answer?.isScalar === true && isNothing(answer);
}

/** The first letter of `null`. */
const SMALL_N = 110;
