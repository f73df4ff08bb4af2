import { compareText, type JsonObject, type JsonValue } from '../../../base/json.ts';
import type { DefinitionIndex, FunctionType } from '../../../schema/program.ts';
import {
  choice,
  objectSchema,
  anyOf,
  closed,
  described,
  joined,
  JsonSchemas,
  plainLiterals,
  VIEW_SUFFIX,
  type View,
} from '../../../schema/json-schema.ts';
import type { CompileOptions } from '../../compile-options.ts';
import { NameAllocator, schemaRef, openApiSchema, openLists, REFERENCE, type Referenced } from './dialect.ts';
import { Examples } from './examples.ts';
import { OwnSchemas, warningProperties } from './own-schemas.ts';
import {
  errorResponse,
  errorResponseComponents,
  headerComponents,
  SUCCESS_HEADERS,
  errorResponses,
  type ErrorOptions,
} from './responses.ts';
import type { ClassType, Type } from '../../../schema/type.ts';

type Entry = readonly [string, JsonObject];

/**
 * The OpenAPI 3.0.3 document of a set of definitions. The order is fixed: functions and schemas by name, parameters and
 * fields as declared, so that the same definitions give the same text in whichever files they are.
 */
export function emitOpenApi(index: DefinitionIndex, options: CompileOptions): JsonObject {
  const schemaNames = new NameAllocator();
  for (const name of [...index.classes.keys(), ...index.enums.keys(), ...index.aliases.keys()]) {
    schemaNames.reserve(name);
  }
  const own = new OwnSchemas(schemaNames);
  const types = new ComponentSchemas(index, own, schemaNames);
  const operationIds = new NameAllocator();
  const functions = [...index.functions.values()].toSorted((a, b) => compareText(a.name, b.name));
  for (const { name } of functions) operationIds.reserve(name);
  const examples = new Examples(index);
  const errors = { apiKey: options.apiKey, limits: options.limits };
  const parts = { examples, types, own, schemaNames, operationIds, errors, beta: options.beta };
  const emitted = functions.map((fn) => functionPaths(fn, parts));
  const schemas = [...types.components, ...emitted.flatMap((one) => one.schemas)];
  const responses = errorResponseComponents(own.ref('SvcError'), options);
  const paths = [...emitted.flatMap((one) => one.paths), ...serverPaths(operationIds, options.apiKey)];
  return {
    ...head(options),
    paths: Object.fromEntries(paths),
    components: {
      schemas: sorted([...schemas, ...own.entries()]),
      responses,
      headers: headerComponents(),
      ...(examples.components.size > 0 && { examples: sorted([...examples.components]) }),
      ...(options.apiKey && { securitySchemes: SECURITY_SCHEMES }),
    },
  };
}

const SECURITY_SCHEMES: JsonObject = {
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'x-svc-api-key',
    description: "The server also accepts the key in `x-baml-api-key`, for clients of BAML's server.",
  },
  bearer: { type: 'http', scheme: 'bearer' },
};

function head(options: CompileOptions): JsonObject {
  return {
    openapi: '3.0.3',
    info: {
      title: options.title ?? 'svc',
      description: `Typed LLM functions. \`/call\` returns the value, \`/stream\` sends partial values as they grow.${doorText(options)}`,
      version: options.apiVersion ?? options.version,
      ...(options.playground === true && { 'x-playground': `${options.basePath ?? ''}/playground` }),
    },
    servers: [{ url: options.basePath || '/' }],
    security: options.apiKey ? [{ apiKey: [] }, { bearer: [] }] : [],
    tags: [
      { name: 'functions', description: 'The functions of the definition files.' },
      { name: 'server', description: 'Probes, metrics and status.' },
    ],
  };
}

function doorText({ basePath = '', doors = [] }: CompileOptions): string {
  if (doors.length === 0) return '';
  const links = doors.map(({ name, path }) => `${name} at \`${basePath}${path}\``);
  return ` The functions can also be reached through ${links.join(' and ')}.`;
}

function sorted(entries: readonly Entry[]): JsonObject {
  return Object.fromEntries(entries.toSorted((a, b) => compareText(a[0], b[0])));
}

const STATUS: JsonObject = objectSchema({ status: { type: 'string' } });

const AUTHORIZATION: JsonObject = objectSchema({
  authz: objectSchema({ enforcement: choice(['none', 'active']), outcome: choice(['pass', 'fail']) }, ['enforcement']),
});

/** The endpoints of every server, whatever its definitions. Probes need no key. */
function serverPaths(operationIds: NameAllocator, apiKey: boolean): readonly Entry[] {
  const forbidden: JsonObject = apiKey ? { '403': errorResponse(403) } : {};
  const tooLarge = { '431': errorResponse(431) };
  const draining = { '503': errorResponse(503) };
  const get = (name: string, summary: string, responses: JsonObject): JsonObject => {
    const open = apiKey && responses['403'] === undefined ? { security: [] } : {};
    return {
      get: {
        tags: ['server'],
        operationId: operationIds.allocate(name),
        summary,
        ...open,
        responses: { ...responses, ...tooLarge },
      },
    };
  };
  return [
    ['/_debug/ping', get('ping', 'Ping', { '200': json('The server responds.', STATUS) })],
    [
      '/_debug/status',
      get('status', 'State of authentication', { '200': json('The state.', AUTHORIZATION), ...forbidden }),
    ],
    ['/healthz', get('healthz', 'Health', { '200': json('The server is healthy.', STATUS), ...draining })],
    ['/livez', get('livez', 'Liveness', { '200': json('The process is alive.', STATUS) })],
    ['/metrics', get('metrics', 'Metrics', { '200': plainText('Prometheus text format.'), ...forbidden })],
    ['/readyz', get('readyz', 'Readiness', { '200': json('The server accepts calls.', STATUS), ...draining })],
  ];
}

function json(description: string, schema: JsonObject): JsonObject {
  return { description, headers: SUCCESS_HEADERS.other, content: { 'application/json': { schema } } };
}

function plainText(description: string): JsonObject {
  return { description, headers: SUCCESS_HEADERS.other, content: { 'text/plain': { schema: { type: 'string' } } } };
}

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
interface PathParts {
  readonly examples: Examples;
  readonly types: ComponentSchemas;
  readonly own: OwnSchemas;
  readonly schemaNames: NameAllocator;
  readonly operationIds: NameAllocator;
  readonly errors: ErrorOptions;
  /** With the paths of feature `beta`. */
  readonly beta: boolean;
}

interface FunctionPaths {
  readonly paths: ReadonlyArray<readonly [string, JsonObject]>;
  readonly schemas: ReadonlyArray<readonly [string, JsonObject]>;
}

/** `POST /call/{name}` and `POST /stream/{name}` with the schemas of the request and of the events. */
function functionPaths(fn: FunctionType, parts: PathParts): FunctionPaths {
  const requestName = parts.schemaNames.allocate(`${fn.name}Request`);
  const eventName = parts.schemaNames.allocate(`${fn.name}StreamEvent`);
  const result = parts.types.of(fn.returns, 'output');
  const request = requestBody(requestName, parts.examples.of(fn));
  const call = {
    operationId: fn.name,
    summary: summaryOf(fn) ?? `Call ${fn.name}`,
    ...documented(fn.documentation),
    parameters: [IDEMPOTENCY_KEY],
    response: success(CALL_TEXT, SUCCESS_HEADERS.call, 'application/json', result),
  };
  const stream = {
    operationId: parts.operationIds.allocate(`stream${fn.name}`),
    summary: summaryOf(fn) ?? `Stream ${fn.name}`,
    ...documented(fn.documentation, STREAM_TEXT),
    parameters: [IDEMPOTENCY_KEY],
    response: success(
      'Partial results, then the final one.',
      SUCCESS_HEADERS.stream,
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
    response: success('The messages.', SUCCESS_HEADERS.other, 'application/json', RENDERED),
  };
  const parse = {
    operationId: parts.operationIds.allocate(`parse${fn.name}`),
    summary: `Value that ${fn.name} would return for a reply`,
    response: success(
      'The value; in a member `value` if the request includes more.',
      SUCCESS_HEADERS.parse,
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
function summaryOf(fn: FunctionType): string | undefined {
  const line = fn.documentation?.trim().split('\n')[0]?.trim() ?? '';
  return line === '' || line.length > MAX_SUMMARY ? undefined : line;
}

function documented(...texts: ReadonlyArray<string | undefined>): JsonObject {
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

const NO_TAGS: Referenced['tags'] = new Map();

/** A class, enum or recursive alias as one view shows it. */
interface Definition {
  readonly name: string;
  readonly view: View;
}

/**
 * Schemas of types in the dialect of the document, and the component schemas that they lead to. A class has one
 * component for each view that uses it: `Resume`, `ResumePartial`, and `ResumeInput` where arguments and results differ.
 */
class ComponentSchemas {
  readonly #index: DefinitionIndex;
  readonly #allocator: NameAllocator;
  readonly #own: OwnSchemas;
  readonly #schemas: JsonSchemas;
  /** Component names, by view and name. */
  readonly #names = new Map<string, string>();
  readonly #definitions = new Map<string, Definition>();
  readonly #components = new Map<string, JsonObject>();

  constructor(index: DefinitionIndex, own: OwnSchemas, allocator: NameAllocator) {
    this.#index = index;
    this.#own = own;
    this.#allocator = allocator;
    this.#schemas = new JsonSchemas(index, {
      named: (name, view) => this.#component(name, view),
      media: (kind) => own.media(kind),
      check: () => own.ref('SvcCheck'),
      propertyNames: false,
    });
  }

  /** The components that the schemas made so far lead to. */
  get components(): ReadonlyMap<string, JsonObject> {
    // The loop visits the definitions that it adds; a recursion could be as deep as a chain of classes is long.
    for (const [componentName, { name, view }] of this.#definitions) {
      if (this.#components.has(componentName)) continue;
      const schema = this.#dialect(this.#schemas.definition(name, view));
      this.#components.set(
        componentName,
        this.#index.aliases.has(name) ? openLists(schema, this.#aliasReferences()) : schema,
      );
    }
    return this.#components;
  }

  of(type: Type, view: View): JsonObject {
    return this.#dialect(this.#schemas.of(type, view));
  }

  /** The argument object of a function. */
  request(fn: FunctionType): JsonObject {
    return this.#dialect(this.#schemas.request(fn, { svc_options: this.#own.ref('SvcOptions') }));
  }

  #dialect(schema: JsonObject): JsonObject {
    return openApiSchema(schema, (reference) => this.#referenced(reference));
  }

  #referenced(reference: string): Referenced | undefined {
    const { name = '', view } = this.#definitions.get(reference.slice(REFERENCE.length)) ?? {};
    const type = this.#index.classes.get(name);
    // While a value grows, its tag can be null.
    if (type !== undefined) return { type: 'object', tags: view === 'partial' ? NO_TAGS : tagsOf(type, view) };
    return this.#index.enums.has(name) ? { type: 'string', tags: NO_TAGS } : undefined;
  }

  #component(name: string, view: View): JsonObject {
    const seen = this.#schemas.viewOf(name, view);
    const key = `${seen} ${name}`;
    const known = this.#names.get(key);
    if (known !== undefined) return schemaRef(known);
    const componentName = seen === 'output' ? name : this.#allocator.allocate(`${name}${VIEW_SUFFIX[seen]}`);
    this.#names.set(key, componentName);
    this.#definitions.set(componentName, { name, view: seen });
    return schemaRef(componentName);
  }

  /** References to the components of the aliases that schemas mentioned so far. */
  #aliasReferences(): ReadonlySet<string> {
    const components = [...this.#definitions].filter(([, { name }]) => this.#index.aliases.has(name));
    return new Set(components.map(([componentName]) => `${REFERENCE}${componentName}`));
  }
}

/** The fields whose type is one string. */
function tagsOf({ fields }: ClassType, view: View | undefined): Referenced['tags'] {
  const tags = new Map<string, string>();
  for (const { name, type, skip } of fields) {
    const [value] = plainLiterals(type);
    if (typeof value === 'string' && (view === 'input' || !skip)) tags.set(name, value);
  }
  return tags;
}
