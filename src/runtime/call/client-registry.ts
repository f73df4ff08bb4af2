import type { JsonValue } from '../../base/json.ts';

/** A client that a caller defines: as in definition files, but with plain values in its options. */
export interface RegisteredClient {
  readonly name: string;
  readonly provider: string;
  readonly options: Readonly<Record<string, JsonValue>>;
  readonly retry_policy?: string;
}

/** The registry as it appears in the options of a request. */
export interface RegistryOptions {
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
