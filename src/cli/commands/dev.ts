import type { Config } from '../../config/config.ts';
import { DefinitionWatcher } from '../../dev/watch-definitions.ts';
import { Redactor } from '../../logging/redactor.ts';
import type { ServerSignals } from '../../server/primary.ts';
import type { CompiledContent, CompiledDefinitions } from '../compile-task.ts';
import { DevReporter } from '../dev-reporter.ts';
import type { Invocation } from '../invocation.ts';
import { CompiledProgram, ProgramCompiler } from '../program-compiler.ts';
import type { ServeProcess } from '../serve-program.ts';
import { reportProblem, type ExitCode } from '../terminal.ts';

/**
 * `svc dev`: serves with one worker, and reloads the definitions whenever a file is saved. Definitions with errors are reported
 * and never served: the server keeps the last good ones, and waits for the first good ones before it starts.
 */
export async function devCommand(invocation: Invocation, serveProcess: ServeProcess): Promise<ExitCode> {
  const { config } = invocation;
  const watcher = config.from === undefined ? undefined : new DefinitionWatcher(watchedPaths(config, config.from));
  try {
    const compiler = new ProgramCompiler(serveProcess.compileThread);
    const compiled = await firstProgram(invocation, { compiler, watcher, stop: serveProcess.signals.stop });
    if (typeof compiled === 'number') return compiled;
    return await serve({ ...invocation, ...serveProcess }, compiled, { compiler, watcher });
  } finally {
    watcher?.close();
  }
}

/** A program that has no errors, and where it is from. */
type Servable = Pick<CompiledDefinitions, 'path'> & { readonly program: CompiledContent };

interface Watching {
  readonly compiler: ProgramCompiler;
  /** Absent if there is nothing to watch. */
  readonly watcher: DefinitionWatcher | undefined;
}

function watchedPaths(
  { dotenv, dotenvPath }: Config,
  from: string,
): ConstructorParameters<typeof DefinitionWatcher>[0] {
  return { from, files: dotenv ? [dotenvPath ?? '.env'] : [] };
}

/** Compiles until there are no errors. Returns an exit code if the definitions cannot be read, or if a signal arrives. */
async function firstProgram(
  { config, options, terminal }: Invocation,
  { compiler, watcher, stop }: Watching & Pick<ServerSignals, 'stop'>,
): Promise<Servable | ExitCode> {
  const style = { colour: terminal.error.colour, everyWarning: config.features.includes('display_all_warnings') };
  for (;;) {
    const compiled = await compiler.compile(config, { style, types: options['types'] !== undefined });
    if (!compiled.ok) return reportProblem(terminal, new Redactor(config.secrets).redact(compiled.failure));
    const { path, program, report, summary } = compiled.value;
    terminal.error.write(report);
    if (program !== undefined) return { path, program };
    if (watcher === undefined) return 1;
    terminal.out.write(`${summary}. svc starts once you have fixed and saved ${JSON.stringify(path)}.\n`);
    const changed = new Promise<'changed'>((resolve) => watcher.onChange(() => resolve('changed')));
    if ((await Promise.race([changed, stop])) !== 'changed') return 0;
  }
}

async function serve(
  serving: Invocation & ServeProcess,
  { path, program }: Servable,
  { compiler, watcher }: Watching,
): Promise<ExitCode> {
  const { serveProgram } = await import('../serve-program.ts');
  const { options, terminal } = serving;
  const types =
    typeof options['types'] === 'string' ? { path: options['types'], text: program.types ?? '' } : undefined;
  const open = options['open'] === true;
  let reporter: DevReporter | undefined;
  return serveProgram({
    ...serving,
    path,
    secrets: program.secrets,
    program: new CompiledProgram(program, compiler),
    createReporter: (parts) => (reporter = new DevReporter(parts, terminal, { types, open })),
    signals: {
      stop: serving.signals.stop,
      onReload: (reload) => {
        serving.signals.onReload(reload);
        watcher?.onChange((paths) => {
          reporter?.changed(paths);
          reload();
        });
      },
    },
  });
}
