import { SHORTEST_SECRET } from '../base/credentials.ts';
import { err, ok, type Result } from '../base/result.ts';
import type { Config } from '../config/config.ts';
import { loadConfig } from '../config/load-config.ts';
import { createLogger } from '../logging/create-logger.ts';
import { Redactor } from '../logging/redactor.ts';
import type { DefinitionProblem } from '../schema/program.ts';
import { runPrimary, type Reloaded, type ServerSignals } from '../server/primary.ts';
import type { DefinitionSecrets } from './definition-secrets.ts';
import type { Invocation } from './invocation.ts';
import { packageInfo } from './package-info.ts';
import { CompiledProgram, ProgramCompiler } from './program-compiler.ts';
import { ServeReporter, type ReloadReporter, type ReporterParts } from './serve-reporter.ts';
import type { ExitCode } from './terminal.ts';

/** What `svc serve` and `svc dev` get from their process. */
export interface ServeProcess {
  readonly signals: ServerSignals;
  /** The entry file of the threads that compile. */
  readonly compileThread: URL;
}

/** A server that is to start. */
export interface Serving extends Invocation, ServeProcess {
  /** The directory, or the one file, of the definitions. */
  readonly path: string;
  readonly program: CompiledProgram;
  readonly secrets: DefinitionSecrets;
  /** By default, one that writes to the log. */
  readonly createReporter?: (parts: ReporterParts) => ReloadReporter;
}

/** Serves a program, and those of reloads, until a signal arrives. */
export async function serveProgram(serving: Serving): Promise<ExitCode> {
  const { path, program, secrets, signals, terminal } = serving;
  const config = { ...withDefinitionSecrets(serving.config, secrets), from: path };
  const redactor = new Redactor(config.secrets);
  const logger = createLogger(config, { redactor });
  const createReporter = serving.createReporter ?? ((parts) => new ServeReporter(parts));
  const reporter = createReporter({
    config,
    logger,
    print: (line) => terminal.out.write(`${line}\n`),
    printError: (line) => terminal.error.write(`${redactor.redact(line)}\n`),
  });
  const code = await runPrimary(config, program, {
    logger,
    signals,
    version: packageInfo().version,
    reporter,
    reload: () => reload(serving, config, reporter),
  });
  return code === 0 ? 0 : 1;
}

/**
 * Reloads the definitions, and the variables that they and the providers read. Settings keep their values: a running
 * server cannot change its port or its number of workers.
 */
async function reload(
  { flags, defaults, compileThread }: Serving,
  config: Config,
  reporter: ReloadReporter,
): Promise<Result<Reloaded, readonly DefinitionProblem[]>> {
  const loaded = loadConfig(flags, { defaults });
  if (!loaded.ok) {
    reporter.unreadable(loaded.failure.message);
    return err([{ message: loaded.failure.message }]);
  }
  const compiler = new ProgramCompiler(compileThread);
  const compiled = await compiler.compile(config, reporter.output);
  if (!compiled.ok) {
    reporter.unreadable(compiled.failure);
    return err([{ message: compiled.failure }]);
  }
  reporter.compiled(compiled.value);
  const { problems, program } = compiled.value;
  if (program === undefined) return err(problems);
  const { env, secrets } = withDefinitionSecrets(loaded.value.config, program.secrets);
  // The old secrets are still in use: a reload does not change the key that callers send.
  const all = new Set([...config.secrets, ...secrets]);
  return ok({ program: new CompiledProgram(program, compiler), env, secrets: longestFirst(all) });
}

/** Adds the values of the variables, and the credentials, to the secrets of the configuration. */
export function withDefinitionSecrets(config: Config, { variables, credentials }: DefinitionSecrets): Config {
  const values = [...variables.map((variable) => config.env[variable] ?? ''), ...credentials];
  const found = values.filter((value) => value.length >= SHORTEST_SECRET);
  return { ...config, secrets: longestFirst(new Set([...config.secrets, ...found])) };
}

/** The redactor replaces longer secrets first, because a secret can contain a shorter one. */
function longestFirst(secrets: ReadonlySet<string>): readonly string[] {
  return [...secrets].toSorted((a, b) => b.length - a.length);
}
