import { credentialsIn } from '../../base/credentials-in.ts';
import type { Config, SettingValues } from '../../config/config.ts';
import { loadConfig } from '../../config/load-config.ts';
import { createLogger } from '../../logging/create-logger.ts';
import type { ServiceLogger } from '../../logging/create-logger.ts';
import type { ClientType, OptionValue } from '../../schema/client.ts';
import { PROVIDER_DESCRIPTIONS } from '../../schema/providers/providers.ts';
import type { Program } from '../../schema/program.ts';
import { runPrimary, type Reloaded } from '../../server/primary.ts';
import type { ProcessSignals } from '../../server/process-signals.ts';
import { compileDefinitions } from '../compile-definitions.ts';
import type { Compiled } from '../compile-definitions.ts';
import type { Invocation } from '../invocation.ts';
import { packageInfo } from '../package-info.ts';
import { prettyReport, summaryLine } from '../pretty-report.ts';
import { reportProblem } from '../terminal.ts';
import type { ExitCode, Terminal } from '../terminal.ts';

/** `svc serve`: compiles, binds, then serves until a signal arrives. Binds nothing if a definition has an error. */
export async function serveCommand(
  { config, flags, terminal }: Invocation,
  signals: ProcessSignals,
): Promise<ExitCode> {
  const compiled = compileForServing(config, terminal);
  if (compiled?.program === undefined) return 1;
  const { path, program } = compiled;
  const fullConfig = { ...withDefinitionSecrets(config, program), from: path };
  const logger = createLogger(fullConfig);
  const code = await runPrimary(fullConfig, program, {
    logger,
    signals,
    version: packageInfo().version,
    validators: validatorCompiler,
    print: (line) => terminal.out.write(`${line}\n`),
    printError: (line) => terminal.error.write(`${line}\n`),
    reload: () => reload(flags, fullConfig, logger),
  });
  return code === 0 ? 0 : 1;
}

/** Reports all problems. Without a program, the server cannot start. */
function compileForServing(config: Config, terminal: Terminal): Compiled | undefined {
  const compiled = compileDefinitions(config);
  if (!compiled.ok) {
    reportProblem(terminal, compiled.failure);
    return undefined;
  }
  const everyWarning = config.features.includes('display_all_warnings');
  terminal.error.write(prettyReport(compiled.value, { colour: terminal.error.colour, everyWarning }));
  if (compiled.value.program === undefined) reportProblem(terminal, `not started. ${summaryLine(compiled.value)}`);
  return compiled.value;
}

/**
 * Reloads the definitions, and the variables that they and the providers read. Settings keep their values: a running
 * server cannot change its port or its number of workers. Problems go to the log, since the terminal can be gone.
 */
function reload(flags: Partial<SettingValues>, config: Config, logger: ServiceLogger): Reloaded | undefined {
  const loaded = loadConfig(flags);
  if (!loaded.ok) {
    logger.error({}, `reload: ${loaded.failure.message}`);
    return undefined;
  }
  const program = recompile(config, logger);
  if (program === undefined) return undefined;
  const { env, secrets } = withDefinitionSecrets(loaded.value.config, program);
  // The old secrets are still in use: a reload does not change the key that callers send.
  const all = new Set([...config.secrets, ...secrets]);
  return { program, env, secrets: longestFirst(all) };
}

function recompile(config: Config, logger: ServiceLogger): Program | undefined {
  const compiled = compileDefinitions(config);
  if (!compiled.ok) {
    logger.error({ from: config.from }, `reload: ${compiled.failure}`);
    return undefined;
  }
  const report = prettyReport(compiled.value, { colour: false, everyWarning: false });
  if (compiled.value.program === undefined) {
    logger.error({ from: config.from, report }, 'reload: the definitions have errors');
  } else if (report !== '') {
    logger.warn({ from: config.from, report }, 'reload: the definitions have warnings');
  }
  return compiled.value.program;
}

/** A shorter value is not a credential, and redacting it would make ordinary log lines unreadable. */
const MIN_SECRET_LENGTH = 6;

/**
 * Adds the values of all variables that clients read with `env.X` to the secrets of the configuration, except for those of
 * public options, and the credentials that the definitions contain. A variable with a key can have any name, so every
 * variable that a client sends to a provider counts as a secret.
 */
export function withDefinitionSecrets(config: Config, program: Program): Config {
  const secrets = new Set(config.secrets);
  for (const variable of program.clients.flatMap(secretVariables)) {
    const value = config.env[variable];
    if (value !== undefined && value.length >= MIN_SECRET_LENGTH) secrets.add(value);
  }
  for (const { options } of program.clients) {
    const literals = Object.fromEntries(options.map(({ key, value }) => [key, literalOf(value)]));
    for (const secret of credentialsIn(literals)) if (secret.length >= MIN_SECRET_LENGTH) secrets.add(secret);
  }
  return { ...config, secrets: longestFirst(secrets) };
}

/** The order of redaction: otherwise a secret could hide inside another one. */
function longestFirst(secrets: ReadonlySet<string>): readonly string[] {
  return [...secrets].toSorted((a, b) => b.length - a.length);
}

/** The value as JSON data, without its variables. */
function literalOf(value: OptionValue): unknown {
  switch (value.kind) {
    case 'scalar':
      return value.value;
    case 'env':
      return null;
    case 'list':
      return value.items.map(literalOf);
    case 'map':
      return Object.fromEntries(value.entries.map((entry) => [entry.key, literalOf(entry.value)]));
  }
}

function secretVariables({ provider, options }: ClientType): readonly string[] {
  const described = PROVIDER_DESCRIPTIONS[provider].options;
  const isPublic = (key: string): boolean => Object.hasOwn(described, key) && described[key]?.public === true;
  return options.filter(({ key }) => !isPublic(key)).flatMap(({ value }) => variablesOf(value));
}

function variablesOf(value: OptionValue): readonly string[] {
  switch (value.kind) {
    case 'env':
      return [value.variable];
    case 'list':
      return value.items.flatMap(variablesOf);
    case 'map':
      return value.entries.flatMap((entry) => variablesOf(entry.value));
    case 'scalar':
      return [];
  }
}

/** AJV loads while the workers load their code, and compiles the validators of a function at its first call. */
function validatorCompiler(program: Program): (functionName: string) => Promise<string> {
  const loading = import('../../compiler/3-emit/validator-compiler.ts');
  const compiler = loading.then(({ ValidatorCompiler }) => new ValidatorCompiler(program));
  // Without a handler, a failure to load would end this process; the first call reports it.
  compiler.catch(() => undefined);
  return async (functionName) => (await compiler).source(functionName);
}
