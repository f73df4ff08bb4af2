import { open } from 'node:fs/promises';
import { readFault } from '../../config/environment.ts';
import { prettyLine, terminalLine } from '../../logging/readable-line.ts';
import type { Invocation } from '../invocation.ts';
import { reportProblem, type ExitCode } from '../terminal.ts';

/** `svc logs`: prints the JSON log lines of a server in the form of a terminal. Other lines stay unchanged. */
export async function logsCommand(invocation: Invocation): Promise<ExitCode> {
  const [path] = invocation.paths;
  try {
    return await printLines(invocation, path);
  } catch (error) {
    if (path === undefined || !(error instanceof Error && 'syscall' in error)) throw error;
    return reportProblem(invocation.terminal, `${JSON.stringify(path)} cannot be read: ${readFault(error)}`);
  }
}

async function printLines({ options, terminal }: Invocation, path: string | undefined): Promise<ExitCode> {
  const { colour } = terminal.out;
  const format = options['pretty'] === true ? prettyLine : terminalLine;
  let rest = '';
  for await (const text of await inputOf(path)) {
    const lines = `${rest}${String(text)}`.split('\n');
    rest = lines.pop() ?? '';
    terminal.out.write(lines.map((line) => format(line, colour)).join(''));
  }
  if (rest !== '') terminal.out.write(format(rest, colour));
  return 0;
}

async function inputOf(path: string | undefined): Promise<AsyncIterable<unknown>> {
  const stream = path === undefined ? process.stdin : (await open(path)).createReadStream();
  return stream.setEncoding('utf8');
}
