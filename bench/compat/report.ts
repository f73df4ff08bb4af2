import { table, writeResults } from '../report.ts';
import type { Comparison, ComparisonKind } from './compare.ts';
import type { Difference, Explained } from './differences.ts';
import { FRESH, VERDICTS, type Project } from './projects.ts';

/** Characters of a value in the output. */
const SHOWN_LENGTH = 400;
const KINDS: readonly ComparisonKind[] = ['verdict', 'prompt', 'answer', 'stream'];
const COUNTS = ['compared', 'equal', 'differ with a reason', 'differ without'];

/** Prints every difference without a reason, and the numbers by group and by kind. */
export function printReport(
  projects: readonly Project[],
  comparisons: readonly Comparison[],
  explained: Explained,
): void {
  const { differences, outdated } = explained;
  for (const each of differences.filter(({ reason }) => reason === undefined))
    console.log(`DIFFERS ${each.kind} ${each.at}\n  svc:  ${shorten(each.svc)}\n  BAML: ${shorten(each.baml)}`);
  for (const { kind, at } of outdated) console.log(`NO LONGER DIFFERS ${kind} ${at}`);
  const groups = new Set(projects.map(({ name }) => groupOf(name)));
  const rows = [...groups].map((group) => [
    group,
    ...sizes(projects.filter(({ name }) => groupOf(name) === group)),
    ...counts(comparisons, differences, ({ at }) => groupOf(at) === group),
  ]);
  const all = ['all', ...sizes(projects), ...counts(comparisons, differences, () => true)];
  console.log(`\n${table([['', 'projects', 'functions', 'calls', ...COUNTS], ...rows, all])}\n`);
  const kinds = KINDS.map((kind) => [kind, ...counts(comparisons, differences, (each) => each.kind === kind)]);
  console.log(table([['', ...COUNTS], ...kinds]));
}

/** The groups that the harness makes have their name as the first part of a project's name. */
function groupOf(at: string): string {
  const [first = ''] = at.split('/');
  return first === FRESH || first === VERDICTS ? first : 'projects';
}

function sizes(projects: readonly Project[]): readonly string[] {
  const calls = projects.flatMap((project) => project.calls);
  const functions = new Set(projects.flatMap(({ name, calls: own }) => own.map((call) => `${name}/${call.function}`)));
  return [projects.length, functions.size, calls.length].map(String);
}

function counts(
  comparisons: readonly Comparison[],
  differences: readonly Difference[],
  isCounted: (each: Comparison) => boolean,
): readonly string[] {
  const compared = comparisons.filter(isCounted).length;
  const differing = differences.filter(isCounted);
  const explained = differing.filter(({ reason }) => reason !== undefined).length;
  return [compared, compared - differing.length, explained, differing.length - explained].map(String);
}

function shorten(text: string): string {
  return text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text;
}

/** Writes the counts and all differences to `bench/results`. */
export function saveReport(comparisons: readonly Comparison[], { differences, outdated }: Explained): void {
  const count = (kind: ComparisonKind): object => ({
    compared: comparisons.filter((each) => each.kind === kind).length,
    differ: differences.filter((each) => each.kind === kind).length,
  });
  const data = {
    counts: Object.fromEntries(KINDS.map((kind) => [kind, count(kind)])),
    differences: differences.map(({ kind, at, reason, svc, baml }) => ({
      kind,
      at,
      reason,
      svc: shorten(svc),
      baml: shorten(baml),
    })),
    outdated,
  };
  console.log(`\nwritten to ${writeResults(data, 'compat')}`);
}
