import { existsSync } from 'node:fs';
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import type { SettingKey } from '../config/config.ts';
import { SETTINGS, type Setting } from '../config/settings.ts';
import { Redactor } from '../logging/redactor.ts';
import { BATCH_OPTIONS, CALLS_OPTIONS, CHECK_OPTIONS, DOCUMENT_SERVER, TEST_OPTIONS } from './command-options.ts';
import { addSettings, createInvocation, type Invocation, type Presets } from './invocation.ts';
import { packageInfo } from './package-info.ts';
import { reportProblem, withoutSecrets, type ExitCode, type Terminal, type TerminalStream } from './terminal.ts';
import { nearestNames } from '../base/suggestion.ts';
import { badValue } from '../config/load-config.ts';

const GROUPS = { write: 'Write functions:', serve: 'Serve them:', call: 'Call them:', about: 'About svc:' } as const;

export interface CommandDescription {
  readonly name: string;
  readonly help: string;
  readonly group: (typeof GROUPS)[keyof typeof GROUPS];
  readonly argument?: readonly [name: string, help: string];
  readonly secondArgument?: readonly [name: string, help: string];
  readonly options?: readonly Option[];
  readonly settings: readonly SettingKey[];
  readonly presets?: Presets;
  readonly run: (invocation: Invocation, compileThread: URL) => ExitCode | Promise<ExitCode>;
}

const PATH = ['[path]', 'The same as --from'] as const;

const COMPILE_SETTINGS = ['from', 'versionCheck', 'features', 'dotenv', 'dotenvPath'] as const;

/** The settings of the calls that a command makes. */
const CALL_SETTINGS = ['requestTimeoutMs', 'streamTimeoutMs', 'partialIntervalMs', 'onLoss', 'prices'] as const;

/** The settings of a server that matter to the person who runs it for themselves. */
const DEV_SETTINGS = [
  'port',
  'host',
  'basePath',
  'title',
  ...CALL_SETTINGS,
  'drainTimeoutMs',
  'openaiApi',
  'mcp',
  'mcpFunctions',
  'calls',
  'callsContent',
  'callsMaxAgeMs',
  'callsMaxSizeBytes',
  'apiKey',
  'keys',
  'clientRegistry',
  'allowPrivateUrls',
  'trustLoopback',
  'logLevel',
  'logFormat',
] as const;

/** Where `svc dev` keeps calls, and where `svc calls` looks for them. */
const CALLS_DEFAULTS = { calls: 'sqlite:.svc/calls.db' } as const;

/** Only this machine can connect, and its programs can name local models. */
const DEV_DEFAULTS = {
  ...CALLS_DEFAULTS,
  host: '127.0.0.1',
  trustLoopback: 'true',
  logFormat: 'pretty',
  drainTimeoutMs: '10s',
} as const;

/** Every command, in the order of the help. Each loads its own code: compiler and server take half a second, and help does not need them. */
export const COMMANDS: readonly CommandDescription[] = [
  {
    name: 'init',
    help: 'Write a first function, a .env.example, a .gitignore and an example of prices',
    group: GROUPS.write,
    argument: ['[name]', 'The folder of a new project (default: the current one)'],
    options: [
      new Option('--template <name>', 'Write this example instead of the first function')
        .choices(['resume', 'chat', 'classify', 'agent', 'rag'])
        .helpGroup('Output:'),
    ],
    settings: ['from', 'dotenv', 'dotenvPath'],
    presets: { manyPaths: true },
    run: async (invocation) => (await import('./commands/init.ts')).initCommand(invocation),
  },
  {
    name: 'dev',
    help: 'Serve the functions to this machine, and reload every file that you save',
    group: GROUPS.write,
    argument: PATH,
    options: [
      new Option(
        '--types <file>',
        'Write TypeScript types of the functions to this file after each reload, such as svc.d.ts',
      )
        .argParser(typeScriptPath)
        .helpGroup('Output:'),
      new Option('--open', 'Open the playground in a browser at the start').helpGroup('Output:'),
    ],
    settings: [...COMPILE_SETTINGS, ...DEV_SETTINGS],
    presets: { fixed: { workers: 1, playground: true, warmUp: 'off' }, defaults: DEV_DEFAULTS },
    run: async (invocation, compileThread) => {
      const signals = new ProcessSignals();
      const { devCommand } = await import('./commands/dev.ts');
      return devCommand(invocation, { signals, compileThread });
    },
  },
  {
    name: 'check',
    help: 'Report every problem in the definition files',
    group: GROUPS.write,
    argument: PATH,
    options: CHECK_OPTIONS,
    settings: COMPILE_SETTINGS,
    run: async (invocation) => (await import('./commands/check.ts')).checkCommand(invocation),
  },
  {
    name: 'test',
    help: 'Run the tests in the definition files',
    group: GROUPS.write,
    argument: ['[paths...]', 'Files and directories whose tests run, or the definitions themselves'],
    options: TEST_OPTIONS,
    settings: [...COMPILE_SETTINGS, 'requestTimeoutMs', 'onLoss', 'prices', 'calls'],
    presets: { manyPaths: true, defaults: CALLS_DEFAULTS },
    run: async (invocation) => (await import('./commands/test.ts')).testCommand(invocation),
  },
  {
    name: 'fmt',
    help: 'Format the definition files',
    group: GROUPS.write,
    argument: PATH,
    options: [
      new Option(
        '--check',
        'Change nothing; list the files that are not formatted, and exit with 1 if there are any',
      ).helpGroup('Output:'),
    ],
    settings: ['from', 'dotenv', 'dotenvPath'],
    run: async (invocation) => (await import('./commands/fmt.ts')).fmtCommand(invocation),
  },
  {
    name: 'lsp',
    help: 'Serve the Language Server Protocol to an editor over stdin and stdout',
    group: GROUPS.write,
    options: [
      new Option('--stdio', 'No effect: editors pass it, and svc always uses stdin and stdout').helpGroup('Output:'),
    ],
    settings: ['versionCheck', 'features', 'dotenv', 'dotenvPath'],
    run: async (invocation) => (await import('./commands/lsp.ts')).lspCommand(invocation),
  },
  {
    name: 'serve',
    help: 'Serve the functions of the definition files over HTTP',
    group: GROUPS.serve,
    argument: PATH,
    settings: Object.keys(SETTINGS) as SettingKey[],
    run: async (invocation, compileThread) => {
      const signals = new ProcessSignals();
      const { serveCommand } = await import('./commands/serve.ts');
      return serveCommand(invocation, { signals, compileThread });
    },
  },
  {
    name: 'mcp',
    help: 'Serve the functions over stdin and stdout, as tools of the Model Context Protocol',
    group: GROUPS.serve,
    argument: PATH,
    settings: [...COMPILE_SETTINGS, 'mcpFunctions', 'title', ...CALL_SETTINGS],
    run: async (invocation) => (await import('./commands/mcp.ts')).mcpCommand(invocation),
  },
  {
    name: 'keys',
    help: 'Create, list, replace and disable the keys of callers',
    group: GROUPS.serve,
    argument: ['<action>', 'create, list, rotate (replace the key of an entry) or revoke (disable it)'],
    secondArgument: ['[name]', 'Name of the key, for logs and metrics; "list" takes none'],
    options: [
      new Option(
        '--functions <names...>',
        'The functions that a new key can call, such as Chat* (default: all)',
      ).helpGroup('Key:'),
      new Option(
        '--expires <time>',
        'When a new or replaced key stops working, such as 2027-01-31 (default: never, or as before)',
      ).helpGroup('Key:'),
      // Not the setting: a variable that a server reads must not make this command change its file.
      new Option('--keys <file>', 'The key file, in YAML or JSON; "create" prints the entry without it').helpGroup(
        'Output:',
      ),
    ],
    settings: [],
    presets: { manyPaths: true },
    run: async (invocation) => (await import('./commands/keys.ts')).keysCommand(invocation),
  },
  {
    name: 'healthcheck',
    help: 'Check that the server on this machine is alive',
    group: GROUPS.serve,
    settings: ['host', 'port', 'basePath', 'dotenv', 'dotenvPath'],
    run: async (invocation) => (await import('./commands/healthcheck.ts')).healthcheckCommand(invocation),
  },
  {
    name: 'logs',
    help: 'Print the JSON log lines of a server in readable form',
    group: GROUPS.serve,
    argument: ['[file]', 'The file to read (default: standard input)'],
    options: [
      new Option(
        '--pretty',
        'Print the lines of --log-format pretty: with repairs and prompts, and without bodies',
      ).helpGroup('Output:'),
    ],
    settings: [],
    presets: { manyPaths: true },
    run: async (invocation) => (await import('./commands/logs.ts')).logsCommand(invocation),
  },
  {
    name: 'calls',
    help: 'List, show and export kept calls, and write tests from them',
    group: GROUPS.call,
    argument: [
      '<action>',
      'list, show (a call in full), save (as a test), export, or prune (delete what is too old or too much)',
    ],
    secondArgument: ['[id]', 'The x-request-id of the call that "show" and "save" need'],
    options: CALLS_OPTIONS,
    settings: [...COMPILE_SETTINGS, 'calls', 'callsMaxAgeMs', 'callsMaxSizeBytes'],
    presets: { manyPaths: true, defaults: CALLS_DEFAULTS },
    run: async (invocation) => (await import('./commands/calls.ts')).callsCommand(invocation),
  },
  {
    name: 'batch',
    help: 'Run a function on every row of a file',
    group: GROUPS.call,
    argument: ['<function>', 'The name of the function'],
    options: BATCH_OPTIONS,
    settings: [...COMPILE_SETTINGS, 'requestTimeoutMs', 'onLoss', 'prices'],
    presets: { manyPaths: true },
    run: async (invocation) => (await import('./commands/batch.ts')).batchCommand(invocation),
  },
  {
    name: 'openapi',
    help: 'Print the OpenAPI document of the functions',
    group: GROUPS.call,
    argument: PATH,
    options: [formatOption('Format of the document', ['json', 'yaml']), DOCUMENT_SERVER],
    settings: [...COMPILE_SETTINGS, 'basePath', 'title', 'apiVersion'],
    run: async (invocation) => (await import('./commands/openapi.ts')).openapiCommand(invocation),
  },
  {
    name: 'types',
    help: 'Write TypeScript types of the functions',
    group: GROUPS.call,
    argument: PATH,
    options: [
      new Option('--out <file>', 'Write to this file, such as svc.d.ts, instead of the terminal')
        .argParser(typeScriptPath)
        .helpGroup('Output:'),
      new Option('--watch', 'Write the file again whenever a definition file is saved').helpGroup('Output:'),
    ],
    settings: COMPILE_SETTINGS,
    run: async (invocation) => (await import('./commands/types.ts')).typesCommand(invocation),
  },
];

export interface ProgramProcess {
  readonly terminal: Terminal;
  /** The entry file of the threads that compile for a server. */
  readonly compileThread: URL;
}

/** Runs one command line (without the program's name) and resolves to the exit code. Rejects only for a bug. */
export async function runProgram(
  args: readonly string[],
  { terminal, compileThread }: ProgramProcess,
): Promise<ExitCode> {
  let code: ExitCode = 0;
  const program = createProgram(terminal, async (description, command) => {
    const invocation = createInvocation(command, terminal, description.presets);
    const ready = typeof invocation === 'number' ? invocation : await withFiles(invocation, description);
    code = typeof ready === 'number' ? ready : await description.run(ready, compileThread);
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (!isSystemError(error)) throw error;
    return reportProblem(terminal, withoutSecrets(error.message));
  }
}

/** Adds the content of the files of prices and of keys. After reporting a failure, returns its exit code. */
async function withFiles(invocation: Invocation, { settings }: CommandDescription): Promise<Invocation | ExitCode> {
  const refuse = (sentence: string): ExitCode => {
    reportProblem(invocation.terminal, new Redactor(config.secrets).redact(sentence));
    return 2;
  };
  let { config } = invocation;
  if (settings.includes('prices') && config.prices !== undefined) {
    const { readPrices } = await import('../config/read-prices.ts');
    const read = readPrices(config.prices);
    if (!read.ok) return refuse(read.failure);
    config = { ...config, priceList: read.value };
  }
  if (settings.includes('apiKey') && config.keys !== undefined) {
    const { readKeys } = await import('../config/read-keys.ts');
    const read = readKeys(config.keys);
    if (!read.ok) return refuse(read.failure);
    config = { ...config, keyFile: read.value };
  }
  return { ...invocation, config };
}

/** The machine refused: a missing permission, a full disk, a missing folder. Not a bug, so it needs no stack trace. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'code' in error;
}

type Start = (description: CommandDescription, command: Command) => Promise<void>;

const HELP_FLAG = ['-h, --help', 'Show this help'] as const;

export function createProgram(terminal: Terminal, start: Start): Command {
  const program = new Command('svc')
    .description('Serves typed LLM functions, written in definition files, as HTTP endpoints.')
    .version(packageInfo().version, '-v, --version', 'Show the version')
    .helpOption(...HELP_FLAG)
    .usage('<command> [options]')
    .addHelpText('after', '\nTo begin, run "svc init my-project", then "svc dev" in that folder.');
  for (const description of COMMANDS) program.addCommand(createCommand(description, start));
  program.helpCommand(false).addCommand(createHelpCommand(program));
  for (const command of [program, ...program.commands]) writeThrough(terminal, command);
  return program;
}

function createCommand(description: CommandDescription, start: Start): Command {
  const { name, help, group, argument, secondArgument, options = [], settings, presets } = description;
  const command = new Command(name).description(help).helpGroup(group);
  if (argument !== undefined) command.argument(...argument);
  if (secondArgument !== undefined) command.argument(...secondArgument);
  for (const option of options) command.addOption(option);
  if (settings.length > 0) addSettings(command, settings, presets?.defaults);
  return command.addHelpOption(helpOption()).action(() => start(description, command));
}

/** Commander's own help command does not report a name that it does not know. */
function createHelpCommand(program: Command): Command {
  const command = new Command('help').description('Show the help of a command').helpGroup(GROUPS.about);
  return command
    .argument('[command]')
    .addHelpOption(helpOption())
    .action((name?: string) => {
      if (name === undefined) return program.help();
      const found = program.commands.find((each) => each.name() === name);
      return found?.help() ?? program.error(`error: unknown command '${name}'`);
    });
}

function helpOption(): Option {
  return new Option(...HELP_FLAG).helpGroup('Help:');
}

/** Anything but a TypeScript file is probably one that the types must not replace, such as a definition file. */
function typeScriptPath(text: string): string {
  if (!/\.[cm]?ts$/u.test(text)) throw new InvalidArgumentError('It must be the path of a .ts file, such as svc.d.ts.');
  return text;
}

function formatOption(help: string, [first, ...others]: readonly [string, ...string[]]): Option {
  return new Option('--format <name>', help)
    .choices([first, ...others])
    .default(first)
    .helpGroup('Output:');
}

/** A longer line is hard to read, also on a wide terminal. */
const WIDEST_HELP = 100;

/** Without this, commander writes to the process's streams and ends the process. */
function writeThrough(terminal: Terminal, command: Command): void {
  command
    .exitOverride()
    .showSuggestionAfterError(false)
    .configureHelp({ subcommandTerm, optionDescription })
    .configureOutput({
      writeOut: (text) => terminal.out.write(text),
      writeErr: (text) => terminal.error.write(text),
      getOutHasColors: () => terminal.out.colour,
      getErrHasColors: () => terminal.error.colour,
      getOutHelpWidth: () => widthOf(terminal.out),
      getErrHelpWidth: () => widthOf(terminal.error),
      outputError: (text, write) => write(`svc: ${usageProblem(text, command)}\n`),
    });
}

function widthOf({ columns = 80 }: TerminalStream): number {
  return Math.min(columns, WIDEST_HELP);
}

/** `serve [path]`: all commands have options. */
function subcommandTerm(command: Command): string {
  return [command.name(), command.usage().replace('[options]', '').trim()].join(' ').trim();
}

/** `Format of the report: pretty, json or github (default: pretty)`. */
function optionDescription({ description, argChoices = [], defaultValue, defaultValueDescription }: Option): string {
  const choices = argChoices.length === 0 ? '' : `: ${argChoices.join(', ')}`;
  const fallback = defaultValueDescription ?? (defaultValue === undefined ? '' : String(defaultValue));
  return `${description}${choices}${fallback === '' ? '' : ` (default: ${fallback})`}`;
}

/**
 * The signals of the primary. Create it before anything slow: until then a signal ends the process, or is lost when the process
 * is number 1 of a container.
 */
class ProcessSignals {
  /** Resolves with the first signal that requests a stop; a second one ends the process at once. */
  readonly stop: Promise<NodeJS.Signals>;
  #reload: (() => void) | undefined;
  #reloadRequested = false;

  constructor() {
    this.stop = new Promise((resolve) => {
      let requested = false;
      const stop = (signal: NodeJS.Signals, number: number) => {
        // On exit the primary kills the workers.
        if (requested) process.exit(128 + number);
        requested = true;
        resolve(signal);
      };
      process.on('SIGTERM', stop);
      process.on('SIGINT', stop);
    });
    process.on('SIGHUP', () => {
      if (this.#reload === undefined) this.#reloadRequested = true;
      else this.#reload();
    });
  }

  /** Calls `reload` at each SIGHUP from now on, and once now if any came before. */
  onReload(reload: () => void): void {
    this.#reload = reload;
    if (this.#reloadRequested) reload();
  }
}

/** Rewrites one message of commander as sentences; an empty one counts for nothing. `words` are the groups of the pattern. */
type Rewrite = (command: Command, ...words: readonly string[]) => readonly string[];

const REWRITES: ReadonlyArray<readonly [RegExp, Rewrite]> = [
  [
    /^unknown option '([^=]*)(.*)'$/su,
    (command, flag = '', value = '') =>
      hasFlag(command, flag)
        ? [`${flag} takes no value, but got ${JSON.stringify(value.slice(1))}.`]
        : [`unknown option ${JSON.stringify(flag)}.`, hintForFlag(command, flag)],
  ],
  [
    /^unknown command '(.*)'$/su,
    (command, name = '') => [`unknown command ${JSON.stringify(name)}.`, hintForCommand(command, name)],
  ],
  [
    /^option '(?:-\w, )?(--\S+) (.*)' argument missing$/su,
    (_, flag = '', placeholder = '') => [`${flag} needs a value: "${flag} ${placeholder}".`],
  ],
  [
    /^option '(?:-\w, )?(--\S+) [^']*' argument '(.*)' is invalid\. Allowed choices are (.*)$/su,
    (_, flag = '', value = '', choices = '') => [
      `${badValue(flag, value, `one of ${choices}`)}.`,
      hintFor(value, choices.split(', ')),
    ],
  ],
  [
    /^option '(?:-\w, )?(--\S+) [^']*' argument '(.*)' is invalid\. It must be (.*)$/su,
    (_, flag = '', value = '', allowed = '') => [`${badValue(flag, value, allowed)}.`],
  ],
];

/** Rewrites a problem that commander found (`error: unknown option '--prot'`) as one line: what is wrong, and what to do. */
function usageProblem(text: string, command: Command): string {
  const problem = /^error: (.*?)\.?$/su.exec(text.trim())?.[1];
  // A message of svc's own already states what is allowed.
  if (problem === undefined) return text.trim();
  const name = command.parent === null ? 'svc' : `svc ${command.name()}`;
  const sentences = [...rewrite(problem, command), `See "${name} --help".`];
  return sentences.filter((sentence) => sentence !== '').join(' ');
}

function rewrite(problem: string, command: Command): readonly string[] {
  for (const [pattern, sentences] of REWRITES) {
    const words = pattern.exec(problem);
    if (words !== null) return sentences(command, ...words.slice(1));
  }
  return [`${problem.replaceAll("'", '"').replaceAll(/\s*\n\s*/gu, ' ')}.`];
}

/** What other tools call the commands of svc. */
const OTHER_COMMANDS: ReadonlyMap<string, string> = new Map([
  ['build', 'check'],
  ['compile', 'check'],
  ['format', 'fmt'],
  ['generate', 'openapi'],
  ['lint', 'check'],
  ['new', 'init'],
  ['run', 'serve'],
  ['server', 'serve'],
  ['start', 'serve'],
  ['up', 'serve'],
  ['validate', 'check'],
]);

/** What other test runners call the option that selects tests. */
const OTHER_FILTERS: ReadonlySet<string> = new Set([
  '--filter',
  '--grep',
  '--match',
  '--only',
  '--pattern',
  '-f',
  '-g',
  '-k',
  '-t',
]);

function hintForFlag(command: Command, flag: string): string {
  if (OTHER_FILTERS.has(flag) && hasFlag(command, '--include'))
    return question(flag.startsWith('--') ? '--include' : '-i');
  const variable = variableOnly(flag);
  if (variable !== undefined) return `Set ${variable}: every user of a machine can read its command lines.`;
  const owners = command.commands.filter((each) => hasFlag(each, flag));
  const owner = owners.find((each) => each.name() === 'serve') ?? owners[0];
  if (owner !== undefined) return `Write it after a command: "svc ${owner.name()} ${flag}".`;
  const options = optionsOf(command);
  if (flag.startsWith('--'))
    return hintFor(
      flag,
      options.flatMap(({ long }) => long ?? []),
    );
  const short = options.find((option) => option.short?.toLowerCase() === flag.toLowerCase())?.short;
  const long = options.find((option) => option.long?.startsWith(`-${flag.slice(0, 2).toLowerCase()}`))?.long;
  return question(short ?? long);
}

/** The variable of a setting that has no flag, if a flag for it would have this name. */
function variableOnly(flag: string): string | undefined {
  const settings: readonly Setting<unknown>[] = Object.values(SETTINGS);
  const variables = settings.flatMap((setting) => (setting.flag === undefined ? setting.variable : []));
  return variables.find((variable) => variable === `SVC_${flag.slice(2).toUpperCase()}`);
}

function hasFlag(command: Command, flag: string): boolean {
  return optionsOf(command).some(({ long }) => long === flag);
}

function optionsOf(command: Command): readonly Option[] {
  return command.createHelp().visibleOptions(command);
}

function hintForCommand(command: Command, name: string): string {
  if (hasFlag(command, `--${name}`)) return question(`--${name}`);
  const near = hintFor(
    name,
    command.commands.map((each) => each.name()),
  );
  const other = OTHER_COMMANDS.get(name);
  if (other !== undefined) return question(other);
  return near === '' && existsSync(name) ? `To serve this path, run ${JSON.stringify(`svc dev ${name}`)}.` : near;
}

/** A typo in a command line has one correction, unlike one in a definition file. */
function hintFor(wanted: string, names: readonly string[]): string {
  return question(nearestNames(wanted, names)[0]);
}

function question(name: string | undefined): string {
  return name === undefined ? '' : `Did you mean "${name}"?`;
}
