import type { Result } from '../../../base/result.ts';
import { err, ok } from '../../../base/result.ts';
import type { Failure } from '../../../schema/errors.ts';
import type { MissingSecret } from '../providers/provider.ts';
import type { Environment, VariableRead } from './resolve-options.ts';
import { readVariable } from './resolve-options.ts';

/** Options that decide where a request goes. */
const URL_OPTIONS = new Set(['base_url', 'resource_name', 'endpoint_url', 'location', 'region']);

/**
 * Credentials belong to the host for which they were declared: a value of the server's own environment is sent only
 * where the definition files, or the provider's default, lead. What a request brings itself may go anywhere.
 */
export class CredentialRule {
  readonly #client: string;
  readonly #environment: Environment;
  /** The request decides where this client's calls go. */
  readonly #leadsElsewhere: boolean;
  /** Whether the files, or the provider's default, send this variable to the client's host. */
  readonly #declared: (variable: string) => boolean;

  constructor(options: {
    readonly client: string;
    readonly environment: Environment;
    readonly leadsElsewhere: boolean;
    readonly declared: (variable: string) => boolean;
  }) {
    this.#client = options.client;
    this.#environment = options.environment;
    this.#leadsElsewhere = options.leadsElsewhere;
    this.#declared = options.declared;
  }

  /** The first of the variables that the client reads and may not have, as a failure. */
  check(reads: readonly VariableRead[]): Failure | undefined {
    for (const read of reads) {
      if (read.value === undefined) return missing(this.#client, read.variable);
      if (!this.#mayUse(read)) return withheld(this.#client, read.variable);
    }
    return undefined;
  }

  /** The value of a provider's default variable. */
  key(variable: string): Result<string, Failure> {
    const read = readVariable(this.#environment, variable, 'api_key');
    if (read.value === undefined) return err(missing(this.#client, variable));
    return this.#mayUse(read) ? ok(read.value) : err(withheld(this.#client, variable));
  }

  /** A secret that may be there; undefined when it is not, or is not for this client's host. */
  secret(variable: string): string | undefined {
    const read = readVariable(this.#environment, variable, 'api_key');
    return this.#mayUse(read) ? read.value : undefined;
  }

  /** The same for what names a file or a service of the server: a request's own value does not count. */
  ofServer(variable: string): string | undefined {
    const read = readVariable(this.#environment, variable, 'api_key');
    return read.source === 'server' && this.#mayUse(read) ? read.value : undefined;
  }

  /** The failure of a credential that a provider did not find, or could not use. */
  missing({ missing: variable, because }: MissingSecret): Failure {
    return because === undefined ? missing(this.#client, variable) : unusable(this.#client, variable, because);
  }

  #mayUse(read: VariableRead): boolean {
    if (!this.#leadsElsewhere || read.source === 'request' || URL_OPTIONS.has(read.option)) return true;
    return this.#declared(read.variable);
  }
}

/** A request's own variable is part of what decides where the calls go. */
export function requestDecidesUrl(reads: readonly VariableRead[]): boolean {
  return reads.some((read) => read.source === 'request' && URL_OPTIONS.has(read.option));
}

function missing(client: string, variable: string): Failure {
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
    message: `The client "${client}" leads to a host for which the server's ${variable} was not declared, so that key is not sent there and an API key is missing. Give the client an "api_key" of its own, or send ${variable} in "env"`,
    client,
    variable,
  };
}
