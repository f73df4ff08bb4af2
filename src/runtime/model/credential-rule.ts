import type { Result } from '../../base/result.ts';
import { err, ok } from '../../base/result.ts';
import type { ClientType } from '../../schema/client.ts';
import type { Failure } from '../../schema/errors.ts';
import type { OptionTable } from '../../schema/providers/option-shapes.ts';
import { readOptions } from '../../schema/providers/provider-description.ts';
import { PROVIDER_DESCRIPTIONS } from '../../schema/providers/providers.ts';
import type { CallEnvironment, VariableRead } from './environment.ts';
import { readVariable, resolveOptions } from './environment.ts';
import type { MissingSecret } from './providers/provider.ts';

/**
 * Which of the server's variables the definition files send to which host, and each provider's default variable to its
 * own service: the facts that the credentials rule needs.
 */
export class DeclaredHosts {
  readonly #byVariable = new Map<string, Set<string>>();
  readonly #origins = new Set<string>();

  constructor(clients: readonly ClientType[], server: CallEnvironment['server']) {
    for (const { http } of Object.values(PROVIDER_DESCRIPTIONS)) {
      if (http?.defaultUrl === undefined || http.keyVariable === undefined) continue;
      const { origin } = new URL(http.defaultUrl);
      this.#origins.add(origin);
      this.#declare(http.keyVariable, origin);
    }
    for (const client of clients) this.#addClient(client, server);
  }

  /** The files, or the provider itself, send this variable to that host. */
  has(variable: string, origin: string): boolean {
    return this.#byVariable.get(variable)?.has(origin) === true;
  }

  /** The files name this host, or it is a provider's own service. */
  names(origin: string): boolean {
    return this.#origins.has(origin);
  }

  #addClient(client: ClientType, server: CallEnvironment['server']): void {
    const description = PROVIDER_DESCRIPTIONS[client.provider];
    const { http } = description;
    if (http === undefined) return;
    const resolved = resolveOptions(client.options, { server });
    const { values, violations } = readOptions(
      description,
      resolved.values,
      (variable) => readVariable({ server }, variable).value,
    );
    // An address from a variable that is not set breaks the shape of a URL.
    if (violations.length > 0) return;
    const { origin } = new URL(http.url(values));
    this.#origins.add(origin);
    for (const read of resolved.reads) this.#declare(read.variable, origin);
    if (values['api_key'] === undefined && http.keyVariable !== undefined) this.#declare(http.keyVariable, origin);
    for (const variable of http.variables ?? []) this.#declare(variable, origin);
  }

  #declare(variable: string, origin: string): void {
    const origins = this.#byVariable.get(variable) ?? new Set();
    origins.add(origin);
    this.#byVariable.set(variable, origins);
  }
}

/**
 * Credentials belong to the host for which they were declared: svc sends a value of the server's own environment only
 * to hosts that the definition files, or the provider's default, name. A request's own values can go anywhere.
 */
export class CredentialRule {
  readonly #client: string;
  readonly #environment: CallEnvironment;
  readonly #options: OptionTable;
  /** The request decides where this client's calls go. */
  readonly #leadsElsewhere: boolean;
  /** Whether the files, or the provider's default, send this variable to the client's host. */
  readonly #declared: (variable: string) => boolean;

  constructor(parts: {
    readonly client: string;
    readonly environment: CallEnvironment;
    readonly options: OptionTable;
    readonly leadsElsewhere: boolean;
    readonly declared: (variable: string) => boolean;
  }) {
    this.#client = parts.client;
    this.#environment = parts.environment;
    this.#options = parts.options;
    this.#leadsElsewhere = parts.leadsElsewhere;
    this.#declared = parts.declared;
  }

  /** The failure for the first variable that the client reads but must not use. */
  check(reads: readonly VariableRead[]): Failure | undefined {
    const denied = reads.find((read) => !this.#mayUse(read));
    return denied === undefined ? undefined : withheld(this.#client, denied.variable);
  }

  /** The value of a provider's default variable. */
  key(variable: string): Result<string, Failure> {
    const read = readVariable(this.#environment, variable, 'api_key');
    if (read.value === undefined) return err(missingVariable(this.#client, variable));
    return this.#mayUse(read) ? ok(read.value) : err(withheld(this.#client, variable));
  }

  /** A secret that need not exist; undefined also when it is not for this client's host. */
  secret(variable: string): string | undefined {
    const read = readVariable(this.#environment, variable, 'api_key');
    return this.#mayUse(read) ? read.value : undefined;
  }

  /** The same for a file or a service of the server: a request's own value does not count. */
  ofServer(variable: string): string | undefined {
    const read = readVariable(this.#environment, variable, 'api_key');
    return read.source === 'server' && this.#mayUse(read) ? read.value : undefined;
  }

  /** The failure of a credential that a provider did not find, or could not use. */
  missing({ missing: variable, because }: MissingSecret): Failure {
    return because === undefined ? missingVariable(this.#client, variable) : unusable(this.#client, variable, because);
  }

  #mayUse(read: VariableRead): boolean {
    if (!this.#leadsElsewhere || read.source === 'request' || decidesUrl(this.#options, read)) return true;
    return this.#declared(read.variable);
  }
}

/** One of the request's own variables is part of the address of the calls. */
export function requestDecidesUrl(options: OptionTable, reads: readonly VariableRead[]): boolean {
  return reads.some((read) => read.source === 'request' && decidesUrl(options, read));
}

function decidesUrl(options: OptionTable, { option }: VariableRead): boolean {
  return Object.hasOwn(options, option) && options[option]?.decidesUrl === true;
}

/** The failure of a client that needs a variable which is not set. */
export function missingVariable(client: string, variable: string): Failure {
  return {
    code: 'missing_credential',
    message: `The client "${client}" needs an API key or setting from the environment variable ${variable}, which is missing or empty. Set it for the server, or send it in "env" of the request's options`,
    client,
    variable,
  };
}

function unusable(client: string, variable: string, because: string): Failure {
  return {
    code: 'missing_credential',
    message: `The client "${client}" has no credentials: ${variable} ${because}`,
    client,
    variable,
  };
}

function withheld(client: string, variable: string): Failure {
  return {
    code: 'missing_credential',
    message: `The client "${client}" leads to a host for which the server's ${variable} was not declared, so svc does not send that key there, and an API key is missing. Give the client an "api_key" of its own, or send ${variable} in "env"`,
    client,
    variable,
  };
}
