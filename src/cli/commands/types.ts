import { writeTypesFile, writeTypes } from '../../dev/types/write-types.ts';
import { DefinitionWatcher } from '../../dev/watch-definitions.ts';
import { compileOrReport } from '../compile-definitions.ts';
import type { Invocation } from '../invocation.ts';
import { reportProblem, type ExitCode } from '../terminal.ts';

/**
 * `svc types`: writes the TypeScript types of the definitions, and with `--watch` again after each save. Returns 1 if errors in
 * the definitions prevent that; a file that exists stays as it is.
 */
export async function typesCommand(invocation: Invocation): Promise<ExitCode> {
  const { config, options, terminal } = invocation;
  if (options['watch'] !== true) return write(invocation);
  if (config.from === undefined || typeof options['out'] !== 'string') {
    terminal.error.write('svc: --watch needs definitions, and --out with the file to write\n');
    return 2;
  }
  const watcher = new DefinitionWatcher({ from: config.from, files: [] });
  write(invocation);
  terminal.error.write(`Watching ${JSON.stringify(config.from)}: press Ctrl+C to stop.\n`);
  watcher.onChange(() => void write(invocation));
  // A signal ends the process.
  return new Promise(() => {});
}

function write(invocation: Invocation): ExitCode {
  const program = compileOrReport(invocation);
  if (program === undefined) return 1;
  const text = writeTypes(program);
  const { options, terminal } = invocation;
  const { out } = options;
  if (typeof out !== 'string') {
    terminal.out.write(text);
    return 0;
  }
  const written = writeTypesFile(out, text);
  return written.ok ? 0 : reportProblem(terminal, written.failure);
}
