import type { WireProtocol } from '../http-model-client.ts';
import type { MediaKind } from '../../../schema/type.ts';
import type { ClientOptions, MediaUrlHandling } from '../options/client-options.ts';
import type { OptionReader } from '../options/option-reader.ts';

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
  connect(options: ClientOptions, reader: OptionReader): Connection;
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
  protocol(apiKey: string | undefined): WireProtocol;
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
