import type { JsonObject, JsonValue } from '../../../base/json.ts';
import type { FunctionType } from '../../../schema/program.ts';
import { anyOf, closed, described, joined, objectSchema } from '../../../schema/json-schema.ts';
import type { ComponentSchemas } from './component-schemas.ts';
import type { Examples } from './examples.ts';
import type { NameAllocator } from './name-allocator.ts';
import { warningProperties, type OwnSchemas } from './own-schemas.ts';
import {
  callHeaders,
  errorResponses,
  parseHeaders,
  plainHeaders,
  streamHeaders,
  type ErrorOptions,
} from './responses.ts';
import { schemaRef } from './dialect.ts';

const STREAM_TEXT =
  `Server-sent events: \`data:\` lines, each with one JSON object, an empty line between. Any number of
\`partial_result\`, then exactly one \`final_result\` or, after a failure, one error. Each partial is a snapshot that
replaces the one before. \`reset\` reports that an attempt failed midway and partials start again. \`reasoning\` is
more of the model's reasoning, if the request includes it.`.replaceAll('\n', ' ');

/** The schema is the value alone: with a union, generated clients would lose its type for a form that few requests ask for. */
const CALL_TEXT =
  'The value. If the request has `include` in its options, `{"result": value, "meta": {…}}`, in which `meta` is an `SvcMeta` with `warnings` and `more_warnings` if the request includes them.';

const MAX_SUMMARY = 120;

/** The state of a document that its paths share. */
export interface PathParts {
  readonly examples: Examples;
  readonly types: ComponentSchemas;
  readonly own: OwnSchemas;
  readonly schemaNames: NameAllocator;
  readonly operationIds: NameAllocator;
  readonly errors: ErrorOptions;
  /** With the paths of feature `beta`. */
  readonly beta: boolean;
}

export interface FunctionPaths {
  readonly paths: ReadonlyArray<readonly [string, JsonObject]>;
  readonly schemas: ReadonlyArray<readonly [string, JsonObject]>;
}

/** `POST /call/{name}` and `POST /stream/{name}` with the schemas of the request and of the events. */
export function functionPaths(fn: FunctionType, parts: PathParts): FunctionPaths {
  const requestName = parts.schemaNames.allocate(`${fn.name}Request`);
  const eventName = parts.schemaNames.allocate(`${fn.name}StreamEvent`);
  const result = parts.types.of(fn.returns, 'output');
  const request = requestBody(requestName, parts.examples.of(fn));
  const call = {
    operationId: fn.name,
    summary: summary(fn) ?? `Call ${fn.name}`,
    ...description(fn.documentation),
    parameters: [IDEMPOTENCY_KEY],
    response: success(CALL_TEXT, callHeaders(), 'application/json', result),
  };
  const stream = {
    operationId: parts.operationIds.allocate(`stream${fn.name}`),
    summary: summary(fn) ?? `Stream ${fn.name}`,
    ...description(fn.documentation, STREAM_TEXT),
    parameters: [IDEMPOTENCY_KEY],
    response: success(
      'Partial results, then the final one.',
      streamHeaders(),
      'text/event-stream',
      schemaRef(eventName),
    ),
  };
  return {
    paths: [
      [`/call/${fn.name}`, operation(call, request, parts.errors)],
      [`/stream/${fn.name}`, operation(stream, request, parts.errors)],
      ...(parts.beta ? betaPaths(fn, { request, result }, parts) : []),
    ],
    schemas: [
      [requestName, described(parts.types.request(fn), `Arguments of ${fn.name}.`)],
      [eventName, eventSchema(fn, result, parts)],
    ],
  };
}

/** `POST /render/{name}` and `POST /parse/{name}`: the two halves of a call, without a model. */
function betaPaths(
  fn: FunctionType,
  call: { readonly request: JsonObject; readonly result: JsonObject },
  parts: PathParts,
): FunctionPaths['paths'] {
  const options = { svc_options: parts.own.ref('SvcReplyOptions') };
  const reply = closed({ text: { type: 'string' }, explain: EXPLAIN, ...options }, ['text']);
  const more = {
    ...warningProperties(parts.own.ref('SvcWarning')),
    explanation: parts.own.ref('SvcExplanation'),
  };
  const reported = objectSchema({ value: call.result, ...more }, ['value']);
  const render = {
    operationId: parts.operationIds.allocate(`render${fn.name}`),
    summary: `Messages that ${fn.name} would send`,
    response: success('The messages.', plainHeaders(), 'application/json', RENDERED),
  };
  const parse = {
    operationId: parts.operationIds.allocate(`parse${fn.name}`),
    summary: `Value that ${fn.name} would return for a reply`,
    response: success(
      'The value; in a member `value` if the request includes more.',
      parseHeaders(),
      'application/json',
      anyOf([call.result, reported]),
    ),
  };
  const body = { required: true, content: { 'application/json': { schema: reply } } };
  return [
    [`/render/${fn.name}`, operation(render, call.request, parts.errors)],
    [`/parse/${fn.name}`, operation(parse, body, parts.errors)],
  ];
}

const IDEMPOTENCY_KEY: JsonObject = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'A key that the caller chooses for this call. A repetition with the same key and body gets the answer of the first request, without another call to a model.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
};

const EXPLAIN = described({ type: 'boolean' }, 'Add `explanation` to the answer: how svc read the reply.');

const RENDERED: JsonObject = objectSchema({
  messages: {
    type: 'array',
    items: objectSchema({
      role: { type: 'string' },
      parts: { type: 'array', items: { type: 'object', additionalProperties: true } },
    }),
  },
});

function operation(
  { response, ...texts }: { readonly response: JsonObject } & Record<string, JsonValue>,
  request: JsonObject,
  errors: ErrorOptions,
): JsonObject {
  const responses = { '200': response, ...errorResponses(errors) };
  return { post: { tags: ['functions'], ...texts, requestBody: request, responses } };
}

/** The first line of the documentation, if it is short enough for a list. */
function summary(fn: FunctionType): string | undefined {
  const line = fn.documentation?.trim().split('\n')[0]?.trim() ?? '';
  return line === '' || line.length > MAX_SUMMARY ? undefined : line;
}

function description(...texts: ReadonlyArray<string | undefined>): JsonObject {
  const text = joined(texts);
  return text === undefined ? {} : { description: text };
}

function success(text: string, headers: JsonObject, contentType: string, schema: JsonObject): JsonObject {
  return { description: text, headers, content: { [contentType]: { schema } } };
}

function requestBody(schemaName: string, examples: JsonObject): JsonObject {
  const media = { schema: schemaRef(schemaName), ...(Object.keys(examples).length > 0 && { examples }) };
  return { required: true, content: { 'application/json': media } };
}

function eventSchema(fn: FunctionType, result: JsonObject, { types, own }: PathParts): JsonObject {
  const partial = objectSchema({ partial_result: types.of(fn.returns, 'partial') });
  const warnings = warningProperties(own.ref('SvcWarning'));
  const final = objectSchema({ final_result: result, ...warnings, meta: own.ref('SvcMeta') }, ['final_result']);
  const events = {
    anyOf: [partial, final, own.ref('SvcStreamReset'), own.ref('SvcStreamReasoning'), own.ref('SvcError')],
  };
  return described(events, `One event of the stream of ${fn.name}.`);
}
