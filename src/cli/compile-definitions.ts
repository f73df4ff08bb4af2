import { err, ok } from '../base/result.ts';
import type { Result } from '../base/result.ts';
import type { CompileOptions } from '../compiler/compile-options.ts';
import { compile } from '../compiler/compile.ts';
import { readSources } from '../compiler/read-sources.ts';
import type { Config } from '../config/config.ts';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { SourceFile } from '../diagnostics/source-file.ts';
import type { Program } from '../schema/program.ts';
import { packageInfo } from './package-info.ts';

/** A compiled directory of definitions. There is a program unless a diagnostic is an error. */
export interface Compiled {
  readonly files: readonly SourceFile[];
  readonly diagnostics: readonly Diagnostic[];
  readonly program?: Program;
}

/** Reads and compiles the directory of the configuration. Fails with a sentence if it cannot be read. */
export function compileDefinitions(config: Config): Result<Compiled, string> {
  const files = readSources(config.from);
  if (!files.ok) return err(files.failure);
  const { diagnostics, program } = compile(files.value, compileOptions(config));
  return ok({ files: files.value, diagnostics, ...(program === undefined ? {} : { program }) });
}

/** The part of the configuration that the compiler reads. */
export function compileOptions(config: Config): CompileOptions {
  return {
    version: packageInfo().version,
    versionCheck: config.versionCheck,
    beta: config.features.includes('beta'),
    apiKey: config.apiKey !== undefined,
    basePath: config.basePath,
    variables: config.env,
  };
}
