import { hash } from 'node:crypto';
import { invariant } from '../../../base/invariant.ts';
import type { ClientSource } from '../client-options.ts';
import type { ClientPlan, RoundRobinPlan } from './client-plan.ts';

/** The clients that cool down, as strategies see them. */
export interface CoolingClients {
  /** As `ClientHealth.coolingUntil`. */
  readonly until: (source: ClientSource) => number | undefined;
  /** A strategy passes over this member. */
  readonly passedOver: (member: ClientPlan) => void;
}

/**
 * Yields the members of a fallback in the order in which to ask them: those that cool down come last, and of these first the one whose
 * time ends first. So a call asks each member before it fails.
 */
export function* membersInOrder(
  members: readonly ClientPlan[],
  cooling: CoolingClients | undefined,
): Iterable<ClientPlan> {
  if (cooling === undefined) {
    yield* members;
    return;
  }
  const last: Array<{ readonly member: ClientPlan; readonly until: number }> = [];
  for (const member of members) {
    // The attempts at the members before it take time, so each is judged in its turn.
    const until = endOfCoolDown(member, cooling);
    if (until === undefined) yield member;
    else {
      cooling.passedOver(member);
      last.push({ member, until });
    }
  }
  for (const { member } of last.toSorted((a, b) => a.until - b.until)) yield member;
}

/** Returns the member for a turn. If it cools down, the others share its turns by their weights. */
export function memberForTurn(plan: RoundRobinPlan, turn: number, cooling: CoolingClients | undefined): ClientPlan {
  const usual = memberOfTurn(plan, turn);
  if (cooling === undefined || endOfCoolDown(usual, cooling) === undefined) return usual;
  const active = activeMembers(plan);
  const ready = active.filter(({ member }) => endOfCoolDown(member, cooling) === undefined);
  if (ready.length === 0)
    return firstReady(
      active.map(({ member }) => member),
      cooling,
    );
  cooling.passedOver(usual);
  return memberAt(ready, turn);
}

/** Returns the member for a route key. If it cools down, the next one in the order of the key takes its place. */
export function memberForKey(
  plan: RoundRobinPlan & { readonly name: string },
  { routeKey, index }: { readonly routeKey: string; readonly index: number },
  cooling: CoolingClients | undefined,
): ClientPlan {
  const ranked = membersOfKey(plan, routeKey);
  const first = index % ranked.length;
  const candidates = [...ranked.slice(first), ...ranked.slice(0, first)];
  const [usual] = candidates;
  invariant(usual !== undefined, 'a round-robin client has a member with a weight');
  if (cooling === undefined) return usual;
  const chosen = firstReady(candidates, cooling);
  if (chosen !== usual) cooling.passedOver(usual);
  return chosen;
}

/** Returns the first member that does not cool down, or else the one whose time ends first. */
function firstReady(candidates: readonly ClientPlan[], cooling: CoolingClients): ClientPlan {
  let earliest: { readonly member: ClientPlan; readonly until: number } | undefined;
  for (const member of candidates) {
    const until = endOfCoolDown(member, cooling);
    if (until === undefined) return member;
    if (earliest === undefined || until < earliest.until) earliest = { member, until };
  }
  invariant(earliest !== undefined, 'a round-robin client has members');
  return earliest.member;
}

/** The end of the cool-down of a client. A strategy cools down while all its members do. */
function endOfCoolDown(plan: ClientPlan, cooling: CoolingClients): number | undefined {
  if (plan.kind === 'single') return cooling.until(plan.source);
  const members = plan.kind === 'fallback' ? plan.members : activeMembers(plan).map(({ member }) => member);
  let earliest = Infinity;
  for (const member of members) {
    const until = endOfCoolDown(member, cooling);
    if (until === undefined) return undefined;
    earliest = Math.min(earliest, until);
  }
  return earliest;
}

interface WeightedMember {
  readonly member: ClientPlan;
  readonly weight: number;
}

/** The members that a round-robin client can ask: none with the weight 0. */
function activeMembers({ members, weights }: RoundRobinPlan): readonly WeightedMember[] {
  const all = members.map((member, index) => ({ member, weight: weights?.values[index] ?? 1 }));
  return all.filter(({ weight }) => weight > 0);
}

/** The fractions of its multiples are spread evenly, also those of every third or tenth multiple. */
const GOLDEN_RATIO = (1 + Math.sqrt(5)) / 2;

function memberAt(members: readonly WeightedMember[], turn: number): ClientPlan {
  let left = ((turn * GOLDEN_RATIO) % 1) * members.reduce((total, { weight }) => total + weight, 0);
  const chosen = members.find(({ weight }) => (left -= weight) < 0) ?? members[0];
  invariant(chosen !== undefined, 'at least one member does not cool down');
  return chosen.member;
}

// --- round robin -----------------------------------------------------------------------------------------------------

/** The member that has a turn. Turns count from 0. */
export function memberOfTurn({ members, weights, start }: RoundRobinPlan, turn: number): ClientPlan {
  const member = members[weights === undefined ? (start + turn) % members.length : weights.memberAt(start + turn)];
  invariant(member !== undefined, 'a round-robin client has members');
  return member;
}

/**
 * The members in their order for a route key, by weighted rendezvous hashing: each member has a score for the key, and the highest one
 * comes first. When a weight changes, only the keys move that the change concerns. Members with the weight 0 are left out.
 */
function membersOfKey(
  { name, members, weights }: RoundRobinPlan & { readonly name: string },
  routeKey: string,
): readonly ClientPlan[] {
  // A member that the list contains twice has one score, for both its weights.
  const byName = new Map<string, { readonly member: ClientPlan; readonly weight: number }>();
  for (const [at, member] of members.entries()) {
    const weight = (byName.get(member.name)?.weight ?? 0) + (weights?.values[at] ?? 1);
    if (weight > 0) byName.set(member.name, { member, weight });
  }
  return [...byName.values()]
    .map(({ member, weight }) => ({ member, score: -weight / Math.log(fractionOf([name, member.name, routeKey])) }))
    .toSorted((a, b) => b.score - a.score)
    .map(({ member }) => member);
}

/** The bytes of a hash that become a fraction: as many as a number holds exactly. */
const HASH_BYTES = 6;

/** A number between 0 and 1, both excluded, that is the same in all processes. */
function fractionOf(texts: readonly string[]): number {
  const digest = hash('sha256', JSON.stringify(texts), 'buffer');
  return (digest.readUIntBE(0, HASH_BYTES) + 0.5) / 2 ** (8 * HASH_BYTES);
}
