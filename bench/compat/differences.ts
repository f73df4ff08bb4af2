import { readFileSync, writeFileSync } from 'node:fs';
import { parseDocument, type Document } from 'yaml';
import type { Comparison, ComparisonKind } from './compare.ts';

/** The reason that `--update` writes for new differences; the run fails until someone replaces it. */
const UNEXPLAINED = 'unexplained';

/** An entry of `differences.yaml`: accepted differences with one reason. Each kind differs at each place. */
interface Entry {
  readonly kinds: readonly ComparisonKind[];
  /** Projects, calls, or patterns in which `*` matches any characters. */
  readonly at: readonly string[];
  readonly reason: string;
}

/** One kind at one place of an entry. */
interface Listed {
  readonly kind: ComparisonKind;
  readonly at: string;
  readonly reason: string;
}

export interface Difference extends Comparison {
  /** Undefined if the file lists none. */
  readonly reason: string | undefined;
}

export interface Explained {
  readonly differences: readonly Difference[];
  /** Listed differences that no longer occur. */
  readonly outdated: readonly Listed[];
}

/** Looks up the reason of each difference. `isInScope` is true for the places that this run compared. */
export function explain(
  path: string,
  comparisons: readonly Comparison[],
  isInScope: (at: string) => boolean,
): Explained {
  const listed = read(path);
  const differing = comparisons.filter((each) => !each.equal);
  return {
    differences: differing.map((each) => ({ ...each, reason: reasonOf(each, listed) })),
    outdated: listed.filter((one) => isInScope(one.at) && !differing.some((each) => matches(one, each))),
  };
}

/** Removes the outdated differences from the file, and adds those without a reason. */
export function updateDifferences(path: string, { differences, outdated }: Explained): void {
  const isOutdated = ({ kind, at }: Listed): boolean => outdated.some((one) => one.kind === kind && one.at === at);
  const kept = read(path).filter((one) => one.reason !== UNEXPLAINED && !isOutdated(one));
  const added = differences.filter((each) => each.reason === undefined);
  const listed = [...kept, ...added.map(({ kind, at }) => ({ kind, at, reason: UNEXPLAINED }))];
  const document: Document = parseDocument(readFileSync(path, 'utf8'));
  document.contents = document.createNode(entriesOf(listed));
  writeFileSync(path, document.toString({ lineWidth: 0 }));
}

function read(path: string): readonly Listed[] {
  const entries = (parseDocument(readFileSync(path, 'utf8')).toJS() ?? []) as readonly Entry[];
  return entries.flatMap(({ kinds, at, reason }) =>
    at.flatMap((place) => kinds.map((kind) => ({ kind, at: place, reason }))),
  );
}

/** Joins the places at which the same kinds differ for the same reason. */
function entriesOf(listed: readonly Listed[]): readonly Entry[] {
  const places = groupBy(listed, ({ at, reason }) => JSON.stringify([at, reason])).map(([first, ...more]) => ({
    ...first,
    kinds: [first, ...more].map(({ kind }) => kind),
  }));
  return groupBy(places, ({ kinds, reason }) => JSON.stringify([kinds, reason])).map((group) => ({
    kinds: group[0].kinds,
    at: group.map(({ at }) => at),
    reason: group[0].reason,
  }));
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): readonly (readonly [T, ...T[]])[] {
  const groups = new Map<string, [T, ...T[]]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return [...groups.values()];
}

function reasonOf(difference: Comparison, listed: readonly Listed[]): string | undefined {
  const reason = listed.find((one) => matches(one, difference))?.reason;
  return reason === UNEXPLAINED ? undefined : reason;
}

function matches({ kind, at }: Listed, difference: Comparison): boolean {
  if (kind !== difference.kind) return false;
  const literal = at.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${literal.join('.*')}$`).test(difference.at);
}
