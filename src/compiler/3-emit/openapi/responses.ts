import type { JsonObject } from '../../../base/json.ts';
import {
  ERROR_CODES,
  ERROR_FIELDS,
  ERRORS,
  type ErrorCode,
  type ErrorDescription,
  type ErrorField,
} from '../../../schema/errors.ts';
import { choice, described, objectSchema } from '../../../schema/json-schema.ts';

const TEXT: JsonObject = { type: 'string' };
const COUNT: JsonObject = { type: 'integer', minimum: 0 };
const STRINGS: JsonObject = { type: 'array', items: TEXT };

/** Every response header of the document, by its component name. */
const HEADERS = {
  RequestId: ['x-request-id', TEXT, 'Identifies this request in the logs: the id that the caller sent, or a new one.'],
  Client: ['x-svc-client', TEXT, 'The client that answered.'],
  Model: ['x-svc-model', TEXT, 'The model that answered.'],
  Attempts: ['x-svc-attempts', COUNT, 'The number of attempts.'],
  InputTokens: ['x-svc-input-tokens', COUNT, 'Tokens of the prompt, if the provider reports them.'],
  OutputTokens: ['x-svc-output-tokens', COUNT, 'Tokens of the reply, if the provider reports them.'],
  Cost: [
    'x-svc-cost',
    { type: 'number', minimum: 0 },
    'The cost of all attempts in US dollars, if their tokens and the prices are known.',
  ],
  Lossy: [
    'x-svc-lossy',
    TEXT,
    'Counts of what the value lacks, such as `dropped=2, defaulted=1`; absent if it lacks nothing.',
  ],
  MadeUp: [
    'x-svc-made-up',
    { type: 'boolean' },
    'True if an offline client made up the value, because it has no reply for the call; otherwise absent.',
  ],
  ServerTiming: ['server-timing', TEXT, 'How long the model and the whole request took, in milliseconds (`dur`).'],
  Cache: [
    'x-svc-cache',
    choice(['hit', 'miss', 'bypass']),
    'Whether the answer is that of an earlier equal call, for calls that ask for a cache; `bypass`: no other call can have the answer.',
  ],
  Age: ['age', COUNT, 'The number of seconds since the answer of a hit was kept.'],
  IdempotencyReplayed: [
    'idempotency-replayed',
    { type: 'boolean' },
    'True if the answer is that of an earlier request with the same `Idempotency-Key`; otherwise absent.',
  ],
  RetryAfter: ['retry-after', COUNT, 'The number of seconds after which to retry.'],
  Allow: ['allow', TEXT, 'The methods that the path accepts.'],
  AcceptPost: ['accept-post', TEXT, 'The content types that the path accepts.'],
  AcceptEncoding: ['accept-encoding', TEXT, 'The content encodings that the path accepts.'],
} as const satisfies Readonly<Record<string, readonly [string, JsonObject, string]>>;

type HeaderComponent = keyof typeof HEADERS;

const CALL_HEADERS: readonly HeaderComponent[] = [
  'RequestId',
  'Client',
  'Model',
  'Attempts',
  'InputTokens',
  'OutputTokens',
  'Cost',
  'Lossy',
  'MadeUp',
  'ServerTiming',
  'Cache',
  'Age',
  'IdempotencyReplayed',
];

/** The shared headers of the document. */
export function headerComponents(): JsonObject {
  return Object.fromEntries(
    Object.entries(HEADERS).map(([name, [, schema, description]]) => [name, { description, schema }]),
  );
}

/** The headers of a success: of a call, a stream, a value that svc parsed without a call, and everything else. */
export const SUCCESS_HEADERS = {
  call: headers(CALL_HEADERS),
  stream: headers(['RequestId', 'MadeUp', 'Cache', 'Age', 'IdempotencyReplayed']),
  parse: headers(['RequestId', 'Lossy']),
  other: headers(['RequestId']),
} as const;

function headers(names: readonly HeaderComponent[]): JsonObject {
  return Object.fromEntries(names.map((name) => [HEADERS[name][0], { $ref: `#/components/headers/${name}` }]));
}

/** The component name of each error status that an endpoint of a function can return. */
const RESPONSE_NAMES = {
  400: 'BadRequest',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  408: 'RequestTimeout',
  413: 'PayloadTooLarge',
  415: 'UnsupportedMediaType',
  422: 'UnprocessableContent',
  429: 'TooManyRequests',
  431: 'HeadersTooLarge',
  500: 'InternalError',
  501: 'NotImplemented',
  502: 'BadGateway',
  503: 'Unavailable',
  504: 'GatewayTimeout',
} as const;

type ErrorStatus = keyof typeof RESPONSE_NAMES;

const ERROR_STATUSES = Object.keys(RESPONSE_NAMES).map(Number) as readonly ErrorStatus[];

export interface ErrorOptions {
  /** Without a key, no request is refused for lack of one. */
  readonly apiKey: boolean;
  /** Without a key file, no caller has limits. */
  readonly limits?: boolean | undefined;
}

function possibleStatuses({ apiKey, limits = false }: ErrorOptions): readonly ErrorStatus[] {
  return ERROR_STATUSES.filter((status) => (apiKey || status !== 403) && (limits || status !== 429));
}

/** The shared error responses of the document, made from the table of error codes. */
export function errorResponseComponents(schema: JsonObject, options: ErrorOptions): JsonObject {
  return Object.fromEntries(
    possibleStatuses(options).map((status) => [RESPONSE_NAMES[status], errorComponent(status, schema)]),
  );
}

function errorComponent(status: ErrorStatus, schema: JsonObject): JsonObject {
  const errors = errorsOf(status);
  const names = new Set(errors.flatMap(([, error]) => error.headers ?? []));
  const own = (Object.keys(HEADERS) as HeaderComponent[]).filter((name) => names.has(HEADERS[name][0] as never));
  const examples = errors.map(([code, { example }]) => [code, { value: errorBody(code, example) }]);
  return {
    description: errors.map(([code, { meaning }]) => `\`${code}\`: ${meaning}`).join('\n\n'),
    headers: headers(['RequestId', ...own]),
    content: { 'application/json': { schema, examples: Object.fromEntries(examples) } },
  };
}

function errorsOf(status: ErrorStatus): ReadonlyArray<readonly [ErrorCode, ErrorDescription]> {
  const all = Object.entries(ERRORS) as ReadonlyArray<readonly [ErrorCode, ErrorDescription]>;
  return all.filter(([, error]) => error.status === status);
}

function errorBody(code: ErrorCode, { message, ...fields }: ErrorDescription['example']): JsonObject {
  return { error: code, message, request_id: '7eb8401f3769-2', ...fields };
}

/** References by status, to list beside the success of an operation. */
export function errorResponses(options: ErrorOptions): JsonObject {
  return Object.fromEntries(possibleStatuses(options).map((status) => [String(status), errorResponse(status)]));
}

/** A reference to one shared response. */
export function errorResponse(status: ErrorStatus): JsonObject {
  return { $ref: `#/components/responses/${RESPONSE_NAMES[status]}` };
}

/** The schemas of facts that errors and answers have in common. */
export const FIELD_SHAPES: Readonly<Record<(typeof ERROR_FIELDS)[ErrorField]['shape'], JsonObject>> = {
  string: TEXT,
  strings: STRINGS,
  integer: { type: 'integer' },
  object: { type: 'object', additionalProperties: true },
  violations: {
    type: 'array',
    items: objectSchema(
      {
        path: TEXT,
        message: TEXT,
        line: described({ type: 'integer' }, 'The line in the definitions of `type_builder`, from 1.'),
        column: described({ type: 'integer' }, 'The column in that line, from 1.'),
        frame: described(TEXT, 'The lines at this position, with marks under the text.'),
      },
      ['path', 'message'],
    ),
  },
  messages: { type: 'array', items: { type: 'object', additionalProperties: true } },
  attempts: {
    type: 'array',
    items: objectSchema(
      {
        client: TEXT,
        outcome: TEXT,
        upstream_status: { type: 'integer' },
        message: TEXT,
        duration_ms: { type: 'integer' },
        reask: { type: 'boolean' },
        input_tokens: { type: 'integer' },
        output_tokens: { type: 'integer' },
      },
      ['client', 'outcome', 'duration_ms'],
    ),
  },
};

/** The one body of every error. */
export function errorSchema(): JsonObject {
  const fields = Object.entries(ERROR_FIELDS).map(([name, { shape, meaning }]) => [
    name,
    described(FIELD_SHAPES[shape], meaning),
  ]);
  const properties = {
    error: described(choice(ERROR_CODES), 'A stable code; a later version can add codes.'),
    message: described(TEXT, 'What is wrong and what to do about it.'),
    request_id: described(TEXT, 'The same id as in the header `x-request-id`.'),
    ...Object.fromEntries(fields),
  };
  return objectSchema(properties, ['error', 'message', 'request_id']);
}
