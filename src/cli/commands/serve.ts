import type { Config } from '../../config/config.ts';
import { Redactor } from '../../logging/redactor.ts';
import type { CompiledDefinitions } from '../compile-task.ts';
import { reportStyle } from '../pretty-report.ts';
import { endAhead, forkAhead } from '../../server/worker-processes.ts';
import type { Invocation } from '../invocation.ts';
import { CompiledProgram, ProgramCompiler } from '../program-compiler.ts';
import type { ServeProcess } from '../serve-program.ts';
import { reportProblem, type ExitCode, type Terminal } from '../terminal.ts';

/** `svc serve`: compiles, binds, then serves until a signal arrives. Binds nothing if a definition has an error. */
export async function serveCommand(invocation: Invocation, serveProcess: ServeProcess): Promise<ExitCode> {
  const { config, terminal } = invocation;
  const compiler = new ProgramCompiler(serveProcess.compileThread);
  const compiling = compileForServing(config, compiler, terminal);
  // The server and the workers load while the thread compiles.
  forkAhead(config);
  try {
    const [compiled, { serveProgram }] = await Promise.all([compiling, import('../serve-program.ts')]);
    if (compiled?.program === undefined) return 1;
    const { path, program } = compiled;
    const { priceNote, secrets } = program;
    const served = new CompiledProgram(program, compiler);
    return await serveProgram({ ...invocation, ...serveProcess, path, priceNote, secrets, program: served });
  } finally {
    endAhead();
  }
}

/** Reports all problems. Without a program, the server cannot start. */
async function compileForServing(
  config: Config,
  compiler: ProgramCompiler,
  terminal: Terminal,
): Promise<CompiledDefinitions | undefined> {
  const compiled = await compiler.compile(config, { style: reportStyle(config, terminal.error), types: false });
  if (!compiled.ok) {
    reportProblem(terminal, new Redactor(config.secrets).redact(compiled.failure));
    return undefined;
  }
  terminal.error.write(compiled.value.report);
  if (compiled.value.program === undefined) reportProblem(terminal, `not started. ${compiled.value.summary}`);
  return compiled.value;
}
