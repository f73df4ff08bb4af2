import type { ClientType } from '../../schema/client.ts';
import { readClientOptions } from './options/client-options.ts';
import { OptionReader } from './options/option-reader.ts';
import { readVariable, resolveOptions } from './options/resolve-options.ts';
import type { Environment } from './options/resolve-options.ts';
import { HTTP_PROVIDERS } from './providers/providers.ts';

/**
 * Which of the server's variables the definition files send to which host, and each provider's default variable to
 * its own service: what the credentials rule goes by.
 */
export class DeclaredHosts {
  readonly #byVariable = new Map<string, Set<string>>();
  readonly #origins = new Set<string>();

  constructor(clients: readonly ClientType[], server: Environment['server']) {
    for (const provider of Object.values(HTTP_PROVIDERS)) {
      if (provider.defaultUrl === undefined || provider.keyVariable === undefined) continue;
      const { origin } = new URL(provider.defaultUrl);
      this.#origins.add(origin);
      this.#declare(provider.keyVariable, origin);
    }
    for (const client of clients) this.#addClient(client, server);
  }

  /** The files, or the provider itself, send this variable to that host. */
  has(variable: string, origin: string): boolean {
    return this.#byVariable.get(variable)?.has(origin) === true;
  }

  /** The host is one that the files name, or a provider's own service. */
  names(origin: string): boolean {
    return this.#origins.has(origin);
  }

  #addClient(client: ClientType, server: Environment['server']): void {
    const provider = HTTP_PROVIDERS[client.provider];
    if (provider === undefined) return;
    const resolved = resolveOptions(client.options, { server });
    if (resolved.reads.some((read) => read.option === 'base_url' && read.value === undefined)) return;
    const reader = new OptionReader(resolved.values);
    const options = readClientOptions(reader);
    const { url } = provider.connect(options, reader, (variable) => settingOf(server, variable));
    if (reader.faults.length > 0) return;
    const { origin } = new URL(url);
    this.#origins.add(origin);
    for (const read of resolved.reads) this.#declare(read.variable, origin);
    if (options.apiKey === undefined && provider.keyVariable !== undefined) this.#declare(provider.keyVariable, origin);
    for (const variable of provider.variables ?? []) this.#declare(variable, origin);
  }

  #declare(variable: string, origin: string): void {
    const origins = this.#byVariable.get(variable) ?? new Set();
    origins.add(origin);
    this.#byVariable.set(variable, origins);
  }
}

function settingOf(server: Environment['server'], variable: string): string | undefined {
  return readVariable({ server }, variable, '').value;
}
