import { countAt, isJsonObject, listAt, objectAt, stringAt } from '../../../base/json.ts';
import { TOKEN_COUNTS, type CountPlace, type ReplyFacts, type TokenCount } from '../../../schema/providers/replies.ts';

type WireObject = Readonly<Record<string, unknown>>;

export type Counts = { -readonly [Key in TokenCount]?: number };

/** The object with the counts of a reply or an event; undefined if there is none. */
export function usageIn(holder: WireObject, facts: ReplyFacts): WireObject | undefined {
  for (const path of placesOf(facts).usage) {
    const usage = path.reduce<WireObject | undefined>(objectAt, holder);
    if (usage !== undefined) return usage;
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
    for (const [name, count] of Object.entries(statedIn(part, facts)) as [TokenCount, number][])
      sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

/** A total that is the sum of prompt, reply and reasoning shows that the service leaves the reasoning out of the reply. */
function withExcludedReasoning(usage: WireObject, facts: ReplyFacts): Counts {
  const counts = statedIn(usage, facts);
  const { inputTokens: input = 0, outputTokens: output, reasoningTokens: reasoning = 0 } = counts;
  if (output !== undefined && reasoning > 0 && countAt(usage, 'total_tokens') === input + output + reasoning)
    counts.outputTokens = output + reasoning;
  return counts;
}

function statedIn(usage: WireObject, facts: ReplyFacts): Counts {
  const counts: Counts = {};
  for (const { name, places } of placesOf(facts).counts) {
    const count = countOf(usage, places);
    if (count !== undefined) counts[name] = count;
  }
  return counts;
}

/** Loops without closures: each reply asks for seven counts. */
function countOf(usage: WireObject, places: readonly Place[]): number | undefined {
  for (const { path, plus } of places) {
    let count = countAtPath(usage, path);
    for (const each of plus) {
      const added = countAtPath(usage, each);
      // A part that is there alone is the whole count.
      if (added !== undefined && (count !== undefined || plus.length === 1)) count = (count ?? 0) + added;
    }
    if (count !== undefined) return count;
  }
  return undefined;
}

function countAtPath(usage: WireObject, { keys, modality, last }: Path): number | undefined {
  let at: unknown = usage;
  for (const key of keys) at = objectAt(at, key);
  if (modality === undefined) return countAt(at, last);
  const entry = listAt(at, modality.list)?.find((each) => stringAt(each, 'modality') === modality.name);
  return countAt(entry, last);
}

// --- places, split once ------------------------------------------------------------------------------------------------

interface Path {
  readonly keys: readonly string[];
  readonly modality: { readonly list: string; readonly name: string } | undefined;
  readonly last: string;
}

interface Place {
  readonly path: Path;
  readonly plus: readonly Path[];
}

interface Places {
  readonly usage: readonly (readonly string[])[];
  readonly counts: readonly { readonly name: TokenCount; readonly places: readonly Place[] }[];
}

const split = new WeakMap<ReplyFacts, Places>();

function placesOf(facts: ReplyFacts): Places {
  const known = split.get(facts);
  if (known !== undefined) return known;
  const places = {
    usage: facts.usage.map((path) => path.split('.')),
    counts: TOKEN_COUNTS.map((name) => ({ name, places: (facts.counts[name] ?? []).map(placeOf) })),
  };
  split.set(facts, places);
  return places;
}

function placeOf({ path, plus = [] }: CountPlace): Place {
  return { path: pathOf(path), plus: plus.map(pathOf) };
}

function pathOf(text: string): Path {
  const keys = text.split('.');
  const last = keys.pop() ?? '';
  const [, list, name] = /^(\w+)\[(\w+)\]$/u.exec(keys.at(-1) ?? '') ?? [];
  const modality = list === undefined || name === undefined ? undefined : { list, name };
  return { keys: modality === undefined ? keys : keys.slice(0, -1), modality, last };
}
