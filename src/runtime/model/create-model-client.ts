import type { Result } from '../../base/result.ts';
import { err, ok } from '../../base/result.ts';
import type { ClientType } from '../../schema/client.ts';
import type { Failure } from '../../schema/errors.ts';
import { invalidClientOptions } from './attempt-failure.ts';
import type { ClientRequester, ClientServices, ClientSource } from './client-source.ts';
import { createHttpClient, variablesOf } from './create-http-client.ts';
import type { ModelClient } from './model-client.ts';
import { createOfflineClient } from './offline/offline-client.ts';
import { CredentialRule } from './options/credential-rule.ts';
import { OptionReader } from './options/option-reader.ts';
import { resolveOptions } from './options/resolve-options.ts';
import type { VariableRead } from './options/resolve-options.ts';
import { HTTP_PROVIDERS } from './providers/providers.ts';

export interface CreatedClient {
  readonly client: ModelClient;
  /** Every variable that it depends on: what a request changes of these needs a client of its own. */
  readonly variables: readonly string[];
}

/** Makes the client of a definition (not of a strategy): resolves variables, reads options, finds the key. */
export function createModelClient(
  source: ClientSource,
  requester: ClientRequester,
  services: ClientServices,
): Result<CreatedClient, Failure> {
  const { definition } = source;
  const resolved = resolveOptions(definition.options, requester.environment);
  const failure = unsetVariable(definition, requester, resolved.reads);
  if (failure !== undefined) return err(failure);
  const variables = resolved.reads.map((read) => read.variable);
  const reader = new OptionReader(resolved.values);
  if (definition.provider === 'offline') {
    const client = createOfflineClient(definition.name, reader, services.offline);
    return reader.faults.length > 0
      ? err(invalidClientOptions(definition.name, reader.faults))
      : ok({ client, variables });
  }
  const provider = HTTP_PROVIDERS[definition.provider];
  if (provider === undefined) return err(unsupported(definition));
  const made = createHttpClient({ source, provider, resolved, reader, requester, services });
  if (!made.ok) return made;
  return ok({ client: made.value, variables: [...variables, ...variablesOf(provider)] });
}

function unsetVariable(
  definition: ClientType,
  requester: ClientRequester,
  reads: readonly VariableRead[],
): Failure | undefined {
  const unset = reads.find((read) => read.value === undefined);
  if (unset === undefined) return undefined;
  const rule = new CredentialRule({
    client: definition.name,
    environment: requester.environment,
    leadsElsewhere: false,
    declared: () => true,
  });
  return rule.check([unset]);
}

function unsupported(definition: ClientType): Failure {
  return {
    code: 'client_error',
    message: `The client "${definition.name}" names the provider "${definition.provider}", which this version cannot ask`,
    client: definition.name,
    attempts: [],
  };
}
