import { ok, type Result } from '../../base/result.ts';
import type { ClientType } from '../../schema/client.ts';
import type { DefinitionIndex } from '../../schema/program.ts';
import type { Failure } from '../../schema/failure.ts';
import type { PromptClient } from '../../schema/message.ts';
import type { ClientSource } from '../model/client-options.ts';
import {
  createModelClient,
  createPromptClient,
  type ClientRequester,
  type ClientServices,
  type CreatedClient,
} from '../model/create-model-client.ts';
import type { ClientCatalogue } from '../model/strategies/client-plan.ts';
import type { CallOptions } from './call-options.ts';
import type { JsonValue } from '../../base/json.ts';

type Creation = Result<CreatedClient, Failure>;

/**
 * The clients of the definition files. Each is created once and kept, since it depends only on the server's environment.
 * A client that a request changes is created for that request alone.
 */
export class ClientDirectory {
  readonly #definitions: DefinitionIndex;
  readonly #env: Readonly<Record<string, string>>;
  readonly #services: ClientServices;
  readonly #shorthands: ReadonlySet<string>;
  readonly #made = new WeakMap<ClientType, Creation>();
  readonly #ofFiles = new Map<string, ClientSource>();

  constructor(parts: {
    readonly definitions: DefinitionIndex;
    readonly env: Readonly<Record<string, string>>;
    readonly services: ClientServices;
    /** The shorthands that the files name. */
    readonly shorthands: ReadonlySet<string>;
  }) {
    const { definitions } = parts;
    this.#definitions = definitions;
    this.#env = parts.env;
    this.#services = parts.services;
    this.#shorthands = parts.shorthands;
    for (const definition of definitions.clients.values()) {
      this.#ofFiles.set(definition.name, { definition, from: 'files' });
    }
  }

  /** The clients that one request can name; its own take precedence. */
  catalogue(options?: CallOptions): ClientCatalogue {
    const own = new Map<string, ClientSource>();
    for (const definition of options?.clients ?? []) own.set(definition.name, { definition, from: 'request' });
    return {
      find: (name) => own.get(name) ?? this.#ofFiles.get(name),
      names: () => [...[...own.keys()].filter(isSuggested), ...this.#ofFiles.keys()],
      shorthands: this.#shorthands,
      policy: (name) => this.#definitions.retryPolicies.get(name),
      environment: { server: this.#env, ...(options === undefined ? {} : { request: options.env }) },
    };
  }

  /** The client of a definition, for one request. */
  client(source: ClientSource, requester: ClientRequester): Creation {
    const made = this.#made.get(source.definition) ?? this.#make(source, requester);
    if (source.from === 'request' || !changes(requester, made)) return made;
    return createModelClient(source, requester, this.#services);
  }

  /** True if all calls share the client: it comes from the files, and the request changes no variable that it reads. */
  isShared(source: ClientSource, requester: ClientRequester): boolean {
    if (source.from === 'request') return false;
    return !changes(requester, this.#made.get(source.definition) ?? this.#make(source, requester));
  }

  /** The client of a definition as prompts see it, which needs no credentials. */
  prompt(source: ClientSource, requester: ClientRequester): Result<PromptClient, Failure> {
    const made = this.client(source, requester);
    if (made.ok) return ok(made.value.client.prompt);
    return made.failure.code === 'missing_credential' ? createPromptClient(source, requester) : made;
  }

  /** The entry of a request's own definition lives as long as the request, because the map is weak. */
  #make(source: ClientSource, requester: ClientRequester): Creation {
    const server: ClientRequester = { environment: { server: this.#env }, privateUrls: false };
    const made = createModelClient(source, source.from === 'request' ? requester : server, this.#services);
    this.#made.set(source.definition, made);
    return made;
  }
}

/** True if a request changes variables of a client, so that it needs one of its own. */
function changes({ environment: { request } }: ClientRequester, made: Creation): boolean {
  if (request === undefined || request.size === 0) return false;
  return !made.ok || made.value.variables.some((variable) => request.has(variable));
}

/** The distance between two names costs the product of their lengths, and a request can send long ones. */
const LONGEST_SUGGESTION = 32;

function isSuggested(name: string): boolean {
  return name.length <= LONGEST_SUGGESTION;
}

/** A client that a caller defines: as in definition files, but with plain values in its options. */
export interface RegisteredClient {
  readonly name: string;
  readonly provider: string;
  readonly options: Readonly<Record<string, JsonValue>>;
  readonly retry_policy?: string;
}

/** The registry as it appears in the options of a request. */
interface RegistryOptions {
  readonly clients: readonly RegisteredClient[];
  readonly primary?: string;
}

/**
 * Clients for single calls, in addition to those of the definition files. A client with the name of a defined one
 * replaces it, including where a fallback or round-robin client lists it. svc checks a client when a call uses it.
 */
export class ClientRegistry {
  readonly #clients = new Map<string, RegisteredClient>();
  #primary: string | undefined;

  /**
   * Adds a client, or replaces the one of that name. `retryPolicy` names a policy of the definition files. Values of
   * `options` are used unchanged: `env.X` is an ordinary string here.
   */
  addLlmClient(
    name: string,
    provider: string,
    options: Readonly<Record<string, JsonValue>> = {},
    retryPolicy?: string,
  ): this {
    const retry = retryPolicy === undefined ? {} : { retry_policy: retryPolicy };
    this.#clients.set(name, { name, provider, options, ...retry });
    return this;
  }

  /**
   * Selects the one client to call, instead of the function's own. It builds no fallback chain: to fall back, add a
   * client of provider `fallback` with a `strategy` list and select that.
   */
  setPrimary(name: string): this {
    this.#primary = name;
    return this;
  }

  toOptions(): RegistryOptions {
    const primary = this.#primary === undefined ? {} : { primary: this.#primary };
    return { clients: [...this.#clients.values()], ...primary };
  }
}
