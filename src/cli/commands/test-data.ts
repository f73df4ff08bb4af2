import { writeFileSync } from 'node:fs';
import { counted } from '../../base/amounts.ts';
import { Cancellation } from '../../base/cancellation.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { matchesWildcard } from '../../base/wildcard.ts';
import type { Config } from '../../config/config.ts';
import { signatureOf } from '../../dev/batch/input-rows.ts';
import { BatchProgress } from '../../dev/batch/run-batch.ts';
import { comparisonOf, passes, percent, summaryOf, type DataReport } from '../../dev/testing/data/data-report.ts';
import { readDataRows, type DataRow } from '../../dev/testing/data/data-rows.ts';
import { evaluateRows, type EvaluatedRow, type Variant } from '../../dev/testing/data/evaluate-rows.ts';
import { createJudge, type Judge } from '../../dev/testing/data/judge.ts';
import { csvDataReport, jsonDataReport, junitDataReport } from '../../dev/testing/data/report-files.ts';
import { htmlDataReport } from '../../dev/testing/data/report-html.ts';
import { prettyDataReport } from '../../dev/testing/data/report-pretty.ts';
import type { SelectedTest } from '../../dev/testing/select-tests.ts';
import { TestCaller, type CallerParts } from '../../dev/testing/test-caller.ts';
import {
  indexDefinitions,
  type DefinitionIndex,
  type FunctionType,
  type Program,
  type TestType,
} from '../../schema/program.ts';
import type { TestOptions } from '../command-options.ts';
import { compileToRun } from '../compile-definitions.ts';
import { callRows, CALLS_SOURCE } from './calls.ts';
import { StatusLine } from '../status-line.ts';
import { INTERRUPTED, refuse, thereIsNo, type ExitCode, type Interrupts, type Terminal } from '../terminal.ts';

interface DataInvocation {
  readonly program: Program;
  readonly config: Config;
  readonly options: TestOptions & { readonly data: string };
  /** The tests whose conditions apply to the rows of their function. */
  readonly selected: readonly SelectedTest[];
  readonly terminal: Terminal;
  readonly interrupts: Interrupts;
  /** Creates the settings of calls. `folder`: the part of the recordings for these calls; empty for the other calls. */
  readonly parts: (programs: readonly Program[], cancellation: Cancellation, folder: string) => CallerParts;
}

/** Everything that is known before the first call. */
interface ReadyData {
  readonly fn: FunctionType;
  readonly rows: readonly DataRow[];
  /** The first one is the baseline. */
  readonly variants: readonly Variant[];
  readonly judge: Judge | undefined;
  readonly tests: readonly TestType[];
}

interface Variants {
  readonly all: ReadyData['variants'];
  /** Calls the functions of the current definitions. */
  readonly current: TestCaller;
}

/**
 * `svc test --data`: runs a function on every row of a file. Returns 0 if enough rows pass, 1 if not, 2 if none could run, and 130 after
 * an interrupt.
 */
export async function testData(invocation: DataInvocation): Promise<ExitCode> {
  const command = new DataCommand(invocation);
  try {
    const ready = await command.prepare();
    return ready.ok ? await command.run(ready.value) : refuse(invocation.terminal, ready.failure);
  } finally {
    await command.close();
  }
}

class DataCommand {
  readonly #invocation: DataInvocation;
  readonly #definitions: DefinitionIndex;
  readonly #cancellation = new Cancellation();
  readonly #callers: TestCaller[] = [];

  constructor(invocation: DataInvocation) {
    this.#invocation = invocation;
    this.#definitions = indexDefinitions(invocation.program);
    void invocation.interrupts.next().then(() => this.#cancellation.cancel('interrupted'));
  }

  async close(): Promise<void> {
    await Promise.all(this.#callers.map((caller) => caller.close()));
  }

  /** Fails with sentences. */
  async prepare(): Promise<Result<ReadyData, string>> {
    const fn = this.#function();
    if (!fn.ok) return fn;
    const variants = this.#variants(fn.value);
    if (!variants.ok) return variants;
    const { all, current } = variants.value;
    const rows = await this.#rows(fn.value, all);
    if (!rows.ok) return err(`--data: ${rows.failure}`);
    const judge = this.#judge(fn.value, rows.value, current);
    if (!judge.ok) return err(`--judge: ${judge.failure}`);
    const { selected } = this.#invocation;
    const tests = selected.flatMap(({ test, functionName }) => (functionName === fn.value.name ? [test] : []));
    return ok({ fn: fn.value, rows: rows.value, variants: all, judge: judge.value, tests });
  }

  /** The one function that `--function`, the selected tests and `--judge` leave. */
  #function(): Result<FunctionType, string> {
    const { program, options, selected } = this.#invocation;
    const { function: patterns = ['*'], judge } = options;
    const names = program.functions.map(({ name }) => name);
    const unknown = patterns.find((pattern) => !names.some((name) => matchesWildcard(pattern, name)));
    if (unknown !== undefined) return err(`--function: ${thereIsNo('function', unknown, names)}`);
    const candidates = program.functions.filter(
      ({ name }) =>
        name !== judge &&
        patterns.some((pattern) => matchesWildcard(pattern, name)) &&
        (selected.length === 0 || selected.some(({ functionName }) => functionName === name)),
    );
    const [only, second] = candidates;
    if (only !== undefined && second === undefined) return ok(only);
    if (only === undefined) return err('--data: the options leave no function to run');
    const listed = candidates.map(({ name }) => name).join(', ');
    return err(`--data runs one function, but there are ${candidates.length}: ${listed}. Add --function`);
  }

  #variants(fn: FunctionType): Result<Variants, string> {
    const { program, config, options, terminal } = this.#invocation;
    const { against, client = [] } = options;
    const clients = [...new Set(client)];
    if (against === undefined) {
      const caller = this.#caller([program], '');
      const all = clients.map((name) => ({ name, fn, caller, client: name }));
      return ok({ all: all.length === 0 ? [{ name: '', fn, caller, client: undefined }] : all, current: caller });
    }
    const [only, second] = clients;
    if (second !== undefined) return err('--against compares two versions with one client: pass only one --client');
    const compiled = compileToRun({ ...config, from: against }, terminal, 'no test ran');
    if (!compiled.ok) return err(`--against: ${compiled.failure}`);
    const other = compiled.value.program;
    const before = other.functions.find(({ name }) => name === fn.name);
    if (before === undefined) return err(`--against: "${against}" has no function "${fn.name}"`);
    const current = this.#caller([program, other], '');
    const baseline = this.#caller([other, program], 'against');
    const all = [
      { name: against, fn: before, caller: baseline, client: only },
      { name: 'current', fn, caller: current, client: only },
    ];
    return ok({ all, current });
  }

  /** Creates the caller of the first program. Reports mask the credentials of all. */
  #caller(programs: readonly [Program, ...Program[]], folder: string): TestCaller {
    const caller = new TestCaller(programs[0], this.#invocation.parts(programs, this.#cancellation, folder));
    this.#callers.push(caller);
    return caller;
  }

  async #rows(fn: FunctionType, variants: readonly Variant[]): Promise<Result<readonly DataRow[], string>> {
    const { program, config, options } = this.#invocation;
    const copy = options.copy ?? [];
    if (options.data.startsWith(CALLS_SOURCE))
      return callRows(config, { functionName: fn.name, source: options.data, copy });
    const signature = signatureOf(program.openapi, fn.name);
    if (signature === undefined) return err(thereIsNo('function', fn.name, []));
    const callers = new Map(variants.map((variant) => [variant.caller, variant.fn]));
    return readDataRows({
      path: options.data,
      fn,
      definitions: this.#definitions,
      signature,
      copy,
      refusal: (args) => {
        const refusals = [...callers].map(([caller, called]) => caller.refusal({ fn: called, args }));
        return refusals.find((refusal) => refusal !== undefined);
      },
    });
  }

  #judge(judged: FunctionType, rows: readonly DataRow[], caller: TestCaller): Result<Judge | undefined, string> {
    const { judge, judgePass } = this.#invocation.options;
    if (judge === undefined) return ok(undefined);
    const fn = this.#definitions.functions.get(judge);
    if (fn === undefined) return err(thereIsNo('function', judge, [...this.#definitions.functions.keys()]));
    return createJudge({ fn, definitions: this.#definitions, judged, pass: judgePass, caller }, rows);
  }

  async run(ready: ReadyData): Promise<ExitCode> {
    const { options, terminal } = this.#invocation;
    const { fn, rows, variants, judge, tests } = ready;
    const progress = new BatchProgress({ rows: rows.length, before: 0, failed: 0 }, performance.now());
    const status = new StatusLine(terminal);
    status.start(() => progress.line(performance.now()));
    const constraints = tests.flatMap((test) => test.constraints);
    const checks = { fn, definitions: this.#definitions, constraints, judge, similarPass: options.similarPass };
    const plan = { rows, variants, checks, parallel: options.parallel, cancellation: this.#cancellation };
    const evaluated = await evaluateRows(plan, (row) => progress.add(progressOf(row)));
    status.stop();
    const report = this.#report(ready, evaluated, await judge?.cost());
    this.#write(report);
    if (report.interrupted) return INTERRUPTED;
    // The other version of the definitions only shows what has changed.
    const deciding = options.against === undefined ? report.variants : report.variants.slice(-1);
    const least = Math.ceil(rows.length * options.passRate - 1e-9);
    return deciding.every(({ passed }) => passed >= least) ? 0 : 1;
  }

  #report(
    { fn, rows, variants, tests }: ReadyData,
    evaluated: readonly EvaluatedRow[],
    judgeCost: number | undefined,
  ): DataReport {
    const { data, passRate } = this.#invocation.options;
    return {
      functionName: fn.name,
      source: data,
      checks: this.#checks(rows, tests),
      passRate,
      rows: evaluated,
      variants: variants.map(({ name }, at) => summaryOf(name, at, evaluated)),
      comparisons: variants.slice(1).map((_, at) => comparisonOf(0, at + 1, evaluated)),
      ...(judgeCost !== undefined && { judgeCost }),
      interrupted: this.#cancellation.cancelled,
    };
  }

  #checks(rows: readonly DataRow[], tests: readonly TestType[]): readonly string[] {
    const { judge, judgePass, similarPass } = this.#invocation.options;
    const expecting = rows.filter(({ expected }) => expected.length > 0).length;
    const similar = rows.some(({ expected }) => expected.some((each) => each.similar));
    const conditions = tests.map(({ name, constraints }) => `${counted(constraints.length, 'condition')} of ${name}`);
    return [
      ...(expecting === 0 ? [] : [`expected values of ${counted(expecting, 'row')}`]),
      ...(similar ? [`strings similar from ${percent(similarPass)}`] : []),
      ...conditions,
      ...(judge === undefined ? [] : [`${judge} is true or at least ${judgePass}`]),
    ];
  }

  /** Writes the report to the file, if there is one, or to the terminal. */
  #write(report: DataReport): void {
    const { options, terminal } = this.#invocation;
    const { format, out, copy = [] } = options;
    const text = {
      pretty: () => prettyDataReport(report, out === undefined && terminal.out.colour),
      json: () => jsonDataReport(report),
      junit: () => junitDataReport(report),
      csv: () => csvDataReport(report, copy),
      html: () => htmlDataReport(report),
    }[format];
    if (out === undefined) {
      terminal.out.write(text());
      return;
    }
    writeFileSync(out, text());
    terminal.out.write(prettyDataReport(report, terminal.out.colour));
  }
}

function progressOf({ runs }: EvaluatedRow): Parameters<BatchProgress['add']>[0] {
  const failed = runs.some((run) => run !== undefined && !passes(run));
  const costs = runs.flatMap((run) => run?.cost ?? []);
  return {
    ...(failed && { failure: { code: 'row', message: '' } }),
    cost: costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0),
  };
}
