import type { JsonValue } from '../../../base/json.ts';
import { isJsonObject } from '../../../base/json.ts';
import type { MediaKind } from '../../../schema/type.ts';
import { DEFAULT_LIMITS } from '../http/exchange-clock.ts';
import type { ExchangeLimits } from '../http/exchange-clock.ts';
import { headerFault } from './header-fault.ts';
import type { OptionReader } from './option-reader.ts';

/** The options that every HTTP provider understands; the rest belongs to the provider. */
export interface ClientOptions {
  readonly apiKey?: string;
  /** Without a slash at its end. */
  readonly baseUrl?: string;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly queryParams: ReadonlyMap<string, string>;
  readonly defaultRole?: string;
  readonly allowedRoles?: readonly string[];
  /** Role in the template to role on the wire. */
  readonly remapRoles: ReadonlyMap<string, string>;
  readonly roleMetadata: RoleMetadata;
  readonly supportsStreaming: boolean;
  readonly finishReasons: FinishReasonRule;
  readonly responseType?: ResponseType;
  readonly mediaUrls: ReadonlyMap<MediaKind, MediaUrlHandling>;
  readonly limits: ExchangeLimits;
  /** Everything else, for the request body, in the order in which it was written. */
  readonly body: ReadonlyMap<string, JsonValue>;
}

/** Which keyword arguments of `_.role(…)` reach the wire. */
export type RoleMetadata = 'all' | 'none' | readonly string[];

/** Compared without regard to case; a reply without a reason always passes. */
export type FinishReasonRule =
  | { readonly kind: 'any' }
  | { readonly kind: 'allow'; readonly reasons: readonly string[] }
  | { readonly kind: 'deny'; readonly reasons: readonly string[] };

export const RESPONSE_TYPES = [
  'openai',
  'openai-responses',
  'openai-transcription',
  'anthropic',
  'google',
  'vertex',
] as const;

export type ResponseType = (typeof RESPONSE_TYPES)[number];

export const MEDIA_URL_HANDLINGS = [
  'send_url',
  'send_base64',
  'send_url_add_mime_type',
  'send_base64_unless_google_url',
] as const;

export type MediaUrlHandling = (typeof MEDIA_URL_HANDLINGS)[number];

const HTTP_TIMES = ['connect_timeout_ms', 'request_timeout_ms', 'time_to_first_token_timeout_ms', 'idle_timeout_ms'];

/** Accepted, and of no effect: connections are always kept. */
const HTTP_SWITCHES = ['enable_connection_pooling'];

const MEDIA_KINDS: readonly MediaKind[] = ['image', 'audio', 'pdf', 'video'];

/** Takes the common options. What is wrong is in `reader.faults`; the result is then not to be used. */
export function readClientOptions(reader: OptionReader): ClientOptions {
  const apiKey = reader.string('api_key');
  const baseUrl = readBaseUrl(reader);
  const roles = readRoles(reader);
  const responseType = reader.oneOf('client_response_type', RESPONSE_TYPES);
  return {
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...roles,
    ...(responseType === undefined ? {} : { responseType }),
    headers: readHeaders(reader),
    queryParams: reader.texts('query_params'),
    roleMetadata: readRoleMetadata(reader),
    supportsStreaming: reader.boolean('supports_streaming') ?? true,
    finishReasons: readFinishReasons(reader),
    mediaUrls: readMediaUrls(reader),
    limits: readLimits(reader),
    body: reader.rest(),
  };
}

function readBaseUrl(reader: OptionReader): string | undefined {
  const text = reader.string('base_url');
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    reader.fault('base_url', 'has to be an http or https URL');
  } else if (url.username !== '' || url.password !== '') {
    reader.fault('base_url', 'must not hold a user name or a password; use "headers"');
  }
  return text.endsWith('/') ? text.slice(0, -1) : text;
}

function readHeaders(reader: OptionReader): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (const [name, value] of reader.texts('headers')) {
    const fault = headerFault(name, value);
    if (fault === undefined) headers.set(name.toLowerCase(), value);
    else reader.fault(`headers.${name}`, fault);
  }
  return headers;
}

function readRoles(reader: OptionReader): Pick<ClientOptions, 'defaultRole' | 'allowedRoles' | 'remapRoles'> {
  const defaultRole = reader.string('default_role');
  const allowedRoles = reader.strings('allowed_roles');
  if (allowedRoles?.length === 0) reader.fault('allowed_roles', 'must name at least one role');
  if (defaultRole !== undefined && allowedRoles !== undefined && !allowedRoles.includes(defaultRole)) {
    reader.fault('default_role', `has to be one of the allowed roles: ${allowedRoles.join(', ')}`);
  }
  return {
    ...(defaultRole === undefined ? {} : { defaultRole }),
    ...(allowedRoles === undefined ? {} : { allowedRoles }),
    remapRoles: reader.texts('remap_roles'),
  };
}

function readRoleMetadata(reader: OptionReader): RoleMetadata {
  const value = reader.take('allowed_role_metadata');
  if (value === undefined || value === null || value === 'none') return 'none';
  if (value === 'all') return 'all';
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  reader.fault('allowed_role_metadata', 'has to be "all", "none" or a list of names');
  return 'none';
}

function readFinishReasons(reader: OptionReader): FinishReasonRule {
  const allow = reader.strings('finish_reason_allow_list');
  const deny = reader.strings('finish_reason_deny_list');
  if (allow !== undefined && deny !== undefined) {
    reader.fault('finish_reason_deny_list', 'cannot stand beside "finish_reason_allow_list": choose one');
  }
  if (allow !== undefined) return { kind: 'allow', reasons: allow.map((reason) => reason.toLowerCase()) };
  if (deny !== undefined) return { kind: 'deny', reasons: deny.map((reason) => reason.toLowerCase()) };
  return { kind: 'any' };
}

function readMediaUrls(reader: OptionReader): ReadonlyMap<MediaKind, MediaUrlHandling> {
  const handlings = new Map<MediaKind, MediaUrlHandling>();
  const value = reader.take('media_url_handler');
  if (value === undefined || value === null) return handlings;
  if (!isJsonObject(value)) {
    reader.fault('media_url_handler', 'has to be a map');
    return handlings;
  }
  for (const [name, choice] of Object.entries(value)) {
    const kind = MEDIA_KINDS.find((known) => known === name);
    const handling = MEDIA_URL_HANDLINGS.find((known) => known === choice);
    if (kind === undefined) reader.fault(`media_url_handler.${name}`, `is not one of ${MEDIA_KINDS.join(', ')}`);
    else if (handling === undefined) {
      reader.fault(`media_url_handler.${name}`, `has to be one of ${MEDIA_URL_HANDLINGS.join(', ')}`);
    } else handlings.set(kind, handling);
  }
  return handlings;
}

function readLimits(reader: OptionReader): ExchangeLimits {
  const http = reader.times('http', HTTP_TIMES, HTTP_SWITCHES);
  return {
    connectMs: http.get('connect_timeout_ms') ?? DEFAULT_LIMITS.connectMs,
    firstTokenMs: http.get('time_to_first_token_timeout_ms') ?? DEFAULT_LIMITS.firstTokenMs,
    idleMs: http.get('idle_timeout_ms') ?? DEFAULT_LIMITS.idleMs,
    requestMs: http.get('request_timeout_ms') ?? DEFAULT_LIMITS.requestMs,
  };
}
