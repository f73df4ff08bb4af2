import { Command, CommanderError } from 'commander';
import { checkCommand } from './commands/check.ts';
import { fmtCommand } from './commands/fmt.ts';
import { healthcheckCommand } from './commands/healthcheck.ts';
import { initCommand } from './commands/init.ts';
import { openapiCommand } from './commands/openapi.ts';
import { serveCommand } from './commands/serve.ts';
import { packageInfo } from './package-info.ts';
import type { ExitCode, Terminal } from './terminal.ts';

/** A command that is ready to be added to the program; it reports its end through `finish`. */
export type DescribeCommand = (terminal: Terminal, finish: (code: ExitCode) => void) => Command;

const COMMANDS: readonly DescribeCommand[] = [
  serveCommand,
  checkCommand,
  fmtCommand,
  initCommand,
  openapiCommand,
  healthcheckCommand,
];

/** Runs one command line (without the program's name) and resolves to the exit code. Rejects for bugs alone. */
export async function runProgram(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let code: ExitCode = 0;
  const program = createProgram(terminal, (ended) => {
    code = ended;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (!isSystemError(error)) throw error;
    terminal.error.write(`svc: ${error.message}\n`);
    return 1;
  }
}

/** The machine said no: no permission, no space, no such folder. Not a bug, so it needs no stack trace. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'code' in error;
}

function createProgram(terminal: Terminal, finish: (code: ExitCode) => void): Command {
  const program = new Command('svc')
    .description('Serves typed LLM functions, written in definition files, as HTTP endpoints.')
    .version(packageInfo().version, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print what can be given')
    .helpCommand('help [command]', 'print what a command can be given')
    .usage('<command> [options]');
  for (const describe of COMMANDS) program.addCommand(describe(terminal, finish));
  for (const command of [program, ...program.commands]) speakThrough(command, terminal);
  return program;
}

/** Commander would print to the process and end it; both are ours to do. */
function speakThrough(command: Command, terminal: Terminal): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => terminal.out.write(text),
    writeErr: (text) => terminal.error.write(text),
    getOutHasColors: () => terminal.out.colour,
    getErrHasColors: () => terminal.error.colour,
    outputError: (text, write) => write(`${oneLine(text, command)}\n`),
  });
  if (command.parent !== null) command.helpOption('-h, --help', 'print what can be given');
}

/** `error: unknown option '--prot'`, a line break and `(Did you mean --port?)` become one line. */
function oneLine(text: string, command: Command): string {
  const words = text
    .trim()
    .replace(/^error: /u, '')
    .replaceAll("'", '"');
  const [problem = '', hint = ''] = words.split('\n');
  const suggestion = hint.replace(/^\((.*)\)$/u, ' $1');
  const name = command.parent === null ? 'svc' : `svc ${command.name()}`;
  return `svc: ${problem.replace(/\.$/u, '')}.${suggestion} See "${name} --help".`;
}
