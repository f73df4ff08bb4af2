import type { OptionTable, OptionValues } from '../../../schema/providers/option-shapes.ts';
import type { MediaUrls } from '../../../schema/providers/provider-description.ts';
import type { ClientOptions } from '../client-options.ts';
import type { ConnectionPools } from '../http/connection-pools.ts';
import type { WireProtocol } from '../http-model-client.ts';
import { anthropicFormat } from '../wire/anthropic-format.ts';
import { googleFormat } from '../wire/google-format.ts';
import { openAiChatFormat, openAiResponsesFormat, transcriptionFormat } from '../wire/openai-formats.ts';
import type { ReplyFormat } from '../wire/reply-format.ts';
import type { CloudMachine } from './cloud-machine.ts';

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

const FORMATS: Readonly<Record<NonNullable<ClientOptions['responseType']>, ReplyFormat>> = {
  openai: openAiChatFormat,
  'openai-responses': openAiResponsesFormat,
  'openai-transcription': transcriptionFormat,
  anthropic: anthropicFormat,
  google: googleFormat,
  vertex: googleFormat,
};

/** The format of replies: that of `client_response_type`, or the provider's own. */
export function replyFormat(options: ClientOptions, own: ReplyFormat): ReplyFormat {
  return options.responseType === undefined ? own : FORMATS[options.responseType];
}
