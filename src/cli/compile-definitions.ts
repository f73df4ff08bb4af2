import { readdirSync } from 'node:fs';
import { err, ok, type Result } from '../base/result.ts';
import type { CompileOptions } from '../compiler/compile-options.ts';
import { compile, type CompileResult } from '../compiler/compile.ts';
import { isDefinitionFile, readSources, type Sources } from '../compiler/read-sources.ts';
import { doorLinks, type Config } from '../config/config.ts';
import { DEFAULT_DIRECTORIES } from '../config/settings.ts';
import type { Program } from '../schema/program.ts';
import type { Invocation } from './invocation.ts';
import { packageInfo } from './package-info.ts';
import { prettyReport, reportStyle, summaryLine } from './pretty-report.ts';
import { priceNote } from './price-note.ts';
import { reportProblem, type Terminal } from './terminal.ts';

/** A compiled directory of definitions. There is a program unless a diagnostic is an error. */
export interface Compiled extends Sources, CompileResult {}

/** Reads and compiles the definitions that the configuration names. Returns an error message if they cannot be read. */
export function compileDefinitions(config: Config): Result<Compiled, string> {
  const sources = readDefinitions(config);
  if (!sources.ok) return sources;
  return ok({ ...sources.value, ...compile(sources.value.files, compileOptions(config)) });
}

/** Reads the definitions that the configuration names, or returns an error message for the user. */
export function readDefinitions({ from }: Config): Result<Sources, string> {
  if (from !== undefined) return readSources(from);
  const places = DEFAULT_DIRECTORIES.map((directory) => `"${directory}"`).join(' nor ');
  const here = readdirSync('.').find((name) => isDefinitionFile(name));
  const advice =
    here === undefined
      ? 'Pass the directory of your definitions as an argument, or run "svc init" to write a first function.'
      : `To read "${here}" and the files next to it, pass "." as an argument.`;
  return err(`found no definitions: neither ${places} exists in "${process.cwd()}". ${advice}`);
}

/** A command that does not read the key file assumes that it has keys. */
function requiresKey({ apiKey, keyFile, keys }: Config): boolean {
  return apiKey !== undefined || (keyFile === undefined ? keys !== undefined : keyFile.keys !== undefined);
}

/** The part of the configuration that the compiler reads. */
export function compileOptions(config: Config): CompileOptions {
  return {
    version: packageInfo().version,
    versionCheck: config.versionCheck,
    beta: config.features.includes('beta'),
    apiKey: requiresKey(config),
    limits: config.keys !== undefined,
    basePath: config.basePath,
    title: config.title,
    doors: doorLinks(config),
    examples: config.playground,
    playground: config.playground,
    ...(config.apiVersion !== undefined && { apiVersion: config.apiVersion }),
    variables: config.env,
  };
}

/**
 * Compiles the definitions of a command that runs them, and prints their problems, and the prices that match none of their models.
 * `clients`: those that the command names beside the definitions. The failure is a sentence that begins with
 * `nothing`, if they have errors, or the reason why they cannot be read.
 */
export function compileToRun(
  config: Config,
  { error }: Terminal,
  nothing: string,
  clients: readonly string[] = [],
): Result<Compiled & { readonly program: Program }, string> {
  const compiled = compileDefinitions(config);
  if (!compiled.ok) return compiled;
  const { program } = compiled.value;
  error.write(prettyReport(compiled.value, reportStyle(config, error)));
  if (program === undefined) return err(`${nothing}. ${summaryLine(compiled.value)}`);
  const note = priceNote(config, program, clients);
  if (note !== undefined) error.write(`svc: ${note.text}\n`);
  return ok({ ...compiled.value, program });
}

/** Compiles the definitions of a command that prints a part of the program. If they have errors, prints these and returns undefined. */
export function compileOrReport({ config, terminal }: Invocation): Program | undefined {
  const compiled = compileDefinitions(config);
  if (!compiled.ok) {
    reportProblem(terminal, compiled.failure);
    return undefined;
  }
  const { program } = compiled.value;
  if (program === undefined) {
    terminal.error.write(prettyReport(compiled.value, { colour: terminal.error.colour, everyWarning: false }));
  }
  return program;
}
