import { err, ok, type Result } from '../../base/result.ts';
import type { ClientType } from '../../schema/client.ts';
import type { Failure } from '../../schema/failure.ts';
import type { OptionTable } from '../../schema/providers/option-shapes.ts';
import { readOptions } from '../../schema/providers/provider-description.ts';
import { PROVIDER_DESCRIPTIONS } from '../../schema/providers/providers.ts';
import { readVariable, resolveOptions, type CallEnvironment, type VariableRead } from './client-options.ts';
import { hostRefusal } from './http/address-guard.ts';
import type { MissingSecret } from './providers/provider.ts';

/** The target of a client by the server's own values, and the variables that it reads. */
interface OwnTarget {
  /** The base of all its URLs. */
  readonly url: string;
  readonly reads: readonly VariableRead[];
  readonly hasKey: boolean;
}

/** Undefined if the server's own values give no address. */
function ownTarget(client: ClientType, server: CallEnvironment['server']): OwnTarget | undefined {
  const description = PROVIDER_DESCRIPTIONS[client.provider];
  const { http, options } = description;
  if (http === undefined) return undefined;
  const resolved = resolveOptions(client.options, { server });
  const { values, violations } = readOptions(
    description,
    resolved.values,
    (variable) => readVariable({ server }, variable).value,
  );
  // An address from a variable that is not set breaks the shape of a URL. Other violations do not change the address.
  if (violations.some(({ path: [option] }) => decidesTarget(options, String(option)))) return undefined;
  return { url: http.url(values), reads: resolved.reads, hasKey: values['api_key'] !== undefined };
}

/** The base URL of a client of the definition files by the server's own values; undefined if these give none. */
export function ownUrl(client: ClientType, server: CallEnvironment['server']): string | undefined {
  return ownTarget(client, server)?.url;
}

/**
 * Which of the server's variables the definition files send to which host, and each provider's default variable to its
 * own service: the facts that the credentials rule needs.
 */
export class DeclaredHosts {
  readonly #byVariable = new Map<string, Set<string>>();
  readonly #urls = new Set<string>();

  /** `clients`: all that the files declare, and the shorthands that they name. */
  constructor(clients: readonly ClientType[], server: CallEnvironment['server']) {
    for (const { http } of Object.values(PROVIDER_DESCRIPTIONS)) {
      // A service on this machine (Ollama) is declared only if the files use it.
      if (http?.defaultUrl === undefined || isPrivate(http.defaultUrl)) continue;
      this.#urls.add(normalized(http.defaultUrl));
      if (http.keyVariable !== undefined) this.#declare(http.keyVariable, new URL(http.defaultUrl).origin);
    }
    for (const client of clients) this.#addClient(client, server);
  }

  /** The files, or the provider itself, send this variable to the host of that base URL. */
  has(variable: string, url: string): boolean {
    if (hidesPath(url) && !this.names(url)) return false;
    return this.#byVariable.get(variable)?.has(new URL(url).origin) === true;
  }

  /** The files name exactly this URL, or it is that of a provider's own service. */
  names(url: string): boolean {
    return this.#urls.has(normalized(url));
  }

  #addClient(client: ClientType, server: CallEnvironment['server']): void {
    const { http } = PROVIDER_DESCRIPTIONS[client.provider];
    const own = ownTarget(client, server);
    if (http === undefined || own === undefined) return;
    this.#urls.add(normalized(own.url));
    const { origin } = new URL(own.url);
    for (const read of own.reads) this.#declare(read.variable, origin);
    if (!own.hasKey && http.keyVariable !== undefined) this.#declare(http.keyVariable, origin);
    for (const variable of http.variables ?? []) this.#declare(variable, origin);
  }

  #declare(variable: string, origin: string): void {
    const origins = this.#byVariable.get(variable) ?? new Set();
    origins.add(origin);
    this.#byVariable.set(variable, origins);
  }
}

function isPrivate(url: string): boolean {
  return hostRefusal(new URL(url).hostname, 'public-only') !== undefined;
}

/** Returns the same string for two base URLs if an API path below them leads to the same URL. */
function normalized(url: string): string {
  return new URL(`${url}/path`).href;
}

/** A query or a fragment in a base URL takes the place of the API's path. */
export function hidesPath(url: string): boolean {
  return /[?#]/u.test(url);
}

interface RuleParts {
  readonly client: string;
  readonly environment: CallEnvironment;
  readonly options: OptionTable;
  /** The request decides to which origin this client's calls go. */
  readonly leadsElsewhere: boolean;
  /** Whether the files, or the provider's default, send this variable to the client's host. */
  readonly declared: (variable: string) => boolean;
}

/**
 * Credentials belong to the host for which they were declared: svc sends a value of the server's own environment only
 * to hosts that the definition files, or the provider's default, name, and a literal of the definition files only to the
 * origin of its client by the server's own values. A request's own values can go anywhere.
 */
export class CredentialRule {
  readonly #rule: RuleParts;

  constructor(parts: RuleParts) {
    this.#rule = parts;
  }

  /**
   * The failure for the first credential that the client must not use: a variable that it reads, or a literal of the
   * definition files (its path), if it has one.
   */
  check(reads: readonly VariableRead[], literal: string | undefined): Failure | undefined {
    if (this.#rule.leadsElsewhere && literal !== undefined) return literalWithheld(this.#rule.client, literal);
    const denied = reads.find((read) => !this.#mayUse(read));
    return denied === undefined ? undefined : withheld(this.#rule.client, denied.variable);
  }

  /** The value of a provider's default variable. */
  key(variable: string): Result<string, Failure> {
    const read = readVariable(this.#rule.environment, variable, 'api_key');
    if (read.value === undefined) return err(missingVariable(this.#rule.client, variable));
    return this.#mayUse(read) ? ok(read.value) : err(withheld(this.#rule.client, variable));
  }

  /** A secret that need not exist; undefined also when it is not for this client's host. */
  secret(variable: string): string | undefined {
    const read = readVariable(this.#rule.environment, variable, 'api_key');
    return this.#mayUse(read) ? read.value : undefined;
  }

  /** The same for a file or a service of the server: a request's own value does not count. */
  ofServer(variable: string): string | undefined {
    const read = readVariable(this.#rule.environment, variable, 'api_key');
    return read.source === 'server' && this.#mayUse(read) ? read.value : undefined;
  }

  /** The failure of a credential that a provider did not find, or could not use. */
  missing({ missing: variable, because }: MissingSecret): Failure {
    const { client } = this.#rule;
    if (because === undefined) return missingVariable(client, variable);
    return missingCredential(client, variable, `client "${client}" has no credentials: ${variable} ${because}`);
  }

  #mayUse(read: VariableRead): boolean {
    if (!this.#rule.leadsElsewhere || read.source === 'request' || decidesUrl(this.#rule.options, read)) return true;
    return this.#rule.declared(read.variable);
  }
}

function decidesUrl(options: OptionTable, { option }: VariableRead): boolean {
  return Object.hasOwn(options, option) && options[option]?.decidesUrl === true;
}

/** The option decides which URL or client a call reaches. */
export function decidesTarget(options: OptionTable, option: string): boolean {
  const description = Object.hasOwn(options, option) ? options[option] : undefined;
  return description?.decidesUrl === true || description?.decidesTarget === true;
}

function missingCredential(client: string, variable: string, text: string): Failure {
  return { code: 'missing_credential', message: `The ${text}`, client, variable };
}

/** The failure of a client that needs a variable which is not set. */
export function missingVariable(client: string, variable: string): Failure {
  const text = `client "${client}" needs an API key or setting from the environment variable ${variable}, which is missing or empty. Set it for the server, or send it in "env" of the request's options`;
  return missingCredential(client, variable, text);
}

function withheld(client: string, variable: string): Failure {
  const text = `client "${client}" leads to a host for which the server's ${variable} was not declared, so svc does not send that key there, and an API key is missing. Give the client an "api_key" of its own, or send ${variable} in "env"`;
  return missingCredential(client, variable, text);
}

function literalWithheld(client: string, variable: string): Failure {
  const text = `definition of the client "${client}" contains "${variable}" as a literal, which svc sends only to the host that the server's own values give. "env" of the request selects another host, so a credential is missing. Define a client with its own credentials in the request, or change the definition to read "${variable}" from a variable, and send that variable in "env"`;
  return missingCredential(client, variable, text);
}
