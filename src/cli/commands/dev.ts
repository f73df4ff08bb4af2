import { spawn } from 'node:child_process';
import { platform } from 'node:os';
import { type Config, pageAddress } from '../../config/config.ts';
import { DefinitionWatcher } from '../../dev/watch-definitions.ts';
import { Redactor } from '../../logging/redactor.ts';
import type { ServerSignals, ReloadOutcome, ServableProgram, StartedServer } from '../../server/primary.ts';
import type { CompiledContent, CompiledDefinitions } from '../compile-task.ts';
import { reportStyle } from '../pretty-report.ts';
import type { Invocation } from '../invocation.ts';
import { CompiledProgram, ProgramCompiler } from '../program-compiler.ts';
import type { ServeProcess, ReloadReporter, ReporterParts } from '../serve-program.ts';
import { reportProblem, type ExitCode, type Terminal } from '../terminal.ts';
import { counted } from '../../base/amounts.ts';
import { findSqlite } from '../../calls/sqlite-calls.ts';
import { writeTypesFile } from '../../dev/types/write-types.ts';

/**
 * `svc dev`: serves with one worker, and reloads the definitions whenever a file is saved. Definitions with errors are reported
 * and never served: the server keeps the last good ones, and waits for the first good ones before it starts.
 */
export async function devCommand(started: Invocation, serveProcess: ServeProcess): Promise<ExitCode> {
  const invocation = withUsableCalls(started);
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

/** `svc dev` also runs without SQLite: it keeps no calls then, and the playground states why. */
function withUsableCalls(invocation: Invocation): Invocation {
  const { config } = invocation;
  if (config.calls === 'off' || config.calls.kind !== 'sqlite' || findSqlite().ok) return invocation;
  return { ...invocation, config: { ...config, calls: 'off' } };
}

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
  const style = reportStyle(config, terminal.error);
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
    priceNote: program.priceNote,
    program: new CompiledProgram(program, compiler),
    // Definitions that change are compiled again, so the file of tests is read like any other.
    saveTest: async (call, name) => {
      const { saveInto } = await import('./calls.ts');
      return saveInto({ ...serving.config, from: path }, 'recordings', call, name);
    },
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

const BOLD = '1';
const DIM = '2';
const RED = '31';
const GREEN = '32';
const YELLOW = '33';
const CYAN = '36';

/** The file with the types of the functions that are served. */
interface TypesFile {
  readonly path: string;
  text: string;
}

interface DevOptions {
  readonly types: TypesFile | undefined;
  readonly open: boolean;
}

/** For `svc dev`: reports to the person at the terminal, with code frames, and writes the file with the types. */
class DevReporter implements ReloadReporter {
  readonly #parts: ReporterParts;
  readonly #terminal: Terminal;
  readonly output;
  readonly #types: TypesFile | undefined;
  readonly #open: boolean;
  #changedAt = performance.now();
  #summary = '';
  #failed = false;

  constructor(parts: ReporterParts, terminal: Terminal, { types, open }: DevOptions) {
    this.#parts = parts;
    this.#terminal = terminal;
    this.#types = types;
    this.#open = open;
    this.output = { style: { colour: terminal.error.colour, everyWarning: false }, types: types !== undefined };
  }

  started({ onLoopback, port, program, warnings }: StartedServer): void {
    const { config, print } = this.#parts;
    const from = JSON.stringify(config.from);
    const pages = ['playground', 'docs'] as const;
    const rows = pages.map((page) => [page, pageAddress(config, port, `/${page}`)]);
    if (this.#types !== undefined && this.#writeTypes() !== undefined) rows.push(['types', this.#types.path]);
    const served = `${counted(program.functions, 'function')} from ${from}`;
    print(
      [
        `${this.#paint(BOLD, 'svc dev')}: ${served}, listening on ${pageAddress(config, port, '')}\n`,
        ...rows.map(([name = '', place = '']) => `  ${name.padEnd(12)}${this.#paint(CYAN, place)}`),
        `\n${this.#paint(DIM, `Watching ${from}: save a file to reload it, press Ctrl+C to stop.`)}`,
      ].join('\n'),
    );
    const { priceNote } = this.#parts;
    if (priceNote !== undefined) print(this.#paint(priceNote.level === 'warn' ? YELLOW : DIM, priceNote.text));
    if (this.#open) this.#openPlayground(pageAddress(config, port, '/playground'));
    // On a loopback address, the warnings state what the programs of this machine can do, which their user knows.
    if (onLoopback) return;
    for (const warning of warnings) print(`${this.#paint(YELLOW, 'warning')} ${warning}`);
  }

  notStarted(reason: string): void {
    this.#parts.printError(`svc: ${reason}`);
  }

  /** A save arrived; its reload begins. */
  changed(paths: readonly string[]): void {
    this.#changedAt = performance.now();
    const [first = '', ...others] = paths;
    const more = others.length === 0 ? '' : ` and ${counted(others.length, 'other file')}`;
    this.#line(this.#paint(DIM, `${first}${more} changed`));
  }

  unreadable(reason: string): void {
    this.#summary = reason;
    this.#parts.printError(`${this.#paint(RED, 'error')} ${reason}`);
  }

  compiled({ program, report, summary }: CompiledDefinitions): void {
    this.#summary = summary;
    if (this.#types !== undefined && program?.types !== undefined) this.#types.text = program.types;
    // The thread has masked the credentials in code frames.
    if (report !== '') this.#terminal.error.write(report);
  }

  reloaded(outcome: ReloadOutcome, program: ServableProgram | undefined): void {
    const repaired = this.#failed && outcome === 'unchanged';
    this.#failed = outcome === 'invalid' || outcome === 'refused';
    const time = this.#paint(DIM, `(${Math.round(performance.now() - this.#changedAt)} ms)`);
    const reloaded = `${this.#paint(GREEN, 'reloaded')} ${counted(program?.functions ?? 0, 'function')} ${time}`;
    const kept = this.#paint(RED, 'not reloaded');
    if (outcome === 'served' || repaired) this.#line(reloaded);
    else if (outcome === 'unchanged') this.#line(this.#paint(DIM, 'no change in the definitions'));
    else if (outcome === 'refused') this.#line(`${kept}: the worker could not load the new definitions`);
    else this.#line(`${kept}: ${this.#summary.replace(/\.$/u, '')}. svc keeps serving the last good definitions.`);
    if (!this.#failed && this.#writeTypes() === true) this.#line(`wrote ${this.#types?.path ?? ''}`);
  }

  /** Returns whether the file changed. Undefined if there is none, or if it cannot be written: this reports it. */
  #writeTypes(): boolean | undefined {
    if (this.#types === undefined) return undefined;
    const written = writeTypesFile(this.#types.path, this.#types.text);
    if (written.ok) return written.value;
    this.#parts.printError(`${this.#paint(RED, 'error')} --types: ${written.failure}`);
    return undefined;
  }

  #openPlayground(address: string): void {
    const warn = (reason: string): void =>
      this.#parts.printError(`${this.#paint(YELLOW, 'warning')} --open: ${reason}; open ${address} yourself`);
    openPage(address, warn);
  }

  #line(text: string): void {
    this.#parts.print(`${this.#paint(DIM, new Date().toLocaleTimeString('en-GB'))} ${text}`);
  }

  #paint(code: string, text: string): string {
    return this.#terminal.out.colour ? `\u001B[${code}m${text}\u001B[0m` : text;
  }
}

/** The program that opens an address in the user's browser, and its arguments before the address. No shell reads them. */
const OPENERS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

const OTHER_OPENER = ['xdg-open'] as const;

/** Opens an address in the user's browser. Calls `onFailure` with the reason if that does not work; never throws. */
function openPage(address: string, onFailure: (reason: string) => void): void {
  const [program, ...args] = OPENERS[platform()] ?? OTHER_OPENER;
  // In a group of its own: Ctrl+C ends svc, not the browser.
  const child = spawn(program, [...args, address], { stdio: 'ignore', detached: true });
  child.once('error', () => onFailure(`"${program}" cannot be started`));
  child.once('exit', (code) => {
    if (code !== null && code !== 0) onFailure(`"${program}" ended with exit code ${code}`);
  });
  child.unref();
}
