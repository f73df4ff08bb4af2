import type { JsonObject } from '../../base/json.ts';
import type { PlaygroundClient, PlaygroundDocument, PlaygroundFunction } from '../../schema/playground-document.ts';

/** The client of a run. */
export type ClientChoice =
  /** The function's own. */
  | { readonly kind: 'own' }
  /** One of the definition files. */
  | { readonly kind: 'named'; readonly name: string }
  | CustomClient;

/** A client that the user defines. It stays in this tab. */
export interface CustomClient {
  readonly kind: 'custom';
  readonly provider: string;
  readonly model: string;
  readonly apiKey: string;
  readonly baseUrl: string;
}

export const OWN_CLIENT: ClientChoice = { kind: 'own' };

export const EMPTY_CUSTOM_CLIENT: CustomClient = {
  kind: 'custom',
  provider: 'openai',
  model: '',
  apiKey: '',
  baseUrl: '',
};

/** Values of variables that the user entered, by name. */
export type Keys = Readonly<Record<string, string>>;

/** The name of a custom client in requests. */
const CUSTOM_NAME = 'Playground';

/** The options of a request that select a client; undefined if it needs none. */
export function requestOptions(choice: ClientChoice, keys: Keys): JsonObject | undefined {
  const env = Object.fromEntries(Object.entries(keys).filter(([, value]) => value !== ''));
  const options = { ...selection(choice), ...(Object.keys(env).length > 0 && { env }) };
  return Object.keys(options).length === 0 ? undefined : options;
}

function selection(choice: ClientChoice): JsonObject {
  if (choice.kind === 'own') return {};
  if (choice.kind === 'named') return { client: choice.name };
  const { provider, model, apiKey, baseUrl } = choice;
  const options = {
    ...(model !== '' && { model }),
    ...(apiKey !== '' && { api_key: apiKey }),
    ...(baseUrl !== '' && { base_url: baseUrl }),
  };
  return { client_registry: { primary: CUSTOM_NAME, clients: [{ name: CUSTOM_NAME, provider, options }] } };
}

/** The body of a request: the arguments and the options. */
export function requestBody(args: JsonObject, options: JsonObject | undefined): JsonObject {
  return options === undefined ? args : { ...args, svc_options: options };
}

/** What a person calls the client. */
export function clientLabel(choice: ClientChoice, fn: PlaygroundFunction): string {
  if (choice.kind === 'own') return fn.client;
  return choice.kind === 'named' ? choice.name : `${choice.provider}/${choice.model}`;
}

/** The variables without which calls of the client fail, those of the members of a strategy included. */
export function missingVariables(
  choice: ClientChoice,
  fn: PlaygroundFunction,
  { clients }: PlaygroundDocument,
): readonly string[] {
  if (choice.kind === 'custom') return [];
  const byName = new Map(clients.map((client) => [client.name, client]));
  const found = new Set<string>();
  collectMissing(choice.kind === 'named' ? choice.name : fn.client, byName, { found, seen: new Set() });
  return [...found];
}

function collectMissing(
  name: string,
  clients: ReadonlyMap<string, PlaygroundClient>,
  { found, seen }: { readonly found: Set<string>; readonly seen: Set<string> },
): void {
  const client = clients.get(name);
  if (client === undefined || seen.has(name)) return;
  seen.add(name);
  if (client.missing !== undefined) found.add(client.missing);
  for (const member of client.members ?? []) collectMissing(member, clients, { found, seen });
}
