import { InvalidArgumentError, Option } from 'commander';
import { err, ok, type Result } from '../base/result.ts';
import { age, wholeNumber, share, type ParseValue } from '../config/settings.ts';
import { EXPORT_FORMATS, type ExportFormat } from '../dev/testing/export-calls.ts';

/** The options of `svc batch` besides the settings, as commander parses `BATCH_OPTIONS`. */
export interface BatchOptions {
  readonly in: string;
  readonly out: string;
  readonly server?: URL;
  /** The variable with the key of the server. */
  readonly apiKeyEnv: string;
  readonly concurrency: number;
  /** Absent for all rows. */
  readonly limit?: number;
  readonly retryFailed?: true;
  readonly acceptChanges?: true;
  /** The columns of the input to copy, each once. */
  readonly copy?: readonly string[];
}

/** Providers limit how many calls of one account they serve at once; 10 is within the lowest of these limits. */
const CONCURRENCY = 10;

export const BATCH_OPTIONS: readonly Option[] = [
  ...inGroup(
    'Rows:',
    new Option('--in <file>', 'The input rows: .jsonl or .ndjson, .csv or .tsv').makeOptionMandatory(),
    new Option('--out <file>', 'The file of the answers: .jsonl or .ndjson, .csv or .tsv').makeOptionMandatory(),
    copyOption('Copy this column of the input, such as an id, to the answers'),
    numeric('--limit <n>', 'Run only this many rows, from the first one', wholeNumber(1, 2 ** 40)),
    new Option('--retry-failed', 'Run the failed rows again'),
    new Option('--accept-changes', 'Continue although the input or the definitions have changed since the first run'),
  ),
  ...inGroup(
    'Calls:',
    numeric('--concurrency <n>', 'Limit of concurrent calls', wholeNumber(1, 1000)).default(CONCURRENCY),
    new Option('--server <url>', 'Call the function of this server instead of running it in this process').argParser(
      serverUrl,
    ),
    new Option('--api-key-env <name>', 'The variable with the key for --server').default('SVC_API_KEY'),
  ),
];

function copyOption(help: string): Option {
  return new Option('--copy <column>', `${help}; it need not be a parameter (repeatable)`).argParser(
    (text, before: readonly string[] | undefined) => [...new Set(appended(text, before))],
  );
}

function inGroup(heading: string, ...options: readonly Option[]): readonly Option[] {
  return options.map((option) => option.helpGroup(heading));
}

function serverUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new InvalidArgumentError('It must be a URL, such as http://127.0.0.1:2024.');
}

/** The options of `svc check` besides the settings, as commander parses `CHECK_OPTIONS`. */
export interface CheckOptions {
  readonly strict?: true;
  readonly maxWarnings?: number;
  readonly fix?: true;
  readonly format: 'pretty' | 'json' | 'github' | 'sarif';
}

export const CHECK_OPTIONS: readonly Option[] = [
  ...inGroup(
    'Problems:',
    new Option('--strict', 'Exit with 1 if there is a warning').conflicts('maxWarnings'),
    numeric('--max-warnings <n>', 'Exit with 1 if there are more warnings than this', wholeNumber(0, 2 ** 31)),
    new Option(
      '--fix',
      'Replace each misspelt name by the only similar one in the files, unless its problem would remain or another appear; report the rest',
    ),
  ),
  ...inGroup(
    'Report:',
    new Option('--format <name>', 'Format of the report')
      .choices(['pretty', 'json', 'github', 'sarif'])
      .default('pretty'),
  ),
];

/** The option `--server` of `svc openapi`, as commander parses it. */
export const DOCUMENT_SERVER = new Option(
  '--server <url>',
  'A URL that clients reach the server at, for "servers" of the document (repeatable)',
)
  .argParser((text, before: readonly string[] | undefined) => appended(documentServer(text), before))
  .helpGroup('Output:');

/** Returns the URL without a slash at its end: generators append paths to it. */
function documentServer(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    const example = /^[\w.-]+(?::\d+)?(?:\/|$)/u.test(text) ? text : 'localhost:2024';
    throw new InvalidArgumentError(`It must be a URL that begins with http:// or https://, such as http://${example}.`);
  }
  if (url.username !== '' || url.password !== '')
    throw new InvalidArgumentError('It must be a URL without a user and password: everyone can read the document.');
  if (url.search !== '' || url.hash !== '')
    throw new InvalidArgumentError('It must be a URL without "?" and "#": clients append paths to it.');
  return url.href.replace(/\/$/u, '');
}

/** The options of `svc test` besides the settings, as commander parses `TEST_OPTIONS`. */
export interface TestOptions {
  readonly function?: readonly string[];
  readonly name?: readonly string[];
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  readonly list?: true;
  readonly passIfNoTests?: true;
  readonly client?: readonly string[];
  readonly parallel: number;
  readonly repeat: number;
  /** A fraction of 1. */
  readonly passRate: number;
  readonly allowFailedChecks?: true;
  readonly record?: string;
  readonly replay?: string;
  readonly watch?: true;
  readonly format: 'pretty' | 'json' | 'junit' | 'csv' | 'html';
  readonly out?: string;
  /** The file with rows; absent for tests. The options below need it. */
  readonly data?: string;
  readonly copy?: readonly string[];
  /** The directory of another version of the definitions. */
  readonly against?: string;
  readonly judge?: string;
  readonly judgePass: number;
  /** From 0 to 1. */
  readonly similarPass: number;
}

export const TEST_OPTIONS: readonly Option[] = [
  ...inGroup(
    'Tests:',
    repeatable('--function <name>', 'Run only the tests of these functions; * matches any characters'),
    repeatable('--name <name>', 'Run only the tests with these names; * matches any characters'),
    repeatable(
      '-i, --include <pattern>',
      'Run only these tests: "Function::Test", "Function::", "::Test", or the name of a function or test; * as above',
    ),
    repeatable('-x, --exclude <pattern>', 'Do not run these tests, even if another option selects them'),
    new Option('--list', 'List the tests without running them'),
    new Option('--pass-if-no-tests', 'Exit with 0 if no test is found'),
  ),
  ...inGroup(
    'Rows:',
    new Option(
      '--data <rows>',
      'Run one function on every row instead of the tests. A file: .jsonl or .ndjson, .csv or .tsv; or kept calls: calls:QUERY, such as calls:feedback=any',
    ).conflicts(['list', 'passIfNoTests', 'repeat']),
    copyOption('Copy this column of the rows to the report'),
    new Option('--against <dir>', 'Compare with the same function of the definitions in this directory'),
    new Option(
      '--judge <function>',
      'Ask this function, whose parameters are input, output and expected, about each value',
    ),
    numeric('--judge-pass <number>', 'The least number of the judge with which a row passes', decimalNumber).default(
      0.5,
    ),
    numeric('--similar-pass <share>', 'The least similarity of strings in columns "similar"', share).default(
      0.8,
      '80%',
    ),
  ),
  ...inGroup(
    'Calls:',
    repeatable('--client <name>', "Call this client instead of the function's own; compare several"),
    numeric('--parallel <n>', 'Limit of concurrent calls', wholeNumber(1, 1000)).default(CONCURRENCY),
    numeric(
      '--repeat <n>',
      'Run each test this many times, and report how many runs pass',
      wholeNumber(1, 1000),
    ).default(1),
    numeric('--pass-rate <share>', 'Share of the runs of a test, or of the rows, that must pass', share).default(
      1,
      '100%',
    ),
    new Option('--allow-failed-checks', 'Report a @@check that does not hold without failing the test'),
    new Option('--record <dir>', 'Save the replies of the models in this directory').conflicts('replay'),
    new Option('--replay <dir>', 'Use the replies in this directory instead of calling models'),
  ),
  ...inGroup(
    'Report:',
    new Option('--watch', 'Run the tests again whenever a file is saved'),
    new Option('--format <name>', 'Format of the report; csv and html need --data')
      .choices(['pretty', 'json', 'junit', 'csv', 'html'])
      .default('pretty'),
    new Option('--out <file>', 'Write the report to this file, and a pretty one to the terminal'),
  ),
];

/** The options of `svc calls` besides the settings, as commander parses `CALLS_OPTIONS`. Times are ages in milliseconds. */
export interface CallsOptions {
  readonly function?: string;
  readonly client?: string;
  readonly key?: string;
  readonly error?: string;
  readonly lossy?: true;
  readonly slow?: number;
  readonly tag?: string;
  readonly text?: string;
  readonly feedback?: string;
  readonly since?: number;
  readonly until?: number;
  readonly limit?: number;
  readonly format?: ExportFormat;
  readonly out?: string;
  readonly name?: string;
  readonly recordings?: string;
}

export const CALLS_OPTIONS: readonly Option[] = [
  ...inGroup(
    'Calls to list or export:',
    new Option('--function <name>', 'Those of this function'),
    new Option('--client <name>', 'Those that this client answered'),
    new Option('--key <name>', 'Those with the key of this name'),
    new Option('--error <code>', 'Those that failed with this code, or with any'),
    new Option('--lossy', 'Those whose value lacks a part of the reply'),
    numeric('--slow <ms>', 'Those that took at least this many milliseconds', wholeNumber(0, 2 ** 40)),
    new Option('--tag <name:value>', 'Those with this tag'),
    new Option('--text <text>', 'Those with this text in arguments, prompt, reply or value'),
    new Option('--feedback <label>', 'Those with feedback of this label, or with any'),
    numeric('--since <age>', 'Those that are at most this old, such as 7d', age),
    numeric('--until <age>', 'Those that are at least this old', age),
    numeric(
      '--limit <n>',
      'At most this many, the newest first (default: 50 for list, all for export)',
      wholeNumber(1, 2 ** 40),
    ),
  ),
  ...inGroup(
    'Output:',
    new Option('--format <name>', 'Format of an export').choices(EXPORT_FORMATS).default('jsonl'),
    new Option('--out <file>', 'Export to this file instead of the terminal'),
    new Option('--name <name>', 'Name of the test that "save" writes'),
    new Option('--recordings <dir>', 'Directory of the reply that "save" writes, for "svc test --replay"').default(
      'recordings',
    ),
  ),
];

function decimalNumber(text: string): Result<number, string> {
  return /^-?\d+(?:\.\d+)?$/u.test(text) ? ok(Number(text)) : err('a number such as 0.5');
}

function repeatable(flags: string, help: string): Option {
  return new Option(flags, `${help} (repeatable)`).argParser(appended);
}

function appended(text: string, previous: readonly string[] | undefined): readonly string[] {
  return [...(previous ?? []), text];
}

function numeric(flags: string, help: string, parse: ParseValue<number>): Option {
  return new Option(flags, help).argParser((text) => {
    const result = parse(text);
    if (!result.ok) throw new InvalidArgumentError(`It must be ${result.failure}.`);
    return result.value;
  });
}
