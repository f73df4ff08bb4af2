import type { Cancellation } from '../../../base/cancellation.ts';
import { canonicalJson } from '../../../base/json.ts';
import { withoutChecks } from '../../../runtime/call/test-conditions.ts';
import type { Constraint } from '../../../schema/constraint.ts';
import type { DefinitionIndex, FunctionType } from '../../../schema/program.ts';
import { inParallel } from '../run-tests.ts';
import { masked, withConditions, type TestCaller, type TestedRun } from '../test-caller.ts';
import { conditionText, failureLines } from '../test-results.ts';
import { differencesFrom } from './compare-values.ts';
import type { DataRow } from './data-rows.ts';
import type { Judge, Judgement } from './judge.ts';

/** One way to run every row: with a client, or with another version of the definitions. */
export interface Variant {
  readonly name: string;
  readonly fn: FunctionType;
  readonly caller: TestCaller;
  /** Undefined: the function's own. */
  readonly client: string | undefined;
}

/** One row with one variant. */
export interface RowRun extends TestedRun {
  /** Why the row fails, as sentences; empty if it passes. */
  readonly reasons: readonly string[];
  /** Of the judge; absent without one, and without a value. */
  readonly score?: boolean | number;
}

export interface EvaluatedRow {
  readonly row: DataRow;
  /** By variant; undefined for a call that an interrupt cancelled. */
  readonly runs: readonly (RowRun | undefined)[];
}

/** What decides whether a row passes, besides that the function returns a value. */
export interface RowChecks {
  /** The function of the conditions, and its definitions. */
  readonly fn: FunctionType;
  readonly definitions: DefinitionIndex;
  readonly constraints: readonly Constraint[];
  readonly judge: Judge | undefined;
  /** The least similarity of strings in columns `similar`, from 0 to 1. */
  readonly similarPass: number;
}

export interface DataPlan {
  readonly rows: readonly DataRow[];
  readonly variants: readonly Variant[];
  readonly checks: RowChecks;
  readonly parallel: number;
  readonly cancellation: Cancellation;
}

/**
 * Runs every row with every variant, and returns them in the order of the rows, whatever the order in which the calls end. A failing row
 * ends nothing. `onRow` receives each row after its last call. After a cancellation, the calls that have not ended are missing.
 */
export async function evaluateRows(
  plan: DataPlan,
  onRow: (row: EvaluatedRow) => void,
): Promise<readonly EvaluatedRow[]> {
  const { rows, variants, parallel, cancellation } = plan;
  const repetitions = repetitionsOf(rows);
  const evaluated = rows.map((row) => ({
    row,
    runs: variants.map((): RowRun | undefined => undefined),
    left: variants.length,
  }));
  const tasks = evaluated.flatMap((entry, index) =>
    variants.map((variant, at) => async () => {
      entry.runs[at] = await runRow(plan, entry.row, { variant, repetition: repetitions[index] ?? 0 });
      entry.left -= 1;
      if (entry.left === 0) onRow(entry);
    }),
  );
  await inParallel(tasks, parallel, { cancellation, onEnd: () => {} });
  return evaluated.map(({ row, runs }) => ({ row, runs }));
}

/** The number of rows before each one that have the same arguments: each of them has its own recorded reply. */
function repetitionsOf(rows: readonly DataRow[]): readonly number[] {
  const counts = new Map<string, number>();
  return rows.map(({ args }) => {
    const key = canonicalJson(args);
    const before = counts.get(key) ?? 0;
    counts.set(key, before + 1);
    return before;
  });
}

interface RowCall {
  readonly variant: Variant;
  readonly repetition: number;
}

async function runRow(
  { checks }: DataPlan,
  row: DataRow,
  { variant: { fn, client, caller }, repetition }: RowCall,
): Promise<RowRun | undefined> {
  const { settings } = caller;
  const run = await caller.call({ fn, args: row.args, client, repetition });
  if (run === undefined) return undefined;
  if (run.value === undefined) return masked({ ...run, reasons: failureReasons(run) }, settings.redact);
  const tested = withConditions(run, checks.constraints, { ...checks, args: row.args }, settings);
  const { value } = withoutChecks(run.value);
  const judgement = await checks.judge?.judgement(row, value);
  if (checks.judge !== undefined && judgement === undefined) return undefined;
  const broken = tested.status === 'passed' ? [] : tested.conditions.filter(({ status }) => status === 'failed');
  const reasons = [
    ...broken.map(conditionText),
    ...differencesFrom(row.expected, value, checks.similarPass),
    ...judgementReasons(judgement),
  ];
  const failed = judgement !== undefined && 'failure' in judgement ? 'error' : 'failed';
  const status = reasons.length === 0 ? 'passed' : failed;
  const score = judgement !== undefined && 'score' in judgement ? { score: judgement.score } : {};
  return masked({ ...tested, status, reasons, ...score }, settings.redact);
}

function failureReasons({ failure }: TestedRun): readonly string[] {
  return failure === undefined ? [] : [failureLines(failure).join(' ')];
}

function judgementReasons(judgement: Judgement | undefined): readonly string[] {
  if (judgement === undefined) return [];
  if ('failure' in judgement) return [`the judge fails: ${failureLines(judgement.failure).join(' ')}`];
  return judgement.passes ? [] : [`the judge returns ${String(judgement.score)}`];
}
