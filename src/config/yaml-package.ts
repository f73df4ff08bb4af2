import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';

const load = createRequire(import.meta.url);

/** Loads the package `yaml` on first use, because most commands, and library users who pass no file, do not need it. */
export function yamlPackage(): typeof Yaml {
  return load('yaml') as typeof Yaml;
}
