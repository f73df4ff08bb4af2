import { countAt, isJsonObject, listAt, objectAt, stringAt } from '../../../base/json.ts';
import { TOKEN_COUNTS, type CountPlace, type ReplyFacts, type TokenCount } from '../../../schema/providers/replies.ts';

type WireObject = Readonly<Record<string, unknown>>;

export type Counts = { -readonly [Key in TokenCount]?: number };

/** The object with the counts of a reply or an event; undefined if there is none. */
export function usageIn(holder: WireObject, { usage }: ReplyFacts): WireObject | undefined {
  for (const path of usage) {
    let at: WireObject | undefined = holder;
    for (const key of path.split('.')) at = objectAt(at, key);
    if (at !== undefined) return at;
  }
  return undefined;
}

/** The counts in a usage object, by the places that the format documents. */
export function countsIn(usage: WireObject, facts: ReplyFacts): Counts {
  const { sumOf } = facts;
  const parts = sumOf === undefined ? [] : (listAt(usage, sumOf.key) ?? []).filter(isJsonObject);
  if (!parts.some((part) => stringAt(part, 'type') === sumOf?.type)) return withExcludedReasoning(usage, facts);
  const sum: Counts = {};
  for (const part of parts)
    for (const name of TOKEN_COUNTS) {
      const count = countOf(part, facts.counts[name]);
      if (count !== undefined) sum[name] = (sum[name] ?? 0) + count;
    }
  return sum;
}

/** A total that is the sum of prompt, reply and reasoning shows that the service leaves the reasoning out of the reply. */
function withExcludedReasoning(usage: WireObject, { counts: places }: ReplyFacts): Counts {
  const counts: Counts = {};
  for (const name of TOKEN_COUNTS) {
    const count = countOf(usage, places[name]);
    if (count !== undefined) counts[name] = count;
  }
  const { input_tokens: input = 0, output_tokens: output, reasoning_tokens: reasoning = 0 } = counts;
  const total = countAt(usage, 'total_tokens');
  if (output !== undefined && reasoning > 0 && total === input + output + reasoning)
    counts.output_tokens = output + reasoning;
  return counts;
}

function countOf(usage: WireObject, places: readonly CountPlace[] = []): number | undefined {
  for (const { path, plus = [] } of places) {
    const count = countAtPath(usage, path);
    const added = plus.flatMap((each) => countAtPath(usage, each) ?? []);
    // A part that is there alone is the whole count.
    if (count !== undefined || (added.length > 0 && plus.length === 1))
      return added.reduce((a, b) => a + b, count ?? 0);
  }
  return undefined;
}

function countAtPath(usage: WireObject, path: string): number | undefined {
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  let at: unknown = usage;
  for (const key of keys) at = memberAt(at, key);
  return countAt(at, last);
}

const ENTRY = /^(\w+)\[(\w+)\]$/u;

function memberAt(holder: unknown, key: string): unknown {
  const [, list = '', modality] = ENTRY.exec(key) ?? [];
  if (modality === undefined) return objectAt(holder, key);
  return listAt(holder, list)?.find((entry) => stringAt(entry, 'modality') === modality);
}
