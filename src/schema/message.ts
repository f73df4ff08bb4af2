import type { JsonObject } from '../base/json.ts';
import type { MediaKind } from './type.ts';
import type { Violation } from './violation.ts';

/** What a rendered prompt is: messages in order, each with a role and at least one part. */
export interface Message {
  /** The role's name in the request: one that the client allows, renamed by its `remap_roles`. */
  readonly role: string;
  readonly parts: readonly MessagePart[];
}

export type MessagePart = (TextPart | MediaPart) & {
  /** Keyword arguments of `_.role(…)` besides the role; the client decides which reach the wire. */
  readonly metadata?: JsonObject;
};

export interface TextPart {
  readonly kind: 'text';
  readonly text: string;
}

export interface MediaPart {
  readonly kind: 'media';
  readonly media: MediaKind;
  readonly source: MediaSource;
}

export type MediaSource =
  | { readonly kind: 'url'; readonly url: string; readonly mediaType?: string }
  | { readonly kind: 'base64'; readonly data: string; readonly mediaType?: string };

/** A complete reply that does not fit the return type, so that its client can be asked to correct it. */
export interface InvalidReply {
  /** The rendered prompt, without corrections. */
  readonly prompt: readonly Message[];
  readonly text: string;
  readonly faults: readonly Violation[];
}

/** What a template may know of the client that will get the prompt (`ctx.client`), and the roles it takes. */
export interface PromptClient {
  readonly name: string;
  readonly provider: string;
  readonly defaultRole: string;
  readonly allowedRoles: readonly string[];
  readonly remapRoles: Readonly<Record<string, string>>;
  /** Options as `ctx.client.options` shows them: no credentials. */
  readonly options: JsonObject;
}
