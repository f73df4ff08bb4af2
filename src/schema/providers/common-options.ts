import type { OptionDescription, OptionTable, OptionValues, Shape } from './option-shapes.ts';
import { MEDIA_URL_HANDLINGS, type OptionRule } from './provider-description.ts';
import { STRUCTURED_OUTPUT_MODES } from './structured-output.ts';

export const TEXT = { kind: 'text' } as const satisfies Shape;

/** A part of a URL's path. Text with half of a surrogate pair cannot be encoded. */
export const PATH_TEXT = {
  kind: 'text',
  pattern: /^\P{Surrogate}+$/u,
  expected: 'a non-empty string that can be part of a URL',
} as const satisfies Shape;

const BOOLEAN = { kind: 'boolean' } as const satisfies Shape;

export const COUNT = { kind: 'count', expected: 'a whole number, 0 or more' } as const satisfies Shape;

export const MILLISECONDS = {
  kind: 'count',
  expected: 'a whole number of milliseconds, 0 or more',
} as const satisfies Shape;

const TEXTS = { kind: 'list', item: TEXT, expected: 'a list of strings' } as const satisfies Shape;

const TEXT_MAP = { kind: 'map', value: TEXT, expected: 'a map of strings' } as const satisfies Shape;

const MEDIA_HANDLING = {
  shape: { kind: 'one-of', words: MEDIA_URL_HANDLINGS },
} as const satisfies OptionDescription;

/** The order is that of the clocks of a call. 0 means no limit. */
export const HTTP_SETTINGS = {
  connect_timeout_ms: {
    shape: MILLISECONDS,
    // A host that does not answer in 10 s does not answer in 60 s either.
    default: 10_000,
    text: 'the connection is established (DNS, TCP, TLS)',
  },
  time_to_first_token_timeout_ms: {
    shape: MILLISECONDS,
    // Reasoning models think for minutes before they write; 5 minutes exceed the slowest seen.
    default: 300_000,
    text: 'the first text of a stream arrives',
  },
  idle_timeout_ms: {
    shape: MILLISECONDS,
    // Providers send a ping or a token far more often: a stream without either for 2 minutes is dead.
    default: 120_000,
    text: 'the next part of the reply arrives',
  },
  request_timeout_ms: {
    shape: MILLISECONDS,
    // The default of the providers' own libraries.
    default: 600_000,
    text: 'the last byte arrives',
  },
  enable_connection_pooling: { shape: BOOLEAN },
  version: { shape: { kind: 'one-of', words: ['auto', '1.1', '2'] }, default: 'auto' },
  propagate_trace: { shape: BOOLEAN, default: false },
} as const satisfies OptionTable;

/** Long enough to spare callers most attempts that fail, short enough to notice soon that a provider is back. */
export const DEFAULT_COOL_DOWN_MS = 30_000;

const PRICE = { kind: 'number', expected: 'a number of US dollars, 0 or more' } as const satisfies Shape;

/** US dollars per million tokens, the unit of the providers' price lists. */
const PRICES = {
  input: { shape: PRICE, required: true, text: 'the price of a million tokens of the prompt' },
  output: { shape: PRICE, required: true, text: 'the price of a million tokens of the reply' },
  cached_input: { shape: PRICE },
} as const satisfies OptionTable;

export type TokenPrices = OptionValues<typeof PRICES>;

/** The option `model` of a provider that takes it in the request body and judges it itself. */
export const BODY_MODEL = {
  shape: { kind: 'json' },
  inBody: true,
  public: true,
  text: 'the name of the model',
} as const satisfies OptionDescription;

/** The option `model` of a provider that takes it in the URL. */
export const URL_MODEL = {
  shape: PATH_TEXT,
  public: true,
  text: 'the name of the model',
} as const satisfies OptionDescription;

/** How long the answers of a client can be returned again. */
export const CACHE_OPTION = {
  shape: {
    kind: 'settings',
    settings: {
      ttl: { shape: { kind: 'duration' }, required: true, text: 'how long an answer is kept, such as `10m`' },
    },
    expected: 'a map with "ttl"',
  },
  text: 'a map with `ttl`, the time for which svc returns an answer again, such as `10m`: the [cache](#cache)',
} as const satisfies OptionDescription;

/** What happens to a reply that the provider cut off. */
export const ON_TRUNCATION = ['report', 'refuse'] as const;

export type OnTruncation = (typeof ON_TRUNCATION)[number];

/** The options that every provider reached over HTTP has, besides `model`. */
export const COMMON_OPTIONS = {
  api_key: { shape: TEXT, secret: true, text: 'the key; `env.X` reads an environment variable' },
  base_url: {
    shape: { kind: 'url' },
    decidesUrl: true,
    public: true,
    text: 'the address, an http or https URL without a user name and password; a slash at its end has no effect',
  },
  headers: {
    shape: { kind: 'map', value: TEXT, headers: true, expected: 'a map of strings' },
    text: 'a map of strings, sent with every request; a header of the client replaces the one that svc would send',
  },
  query_params: { shape: TEXT_MAP, text: 'a map of strings, added to the query of every request' },
  default_role: {
    shape: TEXT,
    text: 'the role of text before the first role marker; one of the allowed roles. Default: `user` if it is allowed, otherwise the first allowed role; with OpenAI-compatible providers other than `ollama`, always the first allowed role',
  },
  allowed_roles: {
    shape: { kind: 'list', item: TEXT, nonEmpty: true, expected: 'a list with at least one role' },
    text: 'the roles that the model accepts; text with another role gets the default role',
  },
  remap_roles: { shape: TEXT_MAP, default: {}, text: 'a map from a role to its name in the request' },
  allowed_role_metadata: {
    shape: {
      kind: 'either',
      shapes: [{ kind: 'one-of', words: ['all', 'none'] }, TEXTS],
      expected: '"all", "none" or a list of names',
    },
    default: 'none',
    text: 'which arguments of `_.role(…)` svc sends: `all`, `none` or a list of names',
  },
  supports_streaming: {
    shape: BOOLEAN,
    default: true,
    text: '`false`: svc requests the whole reply even for a stream',
  },
  finish_reason_allow_list: {
    shape: TEXTS,
    text: 'a reply that ends for another reason is a `finish_reason_error`',
  },
  finish_reason_deny_list: {
    shape: TEXTS,
    text: 'a reply that ends for one of these reasons is a `finish_reason_error`; cannot be combined with the allow list',
  },
  on_truncation: {
    shape: { kind: 'one-of', words: ON_TRUNCATION },
    default: 'report',
    text: 'a reply that the provider [cut off](#finish-reasons-and-token-counts): `report` returns the value with the loss `truncated`, `refuse` fails',
  },
  media_url_handler: {
    shape: {
      kind: 'settings',
      settings: { image: MEDIA_HANDLING, audio: MEDIA_HANDLING, pdf: MEDIA_HANDLING, video: MEDIA_HANDLING },
      expected: 'a map',
    },
    default: {},
    text: `the handling of media URLs: for each of \`image\`, \`audio\`, \`pdf\` and \`video\` one of ${words(MEDIA_URL_HANDLINGS)}`,
  },
  client_response_type: {
    shape: {
      kind: 'one-of',
      words: ['openai', 'openai-responses', 'openai-transcription', 'anthropic', 'google', 'vertex'],
    },
    text: 'the reply has the format of another provider: `openai`, `openai-responses`, `openai-transcription`, `anthropic`, `google` or `vertex`',
  },
  structured_output: {
    shape: { kind: 'one-of', words: STRUCTURED_OUTPUT_MODES },
    default: 'off',
    text: '[structured output](#structured-output): `auto` sends the schema of the return type if svc knows that the provider supports schemas, `on` even if svc does not know',
  },
  prices: {
    shape: { kind: 'settings', settings: PRICES, expected: 'a map with "input" and "output"' },
    text: 'a map with `input` and `output`, and optionally `cached_input`: the [prices](#prices) in US dollars per million tokens',
  },
  cool_down_ms: {
    shape: MILLISECONDS,
    default: DEFAULT_COOL_DOWN_MS,
    text: 'the time of a [cool-down](#cool-down) in milliseconds; 0: the client has none',
  },
  cache: CACHE_OPTION,
  http: {
    shape: { kind: 'settings', settings: HTTP_SETTINGS, expected: 'a map' },
    default: {},
    text: '[time limits](#time-limits), `version`, the [version of HTTP](#version-of-http), and `propagate_trace`, which sends [trace headers](#traces)',
  },
} as const satisfies OptionTable;

/** Rules over the common options. */
export const COMMON_RULES: readonly OptionRule[] = [
  { kind: 'excludes', options: ['finish_reason_allow_list', 'finish_reason_deny_list'] },
  { kind: 'role-of', option: 'default_role', list: 'allowed_roles' },
];

export const ROLES: readonly string[] = ['system', 'user', 'assistant'];

/** The rule of a provider whose clients need a model. */
export function modelRequired(provider: string, ...options: readonly string[]): OptionRule {
  return {
    kind: 'requires',
    alternatives: options.map((option) => [option]),
    message: 'is required: it is part of the URL',
    why: `which provider "${provider}" cannot do without`,
  };
}

/** The rule of a provider that has no address of its own. */
export function addressRequired(message: string, ...alternatives: readonly (readonly string[])[]): OptionRule {
  return { kind: 'requires', alternatives, message, why: 'so it has no address to send requests to' };
}

function words(list: readonly string[]): string {
  return list.map((word) => `\`${word}\``).join(', ');
}
