import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { SETTINGS } from '../config/config.ts';
import type { SettingKey } from '../config/config.ts';
import { ProcessSignals } from '../server/process-signals.ts';
import { redactShapes } from '../logging/credential-shapes.ts';
import { addSettings, createInvocation } from './invocation.ts';
import type { Invocation, Presets } from './invocation.ts';
import { packageInfo } from './package-info.ts';
import { reportProblem } from './terminal.ts';
import { TEST_OPTIONS } from './test-options.ts';
import type { ExitCode, Terminal } from './terminal.ts';

interface CommandDescription {
  readonly name: string;
  readonly help: string;
  readonly options?: readonly Option[];
  readonly settings: readonly SettingKey[];
  readonly presets?: Presets;
  readonly run: (invocation: Invocation, compileThread: URL) => ExitCode | Promise<ExitCode>;
}

const COMPILE_SETTINGS = ['from', 'versionCheck', 'features', 'dotenv', 'dotenvPath'] as const;

/** The settings of a server that matter to the person who runs it for themselves. */
const DEV_SETTINGS = [
  'port',
  'host',
  'basePath',
  'title',
  'requestTimeoutMs',
  'streamTimeoutMs',
  'partialIntervalMs',
  'onLoss',
  'drainTimeoutMs',
  'apiKey',
  'clientRegistry',
  'trustLoopback',
  'allowPrivateUrls',
  'logLevel',
  'logFormat',
] as const;

/** Only this machine can connect, and its programs can name local models. */
const DEV_DEFAULTS = { host: '127.0.0.1', trustLoopback: 'true', logFormat: 'pretty', drainTimeoutMs: '10s' } as const;

/** Each command loads its own code: compiler and server take half a second, and help does not need them. */
const COMMANDS: readonly CommandDescription[] = [
  {
    name: 'serve',
    help: 'Serve the functions of the definition files over HTTP',
    settings: Object.keys(SETTINGS) as SettingKey[],
    run: async (invocation, compileThread) => {
      const signals = new ProcessSignals();
      const { serveCommand } = await import('./commands/serve.ts');
      return serveCommand(invocation, { signals, compileThread });
    },
  },
  {
    name: 'dev',
    help: 'Serve the functions to this machine while you write them, and reload the files that you save',
    options: [
      new Option(
        '--types <file>',
        'Write TypeScript types of the functions to this file after each reload, such as svc.d.ts',
      )
        .argParser(typeScriptPath)
        .helpGroup('Definitions:'),
      new Option('--open', 'Open the playground in a browser at the start (off by default)').helpGroup('HTTP:'),
    ],
    settings: [...COMPILE_SETTINGS, ...DEV_SETTINGS],
    presets: { fixed: { workers: 1, playground: true }, defaults: DEV_DEFAULTS },
    run: async (invocation, compileThread) => {
      const signals = new ProcessSignals();
      const { devCommand } = await import('./commands/dev.ts');
      return devCommand(invocation, { signals, compileThread });
    },
  },
  {
    name: 'check',
    help: 'Report every problem in the definition files',
    options: [formatOption('Format of the report', ['pretty', 'json', 'github', 'sarif'])],
    settings: COMPILE_SETTINGS,
    run: async (invocation) => (await import('./commands/check.ts')).checkCommand(invocation),
  },
  {
    name: 'test',
    help: 'Run the tests of the definition files',
    options: TEST_OPTIONS,
    settings: [...COMPILE_SETTINGS, 'requestTimeoutMs', 'onLoss'],
    presets: { manyPaths: true },
    run: async (invocation) => (await import('./commands/test.ts')).testCommand(invocation),
  },
  {
    name: 'fmt',
    help: 'Format the definition files',
    options: [
      new Option('--check', 'Change nothing; list the files that are not formatted, and exit with 1 if there are any'),
    ],
    settings: ['from', 'dotenv', 'dotenvPath'],
    run: async (invocation) => (await import('./commands/fmt.ts')).fmtCommand(invocation),
  },
  {
    name: 'init',
    help: 'Write sample definitions and a .env.example',
    settings: ['from', 'dotenv', 'dotenvPath'],
    run: async (invocation) => (await import('./commands/init.ts')).initCommand(invocation),
  },
  {
    name: 'openapi',
    help: 'Print the OpenAPI document of the functions',
    options: [formatOption('Format of the document', ['json', 'yaml'])],
    settings: [...COMPILE_SETTINGS, 'basePath', 'title', 'apiVersion'],
    run: async (invocation) => (await import('./commands/openapi.ts')).openapiCommand(invocation),
  },
  {
    name: 'types',
    help: 'Write TypeScript types of the functions',
    options: [
      new Option('--out <file>', 'Write to this file, such as svc.d.ts, instead of the terminal'),
      new Option('--watch', 'Write the file again whenever a definition file is saved'),
    ],
    settings: COMPILE_SETTINGS,
    run: async (invocation) => (await import('./commands/types.ts')).typesCommand(invocation),
  },
  {
    name: 'healthcheck',
    help: 'Check that the server on this machine is alive',
    settings: ['host', 'port', 'basePath', 'dotenv', 'dotenvPath'],
    run: async (invocation) => (await import('./commands/healthcheck.ts')).healthcheckCommand(invocation),
  },
];

/** The process that a command line runs in. */
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
  const program = createProgram(terminal, async ({ run, presets }, command) => {
    const invocation = createInvocation(command, terminal, presets);
    code = typeof invocation === 'number' ? invocation : await run(invocation, compileThread);
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (!isSystemError(error)) throw error;
    return reportProblem(terminal, redactShapes(error.message));
  }
}

/** The machine refused: a missing permission, a full disk, a missing folder. Not a bug, so it needs no stack trace. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'code' in error;
}

/** Runs a command that was found in the command line. */
type Start = (description: CommandDescription, command: Command) => Promise<void>;

function createProgram(terminal: Terminal, start: Start): Command {
  const program = new Command('svc')
    .description('Serves typed LLM functions, written in definition files, as HTTP endpoints.')
    .version(packageInfo().version, '-v, --version', 'Show the version')
    .helpCommand('help [command]', 'Show help for a command')
    .usage('<command> [options]');
  for (const description of COMMANDS) program.addCommand(createCommand(description, start));
  for (const command of [program, ...program.commands]) writeThrough(terminal, command);
  return program;
}

function createCommand(description: CommandDescription, start: Start): Command {
  const { name, help, options = [], settings, presets } = description;
  const command = new Command(name).description(help);
  for (const option of options) command.addOption(option);
  if (presets?.manyPaths === true)
    command.argument('[paths...]', 'The definition files, or files and directories inside them whose tests run');
  else if (settings.includes('from')) command.argument('[dir]', 'Directory of the definition files, or one file');
  return addSettings(command, settings, presets?.defaults).action(() => start(description, command));
}

/** Anything but a TypeScript file is probably one that the types must not replace, such as a definition file. */
function typeScriptPath(text: string): string {
  if (!/\.[cm]?ts$/u.test(text)) throw new InvalidArgumentError('It must be the path of a .ts file, such as svc.d.ts.');
  return text;
}

function formatOption(help: string, [first, ...others]: readonly [string, ...string[]]): Option {
  return new Option('--format <name>', help).choices([first, ...others]).default(first);
}

/** Without this, commander writes to the process's streams and ends the process. */
function writeThrough(terminal: Terminal, command: Command): void {
  command
    .helpOption('-h, --help', 'Show this help')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out.write(text),
      writeErr: (text) => terminal.error.write(text),
      getOutHasColors: () => terminal.out.colour,
      getErrHasColors: () => terminal.error.colour,
      outputError: (text, write) => write(`svc: ${usageProblem(text, command)}\n`),
    });
}

/** Joins a problem and a hint of commander (`error: unknown option '--prot'`, `(Did you mean --port?)`) in one line. */
function usageProblem(text: string, command: Command): string {
  const found = /^error: (?<problem>.*?)\.?(?:\n\((?<hint>Did you mean .*)\))?$/su.exec(text.trim())?.groups;
  // A message of our own already states what is allowed.
  if (found === undefined) return text.trim();
  const words = [`${found['problem'] ?? ''}.`, found['hint'] ?? ''].join(' ').trim().replaceAll("'", '"');
  const name = command.parent === null ? 'svc' : `svc ${command.name()}`;
  return `${words.replaceAll(/\s*\n\s*/gu, ' ')} See "${name} --help".`;
}
