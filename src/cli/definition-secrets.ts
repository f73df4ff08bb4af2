import { credentialsIn } from '../base/credentials.ts';
import type { Config } from '../config/config.ts';
import { resolveValue, variablesIn, type ClientType } from '../schema/client.ts';
import type { Definitions, TestType } from '../schema/program.ts';
import { PROVIDER_DESCRIPTIONS } from '../schema/providers/providers.ts';

export interface DefinitionSecrets {
  readonly variables: readonly string[];
  /** Credentials that the definitions contain. */
  readonly credentials: readonly string[];
}

/**
 * Finds all variables that clients read with `env.X`, except for those of public options, and the credentials that the
 * definitions contain. A variable with a key can have any name, so every variable that a client sends to a provider counts.
 */
export function definitionSecrets({ clients }: Definitions): DefinitionSecrets {
  // An offline client sends nothing, and its replies are data.
  const calling = clients.filter(({ provider }) => provider !== 'offline');
  const credentials = calling.flatMap(({ options }) => {
    const literals = Object.fromEntries(options.map(({ key, value }) => [key, resolveValue(value, () => null)]));
    return [...credentialsIn(literals)];
  });
  return { variables: calling.flatMap(secretVariables), credentials };
}

/**
 * Returns the credentials that prompts, replies and errors of tests can contain: those of clients, and the values of variables
 * that tests or providers read and that look like credentials. Other variables are not part of a test, and their values can be
 * ordinary words.
 */
export function testSecrets(
  { env, secrets, apiKey = '' }: Config,
  definitions: Definitions,
  tests: readonly TestType[],
): readonly string[] {
  const { variables, credentials } = definitionSecrets(definitions);
  const facts = definitions.clients.flatMap(({ provider }) => PROVIDER_DESCRIPTIONS[provider].http ?? []);
  const known = new Set(secrets);
  const valueOf = (variable: string): string => env[variable] ?? '';
  const keys = [...variables, ...facts.flatMap(({ keyVariable }) => keyVariable ?? [])].map(valueOf);
  const others = [
    ...facts.flatMap((http) => http.variables ?? []),
    ...tests.flatMap(({ args }) => args.flatMap(({ value }) => variablesIn(value))),
  ].map(valueOf);
  return [...new Set([...keys, ...others.filter((value) => known.has(value)), ...credentials, apiKey])];
}

function secretVariables({ provider, options }: ClientType): readonly string[] {
  const described = PROVIDER_DESCRIPTIONS[provider].options;
  const isPublic = (key: string): boolean => Object.hasOwn(described, key) && described[key]?.public === true;
  return options.filter(({ key }) => !isPublic(key)).flatMap(({ value }) => variablesIn(value));
}
