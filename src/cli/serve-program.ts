import { SHORTEST_SECRET } from '../base/credentials.ts';
import { err, ok, type Result } from '../base/result.ts';
import { type Config, hostInUrl, pageAddress } from '../config/config.ts';
import { loadConfig } from '../config/load-config.ts';
import { createLogger } from '../logging/create-logger.ts';
import { Redactor } from '../logging/redactor.ts';
import type { DefinitionProblem } from '../schema/program.ts';
import {
  runPrimary,
  type Reloaded,
  type ServerSignals,
  type ReloadOutcome,
  type ServableProgram,
  type ServerReporter,
  type StartedServer,
} from '../server/primary.ts';
import type { SaveTest } from '../server/supervisor.ts';
import type { DefinitionSecrets } from './definition-secrets.ts';
import type { Invocation } from './invocation.ts';
import { packageInfo } from './package-info.ts';
import type { PriceNote } from './price-note.ts';
import { CompiledProgram, ProgramCompiler } from './program-compiler.ts';
import type { ExitCode } from './terminal.ts';
import type { LogFields, Logger } from '../logging/logger.ts';
import type { CompiledDefinitions, CompileOutput } from './compile-task.ts';
import { counted } from '../base/amounts.ts';

/** What `svc serve` and `svc dev` get from their process. */
export interface ServeProcess {
  readonly signals: ServerSignals;
  /** The entry file of the threads that compile. */
  readonly compileThread: URL;
}

export interface Serving extends Invocation, ServeProcess {
  /** The directory, or the one file, of the definitions. */
  readonly path: string;
  readonly program: CompiledProgram;
  readonly secrets: DefinitionSecrets;
  readonly priceNote: PriceNote | undefined;
  /** By default, one that writes to the log. */
  readonly createReporter?: (parts: ReporterParts) => ReloadReporter;
  /** Absent: the playground cannot write tests. */
  readonly saveTest?: SaveTest;
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
    priceNote: serving.priceNote,
    print: (line) => terminal.out.write(`${line}\n`),
    printError: (line) => terminal.error.write(`${redactor.redact(line)}\n`),
  });
  const code = await runPrimary(config, program, {
    logger,
    signals,
    version: packageInfo().version,
    reporter,
    saveTest: serving.saveTest,
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

/** Reports the events of a server, and those of the compilations that reload it. */
export interface ReloadReporter extends ServerReporter {
  /** The parts of `compiled` that it needs. */
  readonly output: CompileOutput;
  /** The settings, `.env` or the definitions cannot be read, for this reason: a sentence. */
  unreadable(reason: string): void;
  compiled(compiled: CompiledDefinitions): void;
}

export interface ReporterParts {
  readonly config: Config;
  readonly logger: Logger;
  /** What to report about the prices at the start. */
  readonly priceNote?: PriceNote | undefined;
  readonly print: (line: string) => void;
  readonly printError: (line: string) => void;
}

const LOGGED_CONTENT: Readonly<Record<Config['logContent'], string>> = {
  none: 'neither arguments nor answers',
  short: 'arguments and answers, up to 2 KB of each; --log-content none leaves them out',
  full: 'arguments and answers in full; --log-content none leaves them out',
};

function servingLine({ logContent }: Config): string {
  return `serving; request lines contain ${LOGGED_CONTENT[logContent]}`;
}

const FOR_CALLERS_OF_BAML =
  "for callers of BAML's server: stream events are wrapped in partial_result and final_result, and svc refuses unknown " +
  'arguments; docs/migrating-from-baml.md lists all differences';

/**
 * Reports for `svc serve`: prints one line when it serves, and logs everything else, because the terminal can be gone. A start has at
 * most seven lines.
 */
export class ServeReporter implements ReloadReporter {
  readonly output = { style: { colour: false, everyWarning: false }, types: false };
  readonly #parts: ReporterParts;

  constructor(parts: ReporterParts) {
    this.#parts = parts;
  }

  started({ port, program, transport, warnings }: StartedServer): void {
    const { config, logger, priceNote, print } = this.#parts;
    const functions = `${counted(program.functions, 'function')} from ${JSON.stringify(config.from)}`;
    const served = `${functions}, ${counted(config.workers, 'worker')}, ${transport}`;
    const pages = [['docs', '/docs'], ...(config.playground ? [['playground', '/playground']] : [])] as const;
    const links = pages.map(([name = '', path = '']) => `${name} at ${pageAddress(config, port, path)}`);
    print(`svc: listening on http://${hostInUrl(config.host)}:${port} (${served}), ${links.join(', ')}`);
    for (const warning of warnings) logger.warn({}, warning);
    logger.info(this.#settings(transport), servingLine(config));
    if (priceNote !== undefined) logger[priceNote.level]({}, priceNote.text);
    if (program.fromBaml) logger.info({}, FOR_CALLERS_OF_BAML);
  }

  /** The settings that a reader of the log needs first. */
  #settings(transport: StartedServer['transport']): LogFields {
    const { config } = this.#parts;
    return {
      transport,
      workers: config.workers,
      authMode: config.apiKey === undefined && config.keyFile?.keys === undefined ? 'none' : 'key',
      keys: config.keyFile?.keys?.length,
      clientRegistry: config.clientRegistry,
      logContent: config.logContent,
      logSample: config.logSample === 1 ? undefined : config.logSample,
      slowMs: config.slowMs === 0 ? undefined : config.slowMs,
      metricsPort: config.metricsPort,
      playground: config.playground ? true : undefined,
      telemetry: config.telemetry && (['traces', 'metrics'] as const).filter((signal) => config.telemetry?.[signal]),
    };
  }

  notStarted(reason: string): void {
    this.#parts.printError(`svc: ${reason}`);
  }

  unreadable(reason: string): void {
    const { config, logger } = this.#parts;
    logger.error({ from: config.from }, `reload: ${reason}`);
  }

  compiled({ program, report }: CompiledDefinitions): void {
    const { config, logger } = this.#parts;
    const { from } = config;
    if (program === undefined) logger.error({ from, report }, 'reload: the definitions have errors');
    else if (report !== '') logger.warn({ from, report }, 'reload: the definitions have warnings');
  }

  reloaded(outcome: ReloadOutcome, program: ServableProgram | undefined): void {
    const { logger } = this.#parts;
    const fields = { program: program?.hash };
    if (outcome === 'invalid') logger.warn({}, 'the definitions have errors; svc keeps the old ones');
    else if (outcome === 'unchanged') logger.info({}, 'the definitions did not change');
    else if (outcome === 'served') logger.info(fields, 'all workers serve the new definitions');
    else logger.error(fields, 'no worker could serve the new definitions; the old ones stay');
  }
}
