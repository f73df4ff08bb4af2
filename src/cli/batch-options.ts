import { InvalidArgumentError, Option } from 'commander';
import { wholeNumber } from '../config/settings.ts';

/** The options of `svc batch` besides the settings. */
export interface BatchOptions {
  readonly input: string;
  readonly out: string;
  readonly server?: URL;
  /** The variable with the key of the server. */
  readonly apiKeyEnv: string;
  readonly concurrency: number;
  /** Infinity for all rows. */
  readonly limit: number;
  readonly retryFailed: boolean;
  readonly acceptChanges: boolean;
}

/** As in `svc test`: within the lowest limits that providers have for the calls of one account. */
const CONCURRENCY = 10;

export const BATCH_OPTIONS: readonly Option[] = [
  new Option('--in <file>', 'The input rows: .jsonl or .ndjson, .csv or .tsv').makeOptionMandatory().helpGroup('Rows:'),
  new Option('--out <file>', 'The file of the answers: .jsonl or .ndjson, .csv or .tsv')
    .makeOptionMandatory()
    .helpGroup('Rows:'),
  numberOption('--limit <n>', 'Run only this many rows, from the first one', 2 ** 40).helpGroup('Rows:'),
  new Option('--retry-failed', 'Run the failed rows again').helpGroup('Rows:'),
  new Option(
    '--accept-changes',
    'Continue although the input or the definitions have changed since the first run',
  ).helpGroup('Rows:'),
  numberOption('--concurrency <n>', 'Limit of concurrent calls', 1000).default(CONCURRENCY).helpGroup('Calls:'),
  new Option('--server <url>', 'Call the function of this server instead of running it in this process')
    .argParser(serverUrl)
    .helpGroup('Calls:'),
  new Option('--api-key-env <name>', 'The variable with the key for --server')
    .default('SVC_API_KEY')
    .helpGroup('Calls:'),
];

/** Reads the values that the options of `BATCH_OPTIONS` have after parsing. */
export function batchOptions(values: Readonly<Record<string, unknown>>): BatchOptions {
  const { server, limit } = values;
  return {
    input: String(values['in']),
    out: String(values['out']),
    ...(server instanceof URL && { server }),
    apiKeyEnv: String(values['apiKeyEnv']),
    concurrency: Number(values['concurrency']),
    limit: limit === undefined ? Infinity : Number(limit),
    retryFailed: values['retryFailed'] === true,
    acceptChanges: values['acceptChanges'] === true,
  };
}

function numberOption(flags: string, help: string, max: number): Option {
  return new Option(flags, help).argParser((text) => {
    const result = wholeNumber(1, max)(text);
    if (!result.ok) throw new InvalidArgumentError(`It must be ${result.failure}.`);
    return result.value;
  });
}

function serverUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new InvalidArgumentError('It must be a URL, such as http://127.0.0.1:2024.');
}
