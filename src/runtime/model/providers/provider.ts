import type { OptionTable, OptionValues } from '../../../schema/providers/option-shapes.ts';
import type { MediaUrls } from '../../../schema/providers/provider-description.ts';
import type { ClientOptions } from '../client-options.ts';
import type { ConnectionPools } from '../http/connection-pools.ts';
import type { WireProtocol } from '../http-model-client.ts';
import type { ReplyFormat } from '../wire/reply-format.ts';
import type { CloudMachine } from './cloud-credential.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';
import type { StructuredForm } from '../../../schema/providers/structured-output.ts';
import type { StructuredOutput } from '../../../schema/structured-output.ts';

/** The wire code of a provider that svc reaches over HTTP. Its facts are in `schema/providers`. */
export interface HttpProvider {
  connect(client: ClientSetup): Connection;
  /** Loads the modules that its calls need besides connections, so that the first call does not wait for them. */
  load?(): void;
}

/** The checked options of one client. */
export interface ClientSetup<O extends OptionTable = OptionTable> {
  readonly options: ClientOptions;
  /** All options that the description of the provider lists. */
  readonly values: OptionValues<O>;
  /** The base of all its URLs, without a slash at the end. */
  readonly url: string;
  /** The format that `client_response_type` names, in place of the provider's own. */
  readonly format: ReplyFormat | undefined;
}

/** The way from one client to its provider, all but the key. */
export interface Connection {
  /** Some models accept fewer roles, or cannot stream. */
  readonly roles?: readonly string[];
  readonly defaultRole?: string;
  readonly streams?: false;
  /** In place of the provider's own handling of media URLs. */
  readonly mediaUrls?: MediaUrls;
  /** `apiKey` is undefined when the provider needs none and the client gives none. */
  protocol(apiKey: string | undefined, access: ProviderAccess): WireProtocol | MissingSecret;
}

/** The services and secrets that a protocol can use besides the key. */
export interface ProviderAccess {
  /**
   * Secrets of the environment that belong together. They come from one place: when a request brings or removes one of
   * them, the server provides none.
   */
  readonly secrets: (variables: readonly string[]) => SecretGroup;
  /** A variable that names a file or a service of the server: no request changes it. */
  readonly ofServer: (variable: string) => string | undefined;
  /** Call this with each secret that a file or a service returned, so that no error or log shows it. */
  readonly hide: (secret: string) => void;
  /** A variable that is not a secret. */
  readonly setting: (variable: string) => string | undefined;
  readonly pools: ConnectionPools;
  /** The cloud whose machine the server runs on, if any. */
  readonly machine: CloudMachine | undefined;
  /** The credentials in the client's options come from the files or the server, so they can name files of the server. */
  readonly trusted: boolean;
}

export interface SecretGroup {
  /** The request decides: nothing of the server's replaces a secret that it does not bring. */
  readonly ofRequest: boolean;
  /** Undefined when the variable is not set, or not for this host. */
  readonly get: (variable: string) => string | undefined;
}

/** A credential that is missing or unusable, by the variable that would contain it. */
export interface MissingSecret {
  readonly missing: string;
  /** The reason why an existing one is unusable: completes a sentence that begins with the variable. */
  readonly because?: string;
}

/** Headers of every call of one client, flat: the provider's, then the client's own, which win. */
export function requestHeaders(
  options: ClientOptions,
  provided: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const all = new Map<string, string>([
    ['content-type', 'application/json'],
    ['accept', '*/*'],
  ]);
  for (const [name, value] of Object.entries(provided)) if (value !== undefined) all.set(name, value);
  for (const [name, value] of options.headers) all.set(name, value);
  // svc decompresses no reply, whatever a client's headers ask for.
  all.set('accept-encoding', 'identity');
  return [...all].flat();
}

/**
 * Path and query of a URL below the client's base, with its `query_params`: each replaces the first parameter of its name
 * in the base, and removes further ones. The query is written once, because each change of a URL writes all of it again.
 */
export function requestPath(
  baseUrl: string,
  suffix: string,
  { queryParams }: Pick<ClientOptions, 'queryParams'>,
): string {
  const url = new URL(baseUrl + suffix);
  if (queryParams.size === 0) return url.pathname + url.search;
  const added = new Map(queryParams);
  const query: [string, string][] = [];
  for (const [name, own] of url.searchParams) {
    const replaced = queryParams.get(name);
    const value = replaced === undefined ? own : added.get(name);
    if (value !== undefined) query.push([name, value]);
    added.delete(name);
  }
  return `${url.pathname}?${new URLSearchParams([...query, ...added]).toString()}`;
}

/** Adds the schema of the reply to the members of a request body, in the form of the provider. */
export function withStructure(
  members: JsonObject,
  { structured }: Pick<ClientOptions, 'structured'>,
  output: StructuredOutput | undefined,
): JsonObject {
  if (structured === undefined || output === undefined) return members;
  return { ...members, ...structuredMembers(structured.kind, output, members) };
}

/** The description of the tool, if the class of the reply has none. */
const TOOL_DESCRIPTION = 'Returns the answer.';

function structuredMembers(
  kind: StructuredForm['kind'],
  { name, description = TOOL_DESCRIPTION, schema, strict }: StructuredOutput,
  members: JsonObject,
): JsonObject {
  switch (kind) {
    case 'response-format':
      return { response_format: { type: 'json_schema', json_schema: { name, schema, strict } } };
    case 'text-format':
      return { text: { ...objectOf(members['text']), format: { type: 'json_schema', name, schema, strict } } };
    case 'response-json-schema': {
      const key = members['generation_config'] === undefined ? 'generationConfig' : 'generation_config';
      const json = { responseMimeType: 'application/json', responseJsonSchema: schema };
      return { [key]: { ...objectOf(members[key]), ...json } };
    }
    case 'tool': {
      const tool = { name, description, input_schema: schema };
      return { tools: [tool], tool_choice: { type: 'tool', name, disable_parallel_tool_use: true } };
    }
    case 'tool-config': {
      const tool = { toolSpec: { name, description, inputSchema: { json: schema } } };
      return { toolConfig: { tools: [tool], toolChoice: { tool: { name } } } };
    }
  }
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}
