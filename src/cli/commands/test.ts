import { appendFileSync, existsSync, mkdirSync, writeFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { Cancellation } from '../../base/cancellation.ts';
import { writeFault } from '../../base/write-file.ts';
import { err, ok, type Result } from '../../base/result.ts';
import { compileForTest } from '../../compiler/compile.ts';
import type { Config } from '../../config/config.ts';
import { SpanLocator } from '../../diagnostics/report-formats.ts';
import { Recordings } from '../../dev/testing/recordings.ts';
import { jsonReport } from '../../dev/testing/report-json.ts';
import { junitReport } from '../../dev/testing/report-junit.ts';
import { prettyTestReport, resultLine, type PrettyStyle } from '../../dev/testing/report-pretty.ts';
import { runTests } from '../../dev/testing/run-tests.ts';
import { selectsAll, selectTests, type SelectedTest, type TestSelection } from '../../dev/testing/select-tests.ts';
import type { CallerParts } from '../../dev/testing/test-caller.ts';
import { fullName, type TestReport } from '../../dev/testing/test-results.ts';
import { DefinitionWatcher } from '../../dev/watch-definitions.ts';
import { Redactor } from '../../logging/redactor.ts';
import type { Program, TestType } from '../../schema/program.ts';
import { compileOptions, compileToRun, type Compiled } from '../compile-definitions.ts';
import { testSecrets } from '../definition-secrets.ts';
import {
  INTERRUPTED,
  type Interrupts,
  refuse,
  thereIsNo,
  withInterrupts,
  type ExitCode,
  type Terminal,
} from '../terminal.ts';
import type { Invocation } from '../invocation.ts';
import type { TestOptions } from '../command-options.ts';
import { testData } from './test-data.ts';
import { missingPath } from '../../compiler/read-sources.ts';
import { DEFAULT_DIRECTORIES } from '../../config/settings.ts';

/**
 * `svc test`: runs the `test` blocks of the definitions. Returns 0 if all pass, 1 if one fails, 2 if none could run, and 130
 * after an interrupt.
 */
export async function testCommand({ config, flags, options, paths, terminal }: Invocation): Promise<ExitCode> {
  const located = locateTests(paths, config.from, flags.from !== undefined);
  if (!located.ok) return refuse(terminal, located.failure);
  const { from } = located.value;
  const own = { ...config, ...(from !== undefined && { from }) };
  const command = new TestCommand(own, options as unknown as TestOptions, { paths: located.value.paths, terminal });
  return withInterrupts((interrupts) => command.run(interrupts));
}

interface CommandParts {
  readonly paths: readonly string[];
  readonly terminal: Terminal;
}

class TestCommand {
  readonly #config: Config;
  readonly #options: TestOptions;
  readonly #selection: TestSelection;
  readonly #parts: CommandParts;
  /** The media files that the tests of the last run named. */
  #files = new Set<string>();

  constructor(config: Config, options: TestOptions, parts: CommandParts) {
    this.#config = config;
    this.#options = options;
    this.#parts = parts;
    const { function: functions = [], name: names = [], include = [], exclude = [] } = options;
    this.#selection = { functions, names, include, exclude, paths: parts.paths };
  }

  async run(interrupts: Interrupts): Promise<ExitCode> {
    const { out, record, replay } = this.#options;
    const { terminal } = this.#parts;
    const usage = needsData(this.#options);
    if (usage !== undefined) return refuse(terminal, usage);
    if (replay !== undefined && !existsSync(replay)) return refuse(terminal, `--replay: "${replay}" does not exist`);
    const fault =
      unwritable('--record', record, (directory) => mkdirSync(directory, { recursive: true })) ??
      unwritable('--out', this.#options.list === true ? undefined : out, (file) => appendFileSync(file, ''));
    if (fault !== undefined) return refuse(terminal, fault);
    return this.#options.watch === true ? this.#watch(interrupts) : this.#runOnce(interrupts);
  }

  /** Runs the tests whenever a file changes, until an interrupt. Returns the code of the last run. */
  async #watch(interrupts: Interrupts): Promise<ExitCode> {
    for (;;) {
      const { dotenv, dotenvPath, from = '.' } = this.#config;
      const files = [...this.#files, ...(dotenv ? [dotenvPath ?? '.env'] : [])];
      const watcher = new DefinitionWatcher({ from, files });
      try {
        const code = await this.#runOnce(interrupts);
        if (interrupts.count > 0) return code;
        this.#parts.terminal.error.write(`\nWatching ${JSON.stringify(from)}: press Ctrl+C to stop.\n`);
        const changed = new Promise<'changed'>((settle) => watcher.onChange(() => settle('changed')));
        if ((await Promise.race([changed, interrupts.next()])) !== 'changed') return code;
      } finally {
        watcher.close();
      }
    }
  }

  async #runOnce(interrupts: Interrupts): Promise<ExitCode> {
    const { terminal } = this.#parts;
    const compiled = compileToRun(this.#config, terminal, 'no test ran', this.#options.client);
    if (!compiled.ok) return refuse(terminal, compiled.failure);
    const { program, tests } = compiled.value;
    const selected = selectTests(tests, this.#selection);
    if (this.#options.list === true) return this.#list(selected, compiled.value);
    const unknown = this.#options.client?.find((name) => !name.includes('/') && !hasClient(program, name));
    if (unknown !== undefined) {
      const names = program.clients.map(({ name }) => name);
      return refuse(terminal, `--client: ${thereIsNo('client', unknown, names)}`);
    }
    const { data } = this.#options;
    if (data !== undefined) return this.#testData(compiled.value, data, interrupts);
    if (selected.length === 0 && this.#options.passIfNoTests !== true) return refuse(terminal, noTests(tests));
    const report = await this.#report(compiled.value, selected, interrupts);
    if (report.interrupted) return INTERRUPTED;
    return report.results.some(({ status }) => status === 'failed') ? 1 : 0;
  }

  /** Applies the conditions of tests to rows only if an option names these tests: those of a test are often about its own arguments. */
  async #testData({ program, tests }: CompiledTests, data: string, interrupts: Interrupts): Promise<ExitCode> {
    const { terminal } = this.#parts;
    const { names, include } = this.#selection;
    const isSelected = names.length + include.length > 0;
    const selected = isSelected ? selectTests(tests, this.#selection) : [];
    if (isSelected && selected.length === 0) return refuse(terminal, noTests(tests));
    const unusable = selected.find(({ test }) => test.buildsTypes || test.unreadable !== undefined)?.test;
    if (unusable !== undefined) {
      const why = unusable.buildsTypes
        ? 'has a type_builder'
        : `has a part that svc cannot read, ${unusable.unreadable}`;
      return refuse(terminal, `--data: the conditions of "${unusable.name}" cannot apply to rows, because it ${why}`);
    }
    return testData({
      program,
      config: this.#config,
      options: { ...this.#options, data },
      selected,
      terminal,
      interrupts,
      parts: (programs, cancellation, folder) => this.#callerParts({ programs, tests, cancellation, folder }),
    });
  }

  #list(selected: readonly SelectedTest[], { files }: Compiled): ExitCode {
    const locator = new SpanLocator(files);
    for (const each of selected) {
      const { file } = each.test.span;
      const { line } = locator.range(each.test.span).start;
      this.#parts.terminal.out.write(`${fullName(each)}  ${file}:${line}\n`);
    }
    return 0;
  }

  async #report(
    compiled: CompiledTests,
    selected: readonly SelectedTest[],
    interrupts: Interrupts,
  ): Promise<TestReport> {
    const { program, tests, files } = compiled;
    const { format, out, repeat, client = [] } = this.#options;
    const { terminal } = this.#parts;
    const style: PrettyStyle = {
      colour: terminal.out.colour,
      locator: new SpanLocator(files),
      repeat,
      clients: Math.max(1, new Set(client).size),
      coverage: selectsAll(this.#selection),
    };
    const isPretty = format === 'pretty' || out !== undefined;
    const cancellation = new Cancellation();
    void interrupts.next().then(() => cancellation.cancel('interrupted'));
    const startedAt = performance.now();
    const results = await runTests(this.#plan(compiled, selected, cancellation), (result) => {
      if (isPretty) terminal.out.write(resultLine(result, style));
    });
    const tested = new Set(tests.flatMap((test) => test.functions));
    const report: TestReport = {
      results,
      durationMs: performance.now() - startedAt,
      interrupted: cancellation.cancelled,
      untested: program.functions.flatMap(({ name }) => (tested.has(name) ? [] : [name])).toSorted(),
      functions: program.functions.length,
    };
    if (isPretty) terminal.out.write(prettyTestReport(report, style));
    this.#write(report, style);
    return report;
  }

  /** Writes the report to the file, if there is one, or to the terminal. */
  #write(report: TestReport, style: PrettyStyle): void {
    const { format, out } = this.#options;
    const text = {
      pretty: () => prettyTestReport(report, { ...style, colour: false }),
      json: () => jsonReport(report, style.locator),
      junit: () => junitReport(report, style.locator, style.clients),
    }[format as 'pretty' | 'json' | 'junit'];
    if (out !== undefined) writeFileSync(out, text());
    else if (format !== 'pretty') this.#parts.terminal.out.write(text());
  }

  #plan(
    { program, tests, files }: CompiledTests,
    selected: readonly SelectedTest[],
    cancellation: Cancellation,
  ): Parameters<typeof runTests>[0] {
    const { client, repeat, passRate, parallel } = this.#options;
    const options = compileOptions(this.#config);
    return {
      program,
      tests: selected,
      clients: [...new Set(client)],
      repeat,
      passRate,
      parallel,
      extended: (test) => programOf(compileForTest(files, options, test)),
      ...this.#callerParts({ programs: [program], tests, cancellation, folder: '' }),
    };
  }

  #callerParts({ programs, tests, cancellation, folder }: CallerSources): CallerParts {
    const { allowFailedChecks = false, record, replay, data } = this.#options;
    const { env, onLoss, priceList, requestTimeoutMs } = this.#config;
    const redactor = new Redactor(programs.flatMap((program) => testSecrets(this.#config, program, tests)));
    const redact = (text: string): string => redactor.redactValues(text);
    const mode = replay === undefined ? 'record' : 'replay';
    const directory = replay ?? record;
    this.#files = new Set(data === undefined ? [] : [data]);
    return {
      ...(directory !== undefined && { recordings: { mode, files: new Recordings(join(directory, folder), redact) } }),
      settings: {
        env,
        timeoutMs: requestTimeoutMs,
        onLoss,
        prices: priceList,
        allowFailedChecks,
        redact,
        onFile: (path) => this.#files.add(path),
      },
      cancellation,
    };
  }
}

/** The programs that a caller can quote, and the folder of its recordings. */
interface CallerSources {
  readonly programs: readonly Program[];
  readonly tests: readonly TestType[];
  readonly cancellation: Cancellation;
  readonly folder: string;
}

interface CompiledTests extends Compiled {
  readonly program: Program;
}

function programOf({ program, diagnostics }: ReturnType<typeof compileForTest>): Result<Program, string> {
  if (program !== undefined) return ok(program);
  const errors = diagnostics.filter(({ severity }) => severity === 'error').map(({ message }) => message);
  return err(`The type_builder of the test has errors. ${errors.join(' ')}`.replace(/\.$/u, ''));
}

/** Returns a sentence if an option has no effect without `--data`. */
function needsData({ data, copy, against, judge, format }: TestOptions): string | undefined {
  if (data !== undefined) return undefined;
  if (copy !== undefined) return '--copy needs --data';
  if (against !== undefined) return '--against needs --data';
  if (judge !== undefined) return '--judge needs --data';
  return format === 'csv' || format === 'html' ? `--format ${format} needs --data` : undefined;
}

function hasClient(program: Program, name: string): boolean {
  return program.clients.some((client) => client.name === name);
}

function noTests(tests: readonly TestType[]): string {
  if (tests.length === 0) return 'found no tests: the definitions contain no test block';
  return `found no tests: none of the ${tests.length} in the definitions is selected. "svc test --list" lists them`;
}

/** Returns a sentence if the path of an option cannot be prepared for writing. */
function unwritable(option: string, path: string | undefined, prepare: (path: string) => void): string | undefined {
  if (path === undefined) return undefined;
  try {
    prepare(path);
    return undefined;
  } catch (error) {
    return `${option}: "${path}" cannot be written: ${writeFault(error)}`;
  }
}

/** The definitions to compile, and the part of them whose tests run. */
export interface TestPlaces {
  /** Absent if nothing names a directory. */
  readonly from?: string;
  /** Files and directories inside `from`; empty for all of it. */
  readonly paths: readonly string[];
}

const DIRECTORY_NAMES: ReadonlySet<string> = new Set(DEFAULT_DIRECTORIES.map((directory) => basename(directory)));

/**
 * Finds the definitions for the arguments of `svc test`. A test needs all definitions, not only those of its file: paths inside
 * `from`, or inside a directory with the usual name, select tests in it. Otherwise, one path is the definitions themselves.
 * `explicit`: the user named `from`. Returns an error message if it finds none.
 */
export function locateTests(
  paths: readonly string[],
  from: string | undefined,
  explicit: boolean,
): Result<TestPlaces, string> {
  const missing = paths.find((path) => !existsSync(path));
  if (missing !== undefined) {
    const fault = missingPath(missing);
    return err(fault.includes('Did you mean') ? fault : fault + nameHint(missing));
  }
  if (paths.length === 0) return ok({ paths: [], ...(from !== undefined && { from }) });
  for (const root of [from, usualDirectory(paths[0] ?? '')]) {
    if (root === undefined || !isDirectory(root) || !paths.every((path) => contains(root, path))) continue;
    return ok({ from: root, paths: paths.some((path) => resolve(path) === resolve(root)) ? [] : paths });
  }
  const [only, ...others] = paths;
  if (explicit && from !== undefined) {
    return err(`${paths.map((path) => JSON.stringify(path)).join(' and ')}: not inside the definitions "${from}"`);
  }
  if (only !== undefined && others.length === 0) return ok({ from: only, paths: [] });
  return err('the paths are not inside one directory of definitions: pass that directory to --from');
}

/** An argument can be the name of a function or test, as for other test runners. */
function nameHint(argument: string): string {
  return /^[\w*:]+$/u.test(argument) ? `. To select tests by name, run "svc test -i ${argument}"` : '';
}

/** The nearest directory with the name of a definition directory that contains the path, or is the path. */
function usualDirectory(path: string): string | undefined {
  for (let at = resolve(path); at !== dirname(at); at = dirname(at)) {
    if (DIRECTORY_NAMES.has(basename(at)) && isDirectory(at)) return relative(process.cwd(), at) || '.';
  }
  return undefined;
}

function contains(root: string, path: string): boolean {
  const [outer, inner] = [resolve(root), resolve(path)];
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : outer + sep);
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
