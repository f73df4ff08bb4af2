import { resolve } from 'node:path';
import { openSync, closeSync, statSync } from 'node:fs';
import { err, ok, type Result } from '../../base/result.ts';
import { createTypeSource } from '../../compiler/compile-types.ts';
import { readFault } from '../../config/environment.ts';
import {
  csvAnswers,
  JSON_ANSWERS,
  type AnswerFormat,
  AnswersFile,
  claimAnswers,
  lockAnswers,
} from '../../dev/batch/answers-file.ts';
import { writeFault } from '../../base/write-file.ts';
import { createInProcessCaller, type RowCaller, BatchProgress, BatchRun } from '../../dev/batch/run-batch.ts';
import { describeServer, ServerCaller, ServerClient } from '../../dev/batch/call-server.ts';
import {
  delimiterOf,
  type InputFacts,
  inputRows,
  type InputRows,
  scanInput,
  functionsIn,
  signatureOf,
  type Signature,
} from '../../dev/batch/input-rows.ts';
import type { Program } from '../../schema/program.ts';
import { Redactor } from '../../logging/redactor.ts';
import type { BatchOptions } from '../command-options.ts';
import { compileToRun } from '../compile-definitions.ts';
import { testSecrets } from '../definition-secrets.ts';
import { StatusLine } from '../status-line.ts';
import {
  INTERRUPTED,
  type Interrupts,
  refuse,
  reportProblem,
  thereIsNo,
  withInterrupts,
  type ExitCode,
} from '../terminal.ts';
import type { Invocation } from '../invocation.ts';

/** A server that answers later has lost the call: it ends a call after its own `--request-timeout`. */
const SERVER_MARGIN_MS = 30_000;

/**
 * `svc batch`: runs a function on every row of a file. Returns 0 if all rows have a value, 1 if some failed or the batch had to
 * stop, 2 if it could not begin, and 130 after an interrupt.
 */
export async function batchCommand(invocation: Invocation): Promise<ExitCode> {
  const [functionName = ''] = invocation.paths;
  return withInterrupts((interrupts) => new BatchCommand(invocation, functionName, interrupts).run());
}

/** The function to ask, in this process or on a server. */
interface Target extends Pick<Program, 'openapi' | 'hash'> {
  /** `run`: the beginning of idempotency keys. */
  readonly caller: (run: string) => RowCaller;
}

interface BatchFiles {
  readonly input: InputRows;
  readonly facts: InputFacts;
  readonly answers: AnswersFile;
  readonly run: string;
}

class BatchCommand {
  readonly #invocation: Invocation;
  readonly #options: BatchOptions;
  readonly #functionName: string;
  readonly #interrupts: Interrupts;
  readonly #status: StatusLine;

  constructor(invocation: Invocation, functionName: string, interrupts: Interrupts) {
    this.#invocation = invocation;
    this.#options = invocation.options as unknown as BatchOptions;
    this.#functionName = functionName;
    this.#interrupts = interrupts;
    this.#status = new StatusLine(invocation.terminal);
  }

  async run(): Promise<ExitCode> {
    const { terminal } = this.#invocation;
    const { out, server } = this.#options;
    const usage = this.#usageProblem();
    if (usage !== undefined) return refuse(terminal, usage);
    const target = server === undefined ? this.#compile() : await this.#connect(server);
    if (!target.ok) return refuse(terminal, target.failure);
    const lock = writable(out, () => lockAnswers(out));
    if (!lock.ok) return refuse(terminal, lock.failure);
    try {
      const files = await this.#openFiles(target.value);
      return files.ok ? await this.#ask(target.value, files.value) : refuse(terminal, files.failure);
    } finally {
      lock.value();
    }
  }

  #usageProblem(): string | undefined {
    const { in: input, out, server } = this.#options;
    const { flags } = this.#invocation;
    const local = (['from', 'prices', 'onLoss'] as const).find((key) => flags[key] !== undefined);
    if (server !== undefined && local !== undefined) {
      const flag = local === 'onLoss' ? 'on-loss' : local;
      return `--${flag} has no effect on a server: pass it to "svc serve", or leave out --server`;
    }
    for (const [flag, path] of [
      ['--in', input],
      ['--out', out],
    ] as const) {
      const format = delimiterOf(path);
      if (!format.ok) return `${flag}: ${format.failure}`;
      const found = statSync(path, { throwIfNoEntry: false });
      if (found !== undefined && !found.isFile()) return `${flag}: "${path}" is not a file`;
    }
    if (resolve(input) === resolve(out)) return '--in and --out name the same file';
    const fault = readProblem(input);
    return fault === undefined ? undefined : `--in: "${input}" cannot be read: ${fault}`;
  }

  #compile(): Result<Target, string> {
    const { config, terminal } = this.#invocation;
    const compiled = compileToRun(config, terminal, 'no row was asked');
    if (!compiled.ok) return compiled;
    const { program, files } = compiled.value;
    const redactor = new Redactor(testSecrets(config, program, []));
    const { env, requestTimeoutMs: timeoutMs, onLoss, priceList: prices } = config;
    const typeSource = createTypeSource(program, files);
    const redact = (text: string): string => redactor.redactValues(text);
    const settings = { env, timeoutMs, onLoss, prices, typeSource, redact };
    const { openapi, hash } = program;
    return ok({ openapi, hash, caller: () => createInProcessCaller(program, this.#functionName, settings) });
  }

  async #connect(server: URL): Promise<Result<Target, string>> {
    const { config } = this.#invocation;
    const { apiKeyEnv } = this.#options;
    const key = config.env[apiKeyEnv];
    const client = new ServerClient(server, key === '' ? undefined : key, config.requestTimeoutMs + SERVER_MARGIN_MS);
    const described = await describeServer(client);
    if (!described.ok) return described;
    const onPause = (sentence: string): void => this.#status.note(sentence);
    const parts = { client, functionName: this.#functionName, onPause };
    return ok({ ...described.value, caller: (run) => new ServerCaller({ ...parts, run }) });
  }

  async #openFiles({ openapi, hash }: Target): Promise<Result<BatchFiles, string>> {
    const { in: inputPath, out, acceptChanges = false, retryFailed = false, copy = [] } = this.#options;
    const signature = signatureOf(openapi, this.#functionName);
    if (signature === undefined) return err(thereIsNo('function', this.#functionName, functionsIn(openapi)));
    const extra = { has: (name: string) => copy.includes(name), required: copy };
    const input = inputRows({ path: inputPath, delimiter: delimiterIn(inputPath), signature, extra });
    const facts = await scanInput(input, inputPath);
    if (!facts.ok) return facts;
    const { sha256 } = facts.value;
    const questions = { function: this.#functionName, definitions: hash, input: sha256, copy: JSON.stringify(copy) };
    const claim = writable(out, () => claimAnswers(out, questions, { inputPath, acceptChanges, retryFailed }));
    if (!claim.ok) return claim;
    const { run, round } = claim.value;
    const { lastRow } = facts.value;
    try {
      const format = formatOf(out, signature, copy);
      const answers = await AnswersFile.open(out, format, { lastRow, dropFailures: retryFailed });
      return answers.ok ? ok({ input, facts: facts.value, answers: answers.value, run: `${run}-${round}` }) : answers;
    } catch (error) {
      return err(`"${out}" cannot be written: ${writeFault(error)}`);
    }
  }

  async #ask(target: Target, { input, facts, answers, run: runId }: BatchFiles): Promise<ExitCode> {
    const { terminal } = this.#invocation;
    const { concurrency, limit = Infinity, out } = this.#options;
    const rows = Math.min(limit, facts.rows);
    const before = Math.min(rows, answers.answered.size);
    const progress = new BatchProgress({ rows, before, failed: total(answers.failures) }, performance.now());
    const caller = target.caller(runId);
    const run = new BatchRun({
      input,
      answers,
      caller,
      concurrency,
      limit,
      onAnswer: (answer) => progress.add(answer),
    });
    void this.#stopOnInterrupt(run);
    this.#status.start(() => progress.line(performance.now()));
    const ended = await run.run();
    this.#status.stop();
    await caller.close();
    const finished = ended.ok && ended.value;
    const fault = await finishFile(answers, finished, out);
    terminal.out.write(`${progress.summary(performance.now())}\n${failureLines(answers.failures)}`);
    if (!ended.ok) reportProblem(terminal, `the batch stopped: ${ended.failure}`);
    if (fault !== undefined) reportProblem(terminal, fault);
    if (!finished) terminal.error.write('Run the same command to continue.\n');
    if (ended.ok && !ended.value) return INTERRUPTED;
    return !ended.ok || fault !== undefined || answers.failures.size > 0 ? 1 : 0;
  }

  async #stopOnInterrupt(run: BatchRun): Promise<void> {
    // An interrupt can also have arrived while svc read the input.
    if (this.#interrupts.count === 0) await this.#interrupts.next();
    run.interrupt();
    const calls = run.inFlight === 1 ? 'the call' : `the ${run.inFlight} calls`;
    this.#status.note(`Stopping: waiting for ${calls} under way. Press Ctrl+C again to stop at once.`);
  }
}

/** Closes the answers and, if all are there, sorts them. Returns a sentence about what prevented that. */
async function finishFile(answers: AnswersFile, finished: boolean, path: string): Promise<string | undefined> {
  try {
    answers.close();
    if (finished) await answers.sortByRow();
    return undefined;
  } catch (error) {
    return `"${path}" cannot be sorted by row: ${writeFault(error)}. No answer is lost: run the same command to sort it.`;
  }
}

function formatOf(path: string, { fields }: Signature, copy: readonly string[]): AnswerFormat {
  const delimiter = delimiterIn(path);
  return delimiter === undefined ? JSON_ANSWERS : csvAnswers(delimiter, fields, copy);
}

function delimiterIn(path: string): string | undefined {
  const found = delimiterOf(path);
  return found.ok ? found.value : undefined;
}

function readProblem(path: string): string | undefined {
  try {
    closeSync(openSync(path, 'r'));
    return undefined;
  } catch (error) {
    return readFault(error);
  }
}

/** Turns what the file system throws into a sentence. */
function writable<Value>(path: string, write: () => Result<Value, string>): Result<Value, string> {
  try {
    return write();
  } catch (error) {
    return err(`"${path}" cannot be written: ${writeFault(error)}`);
  }
}

function total(failures: ReadonlyMap<string, number>): number {
  return [...failures.values()].reduce((sum, count) => sum + count, 0);
}

/** The number of failures by code, and how to ask these rows again. */
function failureLines(failures: ReadonlyMap<string, number>): string {
  if (failures.size === 0) return '';
  const lines = [...failures].map(([code, count]) => `  ${code}: ${count}\n`);
  return `${lines.join('')}To ask the failed rows again, add --retry-failed.\n`;
}
