import type { Command } from 'commander';
import type { Config } from '../../config/config.ts';
import { loadConfig } from '../../config/load-config.ts';
import { createLogger } from '../../logging/create-logger.ts';
import type { ServiceLogger } from '../../logging/create-logger.ts';
import type { Program } from '../../schema/program.ts';
import { runPrimary, type Reloaded } from '../../server/primary.ts';
import type { ProcessSignals } from '../../server/process-signals.ts';
import { compileDefinitions } from '../compile-definitions.ts';
import { withDefinitionSecrets } from '../definition-secrets.ts';
import { SERVE_SETTINGS, loadSettings } from '../load-settings.ts';
import { packageInfo } from '../package-info.ts';
import { flagValues } from '../setting-options.ts';
import { prettyReport, summaryLine } from '../pretty-report.ts';
import type { ExitCode, Terminal } from '../terminal.ts';

/** Compiles, then serves until a signal ends it. */
export async function serveDefinitions(
  command: Command,
  terminal: Terminal,
  signals: ProcessSignals,
): Promise<ExitCode> {
  const settings = loadSettings(command, SERVE_SETTINGS, terminal);
  if ('code' in settings) return settings.code;
  const program = compileForServing(settings.config, terminal);
  if (program === undefined) return 1;
  const config = withDefinitionSecrets(settings.config, program);
  const logger = createLogger(config);
  const code = await runPrimary(config, program, {
    logger,
    signals,
    version: packageInfo().version,
    print: (line) => terminal.out.write(`${line}\n`),
    printError: (line) => terminal.error.write(`${line}\n`),
    reload: () => reload(command, config, logger),
  });
  return code === 0 ? 0 : 1;
}

/** Undefined after the user was told what is wrong. */
function compileForServing(config: Config, terminal: Terminal): Program | undefined {
  const compiled = compileDefinitions(config);
  if (!compiled.ok) {
    terminal.error.write(`svc: ${compiled.failure}\n`);
    return undefined;
  }
  const everyWarning = config.features.includes('display_all_warnings');
  terminal.error.write(prettyReport(compiled.value, { colour: terminal.error.colour, everyWarning }));
  if (compiled.value.program === undefined) terminal.error.write(`svc: not started. ${summaryLine(compiled.value)}\n`);
  return compiled.value.program;
}

/**
 * The definitions, and the variables that they and the providers read. Settings stay as they were at the start: a port or a
 * number of workers does not change under way. The terminal may be long gone, so problems go to the log.
 */
function reload(command: Command, config: Config, logger: ServiceLogger): Reloaded | undefined {
  const settings = loadConfig(flagValues(command, SERVE_SETTINGS));
  if (!settings.ok) {
    logger.error({}, `reload: ${settings.failure.message}`);
    return undefined;
  }
  const program = recompile(config, logger);
  if (program === undefined) return undefined;
  const { env, secrets } = withDefinitionSecrets(settings.value.config, program);
  // Those of the start are in force still: the key that callers send is not changed by a reload.
  const all = new Set([...config.secrets, ...secrets]);
  return { program, env, secrets: [...all].toSorted((a, b) => b.length - a.length) };
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
