import { existsSync, readFileSync } from 'node:fs';
import { number, resultsPath, table, writeResults } from '../report.ts';
import type { Findings } from './fuzz.ts';

export function findingsTable(all: readonly Findings[]): string {
  const head = ['target', 'inputs', 'inputs/s', 'coverage', 'of it new', 'corpus', 'failures', 'seed'];
  const rows = all.map((found) => [
    found.target,
    number(found.inputs),
    number(found.inputs / Math.max(1, found.seconds)),
    number(found.coverage),
    number(found.found),
    number(found.corpus),
    number(found.failures.length),
    found.seed,
  ]);
  return table([head, ...rows]);
}

/** Each broken invariant with the smallest input that breaks it, then other counts. */
export function showFailures({ target, seed, failures, counts }: Findings): string {
  const shown = failures.map(
    ({ rule, times, detail, input }) =>
      `${target}: ${rule} (${times} times, --seed ${seed})\n  input: ${JSON.stringify(input)}\n  ${detail.slice(0, 1_500)}`,
  );
  return [...shown, ...Object.entries(counts).map(([name, count]) => `${target}: ${name}: ${count}`)].join('\n');
}

/** Replaces the row of the target in the results of today. */
export function writeFindings(found: Findings): string {
  const path = resultsPath('fuzz');
  const known = existsSync(path)
    ? (JSON.parse(readFileSync(path, 'utf8')) as { targets: readonly Findings[] })
    : { targets: [] };
  const others = known.targets.filter(({ target }) => target !== found.target);
  return writeResults({ targets: [...others, found].toSorted((a, b) => (a.target < b.target ? -1 : 1)) }, 'fuzz');
}
