import { indexDefinitions } from '../../schema/definition-index.ts';
import type { Program } from '../../schema/program.ts';
import { createModelClient } from './create-model-client.ts';
import { DeclaredHosts } from './credential-rule.ts';
import { ConnectionPools } from './http/connection-pools.ts';
import { cloudMachine } from './providers/cloud-machine.ts';
import { clientsOfFiles, Planner, singlePlans } from './strategies/client-plan.ts';

/** A client that functions use and that cannot work, because a variable is not set. */
export interface MissingCredential {
  readonly client: string;
  readonly variable: string;
  /** The message with which each of its calls fails. */
  readonly message: string;
}

/**
 * The clients whose calls fail with `missing_credential` unless requests bring the variable: of those that functions use, or
 * of `names`.
 */
export function missingCredentials(
  program: Program,
  env: Readonly<Record<string, string>>,
  names: Iterable<string> = program.functions.map((fn) => fn.client),
): readonly MissingCredential[] {
  const definitions = indexDefinitions(program);
  const environment = { server: env };
  const { clients, shorthands } = clientsOfFiles(program);
  const services = {
    pools: new ConnectionPools(env),
    declaredHosts: new DeclaredHosts(clients, env),
    offline: { answer: () => '' },
    machine: cloudMachine(),
  };
  const missing = new Map<string, MissingCredential>();
  const planner = new Planner({
    find: (wanted) => {
      const definition = definitions.clients.get(wanted);
      return definition === undefined ? undefined : { definition, from: 'files' };
    },
    names: () => definitions.clients.keys(),
    shorthands,
    policy: (wanted) => definitions.retryPolicies.get(wanted),
    environment,
  });
  for (const name of new Set(names)) {
    const plan = planner.plan(name);
    for (const { source } of plan.ok ? singlePlans(plan.value) : []) {
      const made = createModelClient(source, { environment, privateUrls: true }, services);
      if (!made.ok && made.failure.code === 'missing_credential') missing.set(made.failure.client, made.failure);
    }
  }
  return [...missing.values()].map(({ client, variable, message }) => ({ client, variable, message }));
}
