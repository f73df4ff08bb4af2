import { invariant } from '../../base/invariant.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { Failure } from '../../schema/failure.ts';
import type { PromptClient } from '../../schema/message.ts';
import type { OFFLINE } from '../../schema/providers/offline.ts';
import type { OptionValues } from '../../schema/providers/option-shapes.ts';
import { readOptions } from '../../schema/providers/provider-description.ts';
import { PROVIDER_DESCRIPTIONS } from '../../schema/providers/providers.ts';
import { invalidClientOptions } from './attempt-failure.ts';
import { optionViolation } from './client-options.ts';
import type { ClientRequester, ClientServices, ClientSource } from './client-source.ts';
import { createHttpClient, promptClientOf, variablesOf } from './create-http-client.ts';
import { missingVariable } from './credential-rule.ts';
import { readVariable, resolveOptions } from './environment.ts';
import type { ModelClient } from './model-client.ts';
import { createOfflineClient, offlinePrompt } from './offline/offline-client.ts';
import { HTTP_PROVIDERS } from './providers/providers.ts';

export interface CreatedClient {
  readonly client: ModelClient;
  /** Every variable that it depends on: a request that changes one of these needs a client of its own. */
  readonly variables: readonly string[];
}

/** Creates the client of a definition (not of a strategy): resolves variables, reads the options, finds the key. */
export function createModelClient(
  source: ClientSource,
  requester: ClientRequester,
  services: ClientServices,
): Result<CreatedClient, Failure> {
  const { name, provider: providerName, options } = source.definition;
  const { values, reads } = resolveOptions(options, requester.environment);
  const unset = reads.find((each) => each.value === undefined);
  if (unset !== undefined) return err(missingVariable(name, unset.variable));
  const description = PROVIDER_DESCRIPTIONS[providerName];
  const read = readOptions(description, values, (variable) => readVariable(requester.environment, variable).value);
  if (read.violations.length > 0) return err(invalidClientOptions(name, read.violations.map(optionViolation)));
  const variables = reads.map(({ variable }) => variable);
  if (providerName === 'offline') {
    const own = read.values as OptionValues<typeof OFFLINE.options>;
    return ok({ client: createOfflineClient(name, own, services.offline), variables });
  }
  const { http } = description;
  const provider = HTTP_PROVIDERS[providerName];
  invariant(provider !== undefined && http !== undefined, 'a strategy has no client of its own');
  const created = createHttpClient({
    source,
    requester,
    services,
    description,
    http,
    provider,
    read,
    variables: reads,
  });
  return created.ok ? ok({ client: created.value, variables: [...variables, ...variablesOf(http)] }) : created;
}

/**
 * Describes a client to prompts even if it cannot be created because a variable is missing: options that read unset variables
 * count as absent.
 */
export function createPromptClient(source: ClientSource, requester: ClientRequester): Result<PromptClient, Failure> {
  const { name, provider: providerName, options } = source.definition;
  const { values, reads } = resolveOptions(options, requester.environment);
  const unset = new Set(reads.filter(({ value }) => value === undefined).map(({ option }) => option));
  const known = new Map([...values].filter(([key]) => !unset.has(key)));
  const description = PROVIDER_DESCRIPTIONS[providerName];
  const read = readOptions(description, known, (variable) => readVariable(requester.environment, variable).value);
  const violations = read.violations.filter(({ kind }) => kind !== 'missing');
  if (violations.length > 0) return err(invalidClientOptions(name, violations.map(optionViolation)));
  const { http } = description;
  const provider = HTTP_PROVIDERS[providerName];
  if (http === undefined || provider === undefined) return ok(offlinePrompt(name));
  return ok(promptClientOf({ source, description, http, provider, read, variables: reads }));
}
