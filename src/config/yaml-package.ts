import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';

const load = createRequire(import.meta.url);

/** Loads the package `yaml` at its first use: most commands, and users of the library who pass no file, do not need it. */
export function yamlPackage(): typeof Yaml {
  return load('yaml') as typeof Yaml;
}
