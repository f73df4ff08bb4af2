import type { JsonObject } from '../base/json.ts';

/** How one error code is answered over HTTP, and what it means. The problem table, OpenAPI and docs/errors.md read this. */
export interface ErrorDescription {
  readonly status: number;
  /** Complete sentences in Markdown: when svc answers this, then what to do about it. */
  readonly meaning: string;
  /** Members of the body besides `error`, `message` and `request_id`; some are absent where nothing is known. */
  readonly fields?: readonly ErrorField[];
  /** Response headers that belong to this code. */
  readonly headers?: readonly ErrorHeader[];
  /** A body without `error` and `request_id`. */
  readonly example: { readonly message: string } & JsonObject;
}

export type ErrorHeader = 'accept-post' | 'accept-encoding' | 'allow' | 'retry-after';

/** Every member that an error body can have beside `error`, `message` and `request_id`: its shape and meaning. */
export const ERROR_FIELDS = {
  details: { shape: 'violations', meaning: 'Every fault of the request or of the reply, each with its path.' },
  suggestions: { shape: 'strings', meaning: 'The names nearest to the requested one.' },
  limit: { shape: 'integer', meaning: 'The limit in bytes.' },
  limit_name: { shape: 'string', meaning: 'The limit that the caller has reached.' },
  authz: { shape: 'object', meaning: 'The state of authentication, on `/_debug/status` only.' },
  client: { shape: 'string', meaning: 'The client that failed, or the last one that svc called.' },
  variable: { shape: 'string', meaning: 'The environment variable that is missing.' },
  raw_output: { shape: 'string', meaning: 'The reply of the model, truncated at 64 KB.' },
  prompt: { shape: 'messages', meaning: 'The messages that svc sent; only with `--expose-prompts`.' },
  losses: {
    shape: 'object',
    meaning: 'The counts `dropped` and `defaulted` of a lossy value that the call refuses; absent for other failures.',
  },
  explanation: { shape: 'object', meaning: 'How svc read the reply; of `/parse` only, if the request has `explain`.' },
  finish_reason: { shape: 'string', meaning: 'Why the model stopped.' },
  upstream_status: { shape: 'integer', meaning: 'The HTTP status of the provider, if it returned one.' },
  attempts: {
    shape: 'attempts',
    meaning:
      'Every attempt in order, with its client, outcome and duration, and its tokens if the provider reports them; `reask` marks those that asked for a corrected reply.',
  },
  timer: {
    shape: 'string',
    meaning: 'The timer that expired: `connect`, `first_token`, `idle`, `request` or `total`.',
  },
  after_ms: { shape: 'integer', meaning: 'The number of milliseconds after which the timer expired.' },
} as const satisfies Readonly<Record<string, { readonly shape: string; readonly meaning: string }>>;

export type ErrorField = keyof typeof ERROR_FIELDS;

const TABLE = {
  bad_request: {
    status: 400,
    meaning:
      'The request is not valid HTTP, or its headers leave open where it ends (two `Content-Length` headers, both `Content-Length` and `Transfer-Encoding`, no `Host`, …). The server closes the connection. The usual cause is a proxy or a hand-written client.',
    example: { message: 'The request has two Content-Length headers.' },
  },
  invalid_json: {
    status: 400,
    meaning:
      'The body is not valid JSON, is not UTF-8, is empty although the function has parameters, is nested deeper than 128 levels, has more than 50,000 values in its objects and lists, or contains a number longer than 400 characters.',
    example: { message: 'The body is empty: send a JSON object.' },
  },
  invalid_argument: {
    status: 400,
    meaning:
      'The body does not match the signature of the function. `details` lists every fault: `path` names the value (`resume.skills[2].name`) and `message` states what is wrong with it. Of more than 100 faults, it lists the first 100 and states that there are more. Or a media URL leads to an address or has a scheme that requests are not allowed to use.',
    fields: ['details'],
    example: {
      message: 'The arguments do not fit the function "ExtractResume". resume.name: expected a string, got an int',
      details: [{ path: 'resume.name', message: 'expected a string, got an int' }],
    },
  },
  invalid_options: {
    status: 400,
    meaning:
      'The options object (`svc_options`, `__svc_options__` or `__baml_options__`) is wrong: it has an unknown key, names a client that does not exist, names a URL that requests are not allowed to use, has a `type_builder` that does not compile, or exceeds a limit. Or the header `Idempotency-Key` is not 1 to 255 visible ASCII characters. `details` lists every fault, with the limit that it exceeds. A fault in the definitions of `type_builder` has `line`, `column` and `frame`.',
    fields: ['details'],
    example: {
      message: 'The options are not valid. svc_options.clint: is unknown. Did you mean "client"?',
      details: [{ path: 'svc_options.clint', message: 'is unknown. Did you mean "client"?' }],
    },
  },
  Unauthorized: {
    status: 403,
    meaning:
      'The server requires a key, and the request has none, a wrong one, or one that is disabled or has expired. Send the key as `x-svc-api-key`, `x-baml-api-key` or `Authorization: Bearer`. On `/_debug/status`, the member `authz` states that authentication is active.',
    fields: ['authz'],
    example: { message: 'The API key is missing or wrong.' },
  },
  Forbidden: {
    status: 403,
    meaning:
      'The key is right, but it does not allow the request: its entry in the [key file](operating.md#keys) lists the functions that it can call, and such a key cannot read `/metrics`. Ask the operator of the server.',
    example: { message: 'The key "team-a" cannot call the function "ExtractResume".' },
  },
  not_local: {
    status: 403,
    meaning:
      'The playground is on and no key is set, so the server accepts only programs and pages on its own machine, under a loopback name such as `localhost`. Set `SVC_PASSWORD` to serve others.',
    example: { message: 'Without a key, a playground serves only this machine.' },
  },
  function_not_found: {
    status: 404,
    meaning: 'No function has this name. Names are case-sensitive; `suggestions` lists the nearest ones.',
    fields: ['suggestions'],
    example: {
      message: 'There is no function "ExtractResme". Did you mean "ExtractResume"?',
      suggestions: ['ExtractResume'],
    },
  },
  not_found: {
    status: 404,
    meaning:
      'The server has no such path. `suggestions` lists the nearest ones. The message names the flag that turns the path on, if there is one: `--playground`, `--mcp`, `--openai-api`.',
    fields: ['suggestions'],
    example: { message: 'There is nothing at "/doc".', suggestions: ['/docs'] },
  },
  method_not_allowed: {
    status: 405,
    meaning: 'The path does not accept this method. The header `allow` lists the methods that it accepts.',
    headers: ['allow'],
    example: { message: 'This path takes POST.' },
  },
  request_timeout: {
    status: 408,
    meaning:
      'The headers or the body did not arrive in time: no data came for 7 seconds, or the whole body took longer than 60 seconds.',
    example: { message: 'The body did not arrive in time.' },
  },
  payload_too_large: {
    status: 413,
    meaning: 'The body is larger than `--max-body`; `limit` states that limit in bytes.',
    fields: ['limit'],
    example: { message: 'The body is larger than 10485760 bytes.', limit: 10_485_760 },
  },
  unsupported_media_type: {
    status: 415,
    meaning:
      'The `content-type` has to be `application/json` (or a `+json` type) in UTF-8, and the body must not have a `content-encoding`. The header `accept-post` or `accept-encoding` states what the server accepts.',
    headers: ['accept-post', 'accept-encoding'],
    example: { message: 'The content type has to be application/json.' },
  },
  idempotency_conflict: {
    status: 422,
    meaning:
      'Another request to this function had the same `Idempotency-Key` and a different body. Use a new key for a new call, and repeat a call with exactly the same body.',
    example: { message: 'Another request with this Idempotency-Key had a different body.' },
  },
  headers_too_large: {
    status: 431,
    meaning: 'The request target and the headers together are larger than 16 KB, or there are more than 96 headers.',
    example: { message: 'The headers are larger than 16384 bytes.' },
  },
  rate_limited: {
    status: 429,
    meaning:
      'The caller has reached one of its [limits](operating.md#limits): `limit_name` is `requests_per_minute`, `tokens_per_minute`, `in_flight` or `cost_per_day`. Retry after the number of seconds in the header `retry-after`.',
    fields: ['limit_name'],
    headers: ['retry-after'],
    example: {
      message: 'The key "team-a" has reached its limit of requests per minute: try again in 12 s.',
      limit_name: 'requests_per_minute',
    },
  },
  // No caller reads this one: it has left. The status is for logs and metrics; nginx uses the same.
  cancelled: {
    status: 499,
    meaning: 'The caller left.',
    example: { message: 'The caller left.' },
  },
  validation_failure: {
    status: 500,
    meaning:
      "The model's reply does not fit the return type, even after repair. `details` lists the reasons with their paths. With `--on-loss refuse` or `on_loss` in the options, also a reply whose value is lossy: then `losses` counts and `details` lists what the value lacks. If there was more than one attempt, `attempts` lists them: a retry policy with `on_invalid_reply` asks the model for a corrected reply.",
    fields: ['details', 'raw_output', 'losses', 'explanation', 'attempts', 'prompt'],
    example: {
      message: 'the reply does not fit the return type at name: the required field "name" is missing',
      details: [{ path: 'name', message: 'the required field "name" is missing' }],
      raw_output: 'I cannot help with that.',
    },
  },
  missing_credential: {
    status: 500,
    meaning:
      "The provider's API key is missing, or svc does not send it to the host that the request selects. `client` names the client, and `variable` the environment variable to set, or the option that the definition sets to a literal.",
    fields: ['client', 'variable'],
    example: {
      message:
        'The client "Fast" needs an API key or setting from the environment variable OPENAI_API_KEY, which is missing or empty.',
      client: 'Fast',
      variable: 'OPENAI_API_KEY',
    },
  },
  finish_reason_error: {
    status: 500,
    meaning: "The model stopped for a reason that the client's options do not accept.",
    fields: ['client', 'finish_reason'],
    example: {
      message: 'The client "Fast" ended its reply for the reason "length", which its definition does not accept',
      client: 'Fast',
      finish_reason: 'length',
    },
  },
  refusal: {
    status: 500,
    meaning: 'The model refused to answer, as its provider states. `raw_output` contains the words of the model.',
    fields: ['client', 'finish_reason', 'raw_output'],
    example: {
      message: 'The model of the client "Fast" refused to answer: No.',
      client: 'Fast',
      raw_output: 'No.',
    },
  },
  content_filtered: {
    status: 500,
    meaning:
      'The provider withheld the reply, or a part of it: a filter stopped it, or blocked the prompt. `finish_reason` is its word for the reason.',
    fields: ['client', 'finish_reason', 'raw_output'],
    example: {
      message: 'The client "Fast" withheld the reply ("SAFETY")',
      client: 'Fast',
      finish_reason: 'SAFETY',
      raw_output: '',
    },
  },
  no_answer: {
    status: 500,
    meaning:
      'The reply has no answer: the model called a tool, reached a limit before its first word, or wrote nothing, or the provider expects another request.',
    fields: ['client', 'finish_reason', 'raw_output'],
    example: {
      message: 'The client "Fast" called the tool "search" instead of answering ("tool_calls")',
      client: 'Fast',
      finish_reason: 'tool_calls',
      raw_output: '',
    },
  },
  prompt_error: {
    status: 500,
    meaning:
      'The prompt template failed for these arguments. The message names the file, line and column. Or svc cannot read a constraint of a type that the function takes or returns, which `svc check` reports.',
    example: { message: 'The prompt of "Greet" cannot be rendered: division by zero (main.svc:4:9).' },
  },
  internal_error: {
    status: 500,
    meaning: 'svc has a bug. The answer contains no details; the log has them under the `request_id`.',
    example: { message: 'The server failed because of a bug.' },
  },
  not_implemented: {
    status: 501,
    meaning: 'The method is not one of GET, HEAD, POST, PUT, PATCH, DELETE and OPTIONS.',
    example: { message: 'This method is not supported.' },
  },
  client_error: {
    status: 502,
    meaning:
      'The provider could not be reached, or it returned an error. The header `retry-after` has the wait that the provider asked for, if any.',
    fields: ['client', 'upstream_status', 'attempts'],
    headers: ['retry-after'],
    example: {
      message: 'The client "Fast" answered 429: Rate limit reached',
      client: 'Fast',
      upstream_status: 429,
      attempts: [{ client: 'Fast', outcome: 'client_error', upstream_status: 429, duration_ms: 87 }],
    },
  },
  overloaded: {
    status: 503,
    meaning:
      'The worker and its queue are full (its shares of `--max-in-flight` and `--max-queue`), too many connections are open, or the caller has reached its share (`--caller-share`). The message states which limit applies. Retry after the number of seconds in the header `retry-after`.',
    headers: ['retry-after'],
    example: { message: 'Too many calls are in flight: try again.' },
  },
  draining: {
    status: 503,
    meaning: 'The server is stopping. Retry: another instance, or this one after its restart, will accept the request.',
    headers: ['retry-after'],
    example: { message: 'The server is stopping: try again.' },
  },
  timeout: {
    status: 504,
    meaning: 'A time limit expired: `timer` states which one, and `after_ms` after how long.',
    fields: ['timer', 'after_ms', 'attempts'],
    example: {
      message: 'The client "Fast" did not finish its reply in time (300000 ms)',
      timer: 'request',
      after_ms: 300_000,
    },
  },
} as const satisfies Readonly<Record<string, ErrorDescription>>;

export type ErrorCode = keyof typeof TABLE;

/** Every code that can appear in the `error` member of an answer, in the order of the statuses. */
export const ERRORS: Readonly<Record<ErrorCode, ErrorDescription>> = TABLE;

/** Every code that a caller can receive. */
export const ERROR_CODES: readonly ErrorCode[] = (Object.keys(ERRORS) as ErrorCode[]).filter(
  (code) => code !== 'cancelled',
);
