import type { Config } from '../config/config.ts';
import type { OptionEntry, OptionValue } from '../schema/client.ts';
import type { Program } from '../schema/program.ts';

/** Options that name places and models, not credentials. */
const PLAIN_OPTIONS: ReadonlySet<string> = new Set(['base_url', 'model', 'region', 'location', 'project_id']);

/** Shorter values are no credentials, and would tear holes into ordinary log lines. */
const MIN_LENGTH = 6;

/**
 * The configuration with more secrets: the values of all variables that the clients read with `env.X`. A variable that
 * holds a key may have any name; that a client sends it to its provider tells what it is.
 */
export function withDefinitionSecrets(config: Config, program: Program): Config {
  const secrets = new Set(config.secrets);
  for (const variable of program.clients.flatMap((client) => variablesIn(client.options))) {
    const value = config.env[variable];
    if (value !== undefined && value.length >= MIN_LENGTH) secrets.add(value);
  }
  return { ...config, secrets: [...secrets].toSorted((a, b) => b.length - a.length) };
}

function variablesIn(options: readonly OptionEntry[]): readonly string[] {
  return options.filter(({ key }) => !PLAIN_OPTIONS.has(key)).flatMap(({ value }) => variablesOf(value));
}

function variablesOf(value: OptionValue): readonly string[] {
  switch (value.kind) {
    case 'env':
      return [value.variable];
    case 'list':
      return value.items.flatMap(variablesOf);
    case 'map':
      return variablesIn(value.entries);
    case 'scalar':
      return [];
  }
}
