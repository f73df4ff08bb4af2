/** Returns the client registry of a request whose model is at `url`. */
export type MakeRegistry = (url: string) => Readonly<Record<string, unknown>>;

const MODEL = 'compat-model';
export const KEY = 'compat-key';

type MakeOptions = (url: string) => Readonly<Record<string, unknown>>;

/** The options with which a provider's client reaches the recording provider, where they are not the usual ones. */
const OPTIONS: Readonly<Record<string, MakeOptions>> = {
  'azure-openai': (url) => ({ base_url: url, api_key: KEY, api_version: '2024-10-01-preview' }),
  'aws-bedrock': (url) => ({
    endpoint_url: url,
    region: 'us-east-1',
    access_key_id: KEY,
    secret_access_key: KEY,
    model: MODEL,
  }),
  'vertex-ai': (url) => ({ base_url: url, model: MODEL, query_params: { key: KEY } }),
};

/** A registry whose primary client belongs to the provider. */
export function registryFor(provider: string): MakeRegistry {
  return (url) => ({ primary: 'Compat', clients: [clientOf('Compat', provider, url)] });
}

/** A registry that redirects the named clients and selects one client of the definition files. */
export function registryOf(primary: string, providers: ReadonlyMap<string, string>): MakeRegistry {
  return (url) => ({ primary, clients: [...providers].map(([name, provider]) => clientOf(name, provider, url)) });
}

function clientOf(name: string, provider: string, url: string): Readonly<Record<string, unknown>> {
  return { name, provider, options: optionsOf(provider, url) };
}

/** The options with which a provider's client reaches a server at `url`. */
export function optionsOf(provider: string, url: string): Readonly<Record<string, unknown>> {
  return OPTIONS[provider]?.(url) ?? { base_url: url, api_key: KEY, model: MODEL };
}
