import type { CompileOptions } from '../compiler/compile-options.ts';
import type { Config } from '../config/config.ts';
import { packageInfo } from './package-info.ts';

/** What the compiler has to know of the configuration. */
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
