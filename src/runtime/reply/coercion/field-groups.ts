import { ReplyNode } from '../text/reply-node.ts';
import type { ClassFields } from './class-fields.ts';
import { spend } from './step-budget.ts';
import { isCommentaryKey } from './wrapper-keys.ts';

/** The most groups of fields, and the fewest fields in them: two objects with one member each can be two things. */
const MAX_GROUPS = 12;
const LEAST_FIELDS = 3;

/**
 * Returns the fields that a model wrote in groups as one object: `{"general": {"name": …, "price": …}, "details": {"weight":
 * …}}`. Undefined unless every group contains nothing but fields, no field is in two groups, and no required field is missing.
 */
export function membersOfGroups(fields: ClassFields, { items, keys }: ReplyNode): ReplyNode | undefined {
  if (items.length < 2 || items.length > MAX_GROUPS) return undefined;
  const members = new ReplyNode('object');
  members.complete = true;
  const seen = new Set<number>();
  for (const [at, group] of items.entries()) {
    if (group.isScalar && isCommentaryKey(keys[at] ?? '')) continue;
    if (group.kind !== 'object' || group.items.length === 0 || group.items.length > fields.all.length) return undefined;
    spend(group.items.length);
    for (const [index, item] of group.items.entries()) {
      const key = group.keys[index] ?? '';
      const position = fields.positionOf(key);
      if (position < 0 || seen.has(position)) return undefined;
      seen.add(position);
      members.put(key, item);
    }
  }
  const isMissing = (position: number): boolean =>
    !seen.has(position) && fields.all[position]?.plan.fallback() === undefined;
  return seen.size < LEAST_FIELDS || fields.shown.some(isMissing) ? undefined : members;
}
