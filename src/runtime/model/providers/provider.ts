import type { ConnectionPools } from '../http/connection-pools.ts';
import type { WireProtocol } from '../http-model-client.ts';
import type { MediaKind } from '../../../schema/type.ts';
import type { ClientOptions, MediaUrlHandling } from '../options/client-options.ts';
import type { OptionReader } from '../options/option-reader.ts';
import type { CloudMachine } from './cloud-machine.ts';

/** What svc knows of one provider that is asked over HTTP. */
export interface HttpProvider {
  /** Roles, when the client names none; the first is the default unless `defaultRole` says otherwise. */
  readonly roles: readonly string[];
  readonly defaultRole: string;
  /** The variable that holds the key when the client gives none; absent when the provider needs none. */
  readonly keyVariable?: string;
  /** Where the provider's own service is; absent when a client has to say it. */
  readonly defaultUrl?: string;
  /** Reads what is the provider's own. Faults go to the reader; the result is then not used. */
  connect(options: ClientOptions, reader: OptionReader, setting: Setting): Connection;
  /** Variables besides the key that a client may depend on. */
  readonly variables?: readonly string[];
  /** Loads what its calls will need besides connections, so that the first one does not wait for it. */
  load?(): void;
  /** Origins of the provider's own service, where there are many: its variables may always go there. */
  readonly ownOrigins?: RegExp;
}

/** The value of an environment variable that is no secret; undefined when it is not set. */
export type Setting = (variable: string) => string | undefined;

/** What a protocol may use besides the key. */
export interface ProviderAccess {
  /**
   * Secrets of the environment that belong together. They come from one place: of a request that brings one of them, or
   * takes one away, all do.
   */
  readonly secrets: (variables: readonly string[]) => SecretGroup;
  /** What names a file or a service of the server: nothing that a request says changes it. */
  readonly ofServer: (variable: string) => string | undefined;
  readonly pools: ConnectionPools;
  /** Whose machine the server runs on, when it is one of a cloud. */
  readonly machine: CloudMachine | undefined;
  /** What the client says of its credentials comes from the files or the server, so it may name files of the server. */
  readonly trusted: boolean;
}

export interface SecretGroup {
  /** The request decides: what it does not bring is not there, and nothing of the server's takes its place. */
  readonly ofRequest: boolean;
  /** Undefined when the variable is not set, or not for this host. */
  readonly get: (variable: string) => string | undefined;
}

/** A credential that is not there, or of no use, by the variable that would hold it. */
export interface MissingSecret {
  readonly missing: string;
  /** Why what is there is of no use: ends a sentence that begins with the variable. */
  readonly because?: string;
}

/** One client's way to its provider, all but the key. */
export interface Connection {
  /** Base of all its URLs, with no slash at the end. */
  readonly url: string;
  readonly model?: string;
  /** Some models take fewer roles, or cannot stream. */
  readonly roles?: readonly string[];
  readonly defaultRole?: string;
  readonly streams?: false;
  /** Media whose URLs the provider does not take, unless the client says otherwise. */
  readonly mediaUrls?: Readonly<Partial<Record<MediaKind, MediaUrlHandling>>>;
  /** `apiKey` is undefined when the provider needs none and the client gives none. */
  protocol(apiKey: string | undefined, access: ProviderAccess): WireProtocol | MissingSecret;
}

/** The model of a client whose body carries it under `model`. */
export function bodyModel(options: ClientOptions): { readonly model?: string } {
  const model = options.body.get('model');
  return typeof model === 'string' ? { model } : {};
}

/** The base URL that the client gives, or the provider's own; a fault when there is neither. */
export function urlOf(provider: HttpProvider, options: ClientOptions, reader: OptionReader): string {
  const url = options.baseUrl ?? provider.defaultUrl;
  if (url === undefined) reader.fault('base_url', 'is required for this provider');
  return url ?? 'http://invalid.invalid';
}
