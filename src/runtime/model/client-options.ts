import type { JsonValue } from '../../base/json.ts';
import type { COMMON_OPTIONS, OnTruncation, TokenPrices } from '../../schema/providers/common-options.ts';
import type { OptionPath, OptionValues, OptionViolation } from '../../schema/providers/option-shapes.ts';
import type { MediaUrls } from '../../schema/providers/provider-description.ts';
import type { StructuredForm } from '../../schema/providers/structured-output.ts';
import type { Violation } from '../../schema/violation.ts';
import type { ExchangeLimits } from './http/exchange-clock.ts';
import { type ClientType, resolveValue, type OptionEntry } from '../../schema/client.ts';

type CommonValues = OptionValues<typeof COMMON_OPTIONS>;

/** The options that every HTTP provider understands; the rest belongs to the provider. */
export interface ClientOptions {
  readonly apiKey: string | undefined;
  /** Absent where the client names none. */
  readonly model: string | undefined;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly queryParams: ReadonlyMap<string, string>;
  readonly defaultRole: string | undefined;
  readonly allowedRoles: readonly string[] | undefined;
  /** From the role in the template to its name in the request. */
  readonly remapRoles: ReadonlyMap<string, string>;
  /** Which keyword arguments of `_.role(…)` reach the request. */
  readonly roleMetadata: CommonValues['allowed_role_metadata'];
  readonly supportsStreaming: boolean;
  readonly finishReasons: FinishReasonRule;
  readonly onTruncation: OnTruncation;
  readonly responseType: CommonValues['client_response_type'];
  readonly mediaUrls: MediaUrls;
  /** The form in which requests carry the schema of the reply; undefined if they carry none. */
  readonly structured: StructuredForm | undefined;
  readonly prices: TokenPrices | undefined;
  readonly coolDownMs: number;
  readonly limits: ExchangeLimits;
  readonly httpVersion: CommonValues['http']['version'];
  readonly propagateTrace: boolean;
  /** Everything else, for the request body, in the order in which it was written. */
  readonly body: ReadonlyMap<string, JsonValue>;
}

/** Compared without regard to case; a reply without a reason always passes. */
export type FinishReasonRule =
  | { readonly kind: 'any' }
  | { readonly kind: 'allow'; readonly reasons: readonly string[] }
  | { readonly kind: 'deny'; readonly reasons: readonly string[] };

/** The options in the terms of the runtime. */
export function toClientOptions(
  values: CommonValues & { readonly model?: unknown; readonly model_id?: unknown },
  body: ReadonlyMap<string, JsonValue>,
  structured?: StructuredForm,
): ClientOptions {
  const { http } = values;
  return {
    apiKey: values.api_key,
    model: [values.model, values.model_id].find((model) => typeof model === 'string'),
    headers: values.headers ?? NONE,
    queryParams: values.query_params ?? NONE,
    defaultRole: values.default_role,
    allowedRoles: values.allowed_roles,
    remapRoles: values.remap_roles,
    roleMetadata: values.allowed_role_metadata,
    supportsStreaming: values.supports_streaming,
    finishReasons: finishReasonRule(values),
    onTruncation: values.on_truncation,
    responseType: values.client_response_type,
    mediaUrls: definedMembers(values.media_url_handler),
    structured,
    prices: values.prices,
    coolDownMs: values.cool_down_ms,
    limits: {
      connectMs: http.connect_timeout_ms,
      firstTokenMs: http.time_to_first_token_timeout_ms,
      idleMs: http.idle_timeout_ms,
      requestMs: http.request_timeout_ms,
    },
    httpVersion: http.version,
    propagateTrace: http.propagate_trace,
    body,
  };
}

const NONE: ReadonlyMap<string, string> = new Map();

function finishReasonRule({
  finish_reason_allow_list: allow,
  finish_reason_deny_list: deny,
}: CommonValues): FinishReasonRule {
  if (allow !== undefined) return { kind: 'allow', reasons: allow.map((reason) => reason.toLowerCase()) };
  if (deny !== undefined) return { kind: 'deny', reasons: deny.map((reason) => reason.toLowerCase()) };
  return { kind: 'any' };
}

function definedMembers(handlings: CommonValues['media_url_handler']): MediaUrls {
  return Object.fromEntries(Object.entries(handlings).filter(([, handling]) => handling !== undefined));
}

/** A violation with its path as text: `options.allowed_roles[1]`. */
export function optionViolation({ path, message }: Pick<OptionViolation, 'path' | 'message'>): Violation {
  return { path: `options${pathText(path)}`, message };
}

function pathText(path: OptionPath): string {
  return path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
}

/** A client's definition and its origin: svc trusts the files with the server's keys, but not a request. */
export interface ClientSource {
  readonly definition: ClientType;
  readonly from: 'files' | 'request';
}

/** Variables by name: the server's, and above them those of one request (null removes one). */
export interface CallEnvironment {
  readonly server: Readonly<Record<string, string | undefined>>;
  readonly request?: ReadonlyMap<string, string | null>;
}

interface ResolvedOptions {
  readonly values: ReadonlyMap<string, JsonValue>;
  /** Each variable that was read, with the option that it is part of. */
  readonly reads: readonly VariableRead[];
}

export interface VariableRead {
  readonly option: string;
  readonly variable: string;
  /** Undefined: it is not set. */
  readonly value: string | undefined;
  readonly source: 'server' | 'request';
}

/** Replaces `env.X` by the values of variables, and records where each value came from. */
export function resolveOptions(options: readonly OptionEntry[], environment: CallEnvironment): ResolvedOptions {
  const reads: VariableRead[] = [];
  const values = new Map<string, JsonValue>();
  for (const { key, value } of options) {
    values.set(
      key,
      resolveValue(value, (variable) => {
        const read = readVariable(environment, variable, key);
        reads.push(read);
        return read.value ?? '';
      }),
    );
  }
  return { values, reads };
}

/** Reads one variable. Empty counts as unset, because an empty key or URL is never intended. */
export function readVariable(environment: CallEnvironment, variable: string, option = ''): VariableRead {
  const own = environment.request?.get(variable);
  if (own !== undefined)
    return { option, variable, value: own === '' ? undefined : (own ?? undefined), source: 'request' };
  const server = Object.hasOwn(environment.server, variable) ? environment.server[variable] : undefined;
  return { option, variable, value: server === '' ? undefined : server, source: 'server' };
}
