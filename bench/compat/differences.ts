import { readFileSync, writeFileSync } from 'node:fs';
import { parseDocument, type Document } from 'yaml';
import type { Comparison, ComparisonKind } from './compare.ts';

/** The reason that `--update` writes for new differences; the run fails until someone has replaced it. */
const UNEXPLAINED = 'unexplained';

/** An entry of `differences.yaml`: accepted differences with one reason. */
interface Entry {
  readonly kind: ComparisonKind;
  /** A project, a call, or a pattern in which `*` matches any characters. */
  readonly at: readonly string[];
  readonly reason: string;
}

export interface Difference extends Comparison {
  /** Undefined if the file lists none. */
  readonly reason: string | undefined;
}

/** The differences among the comparisons, and the listed ones that no longer occur, as `kind place`. */
export interface Explained {
  readonly differences: readonly Difference[];
  readonly outdated: readonly string[];
}

/** Looks up the reason of each difference. `isInScope` is true for the places that this run compared. */
export function explain(
  path: string,
  comparisons: readonly Comparison[],
  isInScope: (at: string) => boolean,
): Explained {
  const entries = read(path);
  const differing = comparisons.filter((each) => !each.equal);
  const differences = differing.map((each) => ({ ...each, reason: reasonOf(each, entries) }));
  const outdated = entries.flatMap((entry) =>
    entry.at
      .filter((at) => isInScope(at) && !differing.some((each) => matches(entry.kind, at, each)))
      .map((at) => `${entry.kind} ${at}`),
  );
  return { differences, outdated };
}

/** Removes the outdated places from the file, and adds the differences without a reason. */
export function updateDifferences(path: string, { differences, outdated }: Explained): void {
  const listed = read(path)
    .filter((entry) => entry.reason !== UNEXPLAINED)
    .map((entry) => ({ ...entry, at: entry.at.filter((at) => !outdated.includes(`${entry.kind} ${at}`)) }));
  const unexplained = differences.filter((each) => each.reason === undefined);
  for (const kind of new Set(unexplained.map((each) => each.kind))) {
    const at = unexplained.filter((each) => each.kind === kind).map((each) => each.at);
    listed.push({ kind, at, reason: UNEXPLAINED });
  }
  const document: Document = parseDocument(readFileSync(path, 'utf8'));
  document.contents = document.createNode(listed.filter((entry) => entry.at.length > 0));
  writeFileSync(path, document.toString({ lineWidth: 0 }));
}

function read(path: string): readonly Entry[] {
  return (parseDocument(readFileSync(path, 'utf8')).toJS() ?? []) as readonly Entry[];
}

function reasonOf(difference: Comparison, entries: readonly Entry[]): string | undefined {
  const entry = entries.find((each) => each.at.some((at) => matches(each.kind, at, difference)));
  return entry?.reason === UNEXPLAINED ? undefined : entry?.reason;
}

function matches(kind: ComparisonKind, pattern: string, { kind: actual, at }: Comparison): boolean {
  if (kind !== actual) return false;
  const literal = pattern.split('*').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${literal.join('.*')}$`).test(at);
}
