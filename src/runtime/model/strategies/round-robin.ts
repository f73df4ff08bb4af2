import { hash } from 'node:crypto';
import { invariant } from '../../../base/invariant.ts';
import type { ClientPlan, RoundRobinPlan } from './client-plan.ts';

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
export function membersOfKey(
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
