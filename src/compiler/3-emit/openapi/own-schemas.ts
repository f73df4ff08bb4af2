import type { JsonObject } from '../../../base/json.ts';
import {
  anyOf,
  choice,
  closed,
  described,
  MEDIA_BY_URL,
  MEDIA_INLINE,
  NULL_SCHEMA,
  nullable,
  objectSchema,
} from '../../../schema/json-schema.ts';
import type { MediaKind } from '../../../schema/type.ts';
import { type NameAllocator, openApiSchema, schemaRef } from './dialect.ts';
import { errorSchema, FIELD_SHAPES } from './responses.ts';

const TEXT: JsonObject = { type: 'string' };

/** The schemas that svc adds to those of the definitions; each gets a name that no definition has. */
const OWN_SCHEMAS = {
  SvcError: errorSchema,
  SvcOptions: optionsSchema,
  SvcReplyOptions: () =>
    described(closed(REPLY_OPTIONS, []), 'Options for the value of a reply. All of them are optional.'),
  SvcWarning: warningSchema,
  SvcMeta: metaSchema,
  SvcExplanation: explanationSchema,
  SvcClientRegistry: clientRegistrySchema,
  SvcClient: clientSchema,
  SvcCheck: checkSchema,
  SvcStreamReset: resetSchema,
  SvcStreamReasoning: () =>
    described(objectSchema({ reasoning: TEXT }), 'More of the reasoning, if the request includes it.'),
  SvcMediaUrl: () => withoutNullKeys(MEDIA_BY_URL),
  SvcMediaBase64: () => withoutNullKeys(MEDIA_INLINE),
  SvcImage: (own) => mediaSchema(own, 'An image, by URL or inline.'),
  SvcAudio: (own) => mediaSchema(own, 'Audio, by URL or inline.'),
  SvcPdf: (own) => mediaSchema(own, 'A PDF document, by URL or inline.'),
  SvcVideo: (own) => mediaSchema(own, 'A video, by URL or inline.'),
} satisfies Readonly<Record<string, (own: OwnSchemas) => JsonObject>>;

export type OwnSchema = keyof typeof OWN_SCHEMAS;

const MEDIA_SCHEMAS: Readonly<Record<MediaKind, OwnSchema>> = {
  image: 'SvcImage',
  audio: 'SvcAudio',
  pdf: 'SvcPdf',
  video: 'SvcVideo',
};

/** Names and contents of svc's own schemas in one document. */
export class OwnSchemas {
  readonly #names: ReadonlyMap<OwnSchema, string>;
  readonly #used = new Set<OwnSchema>();

  constructor(allocator: NameAllocator) {
    const names = Object.keys(OWN_SCHEMAS) as readonly OwnSchema[];
    this.#names = new Map(names.map((name) => [name, allocator.allocate(name)]));
  }

  /** A reference; the document gets the schema that it names. */
  ref(name: OwnSchema): JsonObject {
    this.#used.add(name);
    return schemaRef(this.#names.get(name) ?? name);
  }

  media(kind: MediaKind): JsonObject {
    return this.ref(MEDIA_SCHEMAS[kind]);
  }

  /** The name in the document and the schema of each one that has a reference. */
  entries(): ReadonlyArray<readonly [string, JsonObject]> {
    const entries: Array<readonly [string, JsonObject]> = [];
    for (const name of this.#used) {
      entries.push([this.#names.get(name) ?? name, openApiSchema(OWN_SCHEMAS[name](this), () => undefined)]);
    }
    return entries;
  }
}

function optionsSchema(own: OwnSchemas): JsonObject {
  const properties = {
    client: described(TEXT, 'The client that answers this request: a name, or a `provider/model` shorthand.'),
    client_registry: own.ref('SvcClientRegistry'),
    env: described(
      { type: 'object', additionalProperties: nullable(TEXT) },
      'Environment variables for this request alone; null removes one.',
    ),
    tags: described({ type: 'object', additionalProperties: TEXT }, 'Strings that the prompt reads as `ctx.tags`.'),
    route_key: described(
      { ...TEXT, minLength: 1, maxLength: 256 },
      'Calls with the same key reach the same member of a round-robin client.',
    ),
    cache: described(
      closed({ ttl: described(TEXT, 'Such as `30s`, `10m` or `24h`; `0` for no cache.') }, ['ttl']),
      'Returns the answer of an equal call for this time, instead of the time in the options of the client. Needs `--cache` on the server.',
    ),
    ...REPLY_OPTIONS,
    include: described(
      { type: 'array', items: choice(['warnings', ...Object.keys(META_PROPERTIES)]) },
      'Parts of the answer in addition to the value: `warnings`, what the value lacks, and members of `SvcMeta`. A call with any part returns `{"result": …, "meta": {…}}`. `raw`, `reasoning` and `prompt` need `--expose-prompts` on the server.',
    ),
  };
  return described(
    closed(properties, []),
    'Options of one request. All of them are optional. `__svc_options__` is another name for the same object.',
  );
}

function clientRegistrySchema(own: OwnSchemas): JsonObject {
  const properties = {
    primary: described(
      TEXT,
      'The client that answers: one of this registry, one of the definitions, or `provider/model`.',
    ),
    fallback: described({ type: 'array', items: TEXT }, 'Clients to try in order after the primary one.'),
    clients: described(
      { type: 'array', items: own.ref('SvcClient') },
      'Clients for this request alone; one with the name of a defined client replaces it.',
    ),
  };
  return closed(properties, []);
}

/** The two forms of a media value. */
function mediaSchema(own: OwnSchemas, text: string): JsonObject {
  return described(anyOf([own.ref('SvcMediaUrl'), own.ref('SvcMediaBase64')]), text);
}

const REPLY_OPTIONS = {
  include: described(
    { type: 'array', items: choice(['warnings']) },
    'Parts of the answer in addition to the value. `warnings`: what the value lacks.',
  ),
  on_loss: described(
    choice(['accept', 'refuse']),
    'Whether to return a value that lacks a part of the reply, or to fail. Default: the setting of the server.',
  ),
  // Generators for Java cannot express a string or an object.
  type_builder: described(
    {},
    'Extends `@@dynamic` types for this request: a string with definitions, such as `dynamic class Person { age int? }`, or an object with JSON Schemas by type name: `{"json_schema": {…}}`.',
  ),
};

/** The members that report what a value lacks. */
export function warningProperties(warning: JsonObject): Readonly<Record<string, JsonObject>> {
  return {
    warnings: described({ type: 'array', items: warning }, 'What the value lacks; present if the request includes it.'),
    more_warnings: described({ type: 'integer' }, 'The number of losses that the list does not report, if any.'),
  };
}

function warningSchema(): JsonObject {
  const properties = {
    path: described(TEXT, 'The place in the value; empty for the whole value.'),
    message: described(TEXT, 'The reason.'),
    kind: described(
      choice(['dropped', 'defaulted', 'truncated', 'made_up']),
      '`dropped`: a list member or map entry. `defaulted`: a value that became null. `truncated`: the provider cut the reply off. `made_up`: an offline client made up the value.',
    ),
  };
  return described(objectSchema(properties), 'A part of the reply that the value lacks.');
}

const MILLISECONDS: JsonObject = { type: 'number' };

const TOKENS: JsonObject = { type: 'integer' };

const META_PROPERTIES = {
  usage: described(
    objectSchema(
      {
        input_tokens: TOKENS,
        output_tokens: TOKENS,
        cached_input_tokens: described(TOKENS, 'Read from the cache of the provider.'),
        cache_written_input_tokens: described(TOKENS, 'Written to the cache of the provider.'),
        reasoning_tokens: TOKENS,
        audio_input_tokens: TOKENS,
        audio_output_tokens: TOKENS,
      },
      [],
    ),
    'The tokens of all attempts together; each count is present if the provider reports it.',
  ),
  client: described(
    objectSchema({ name: TEXT, model: TEXT, finish_reason: TEXT }, []),
    'The client and the model that answered, and why the model stopped, in the words of its provider.',
  ),
  attempts: described(FIELD_SHAPES.attempts, 'The requests to models.'),
  raw: described(TEXT, 'The text of the reply.'),
  reasoning: described(TEXT, 'The reasoning of the model, if the provider sends it.'),
  prompt: described(FIELD_SHAPES.messages, 'The messages that svc sent.'),
  timing: described(
    objectSchema({ model_ms: MILLISECONDS, first_text_ms: MILLISECONDS, total_ms: MILLISECONDS }, [
      'model_ms',
      'total_ms',
    ]),
    'Milliseconds spent waiting for models, until the first text of the model, and in total.',
  ),
};

function metaSchema(): JsonObject {
  const cost = described({ type: 'number' }, 'US dollars; with `usage`, if the tokens and the prices are known.');
  return described(
    objectSchema({ ...META_PROPERTIES, cost }, []),
    'Facts about the call; each is present if the request includes it.',
  );
}

function explanationSchema(): JsonObject {
  const violation = objectSchema({ path: TEXT, message: TEXT });
  const counts = objectSchema({ dropped: TOKENS, defaulted: TOKENS, truncated: TOKENS }, ['dropped', 'defaulted']);
  const flag = objectSchema({ flag: TEXT, path: TEXT, detail: TEXT, losses: counts }, ['flag', 'path']);
  const candidate = {
    place: described(
      choice(['whole', 'fence', 'prose', 'thought', 'text', 'several']),
      'The place of the value in the reply; `several`: values that svc joined into a list.',
    ),
    from: described({ type: 'integer' }, 'The offset of the first character, in UTF-16 units.'),
    to: described({ type: 'integer' }, 'The offset after the last character, in UTF-16 units.'),
    verdict: choice(['taken', 'passed-over', 'mismatch']),
    json: described(TEXT, 'The beginning of the JSON text that the candidate becomes, if it matches the type.'),
    cut: described(choice([true]), 'Present if `json` is only the beginning.'),
    reasons: described({ type: 'array', items: violation }, 'Why the candidate does not match.'),
    flags: described({ type: 'array', items: flag }, 'What svc repaired, dropped or guessed.'),
    criterion: described(TEXT, 'Why svc passed over a candidate that matches.'),
  };
  const required = ['place', 'from', 'to', 'verdict', 'flags'];
  const properties = {
    candidates: described(
      { type: 'array', items: objectSchema(candidate, required) },
      'The parts of the reply that svc tried.',
    ),
    omitted: described({ type: 'integer' }, 'The number of candidates that the list does not contain.'),
  };
  return described(objectSchema(properties), 'How svc read a reply.');
}

/**
 * A form of a media value without the key of the other form, for which calls accept null: generators that merge the two
 * forms into one class would give this key an enum of null as its type.
 */
function withoutNullKeys({ properties, ...rest }: JsonObject): JsonObject {
  const entries = Object.entries((properties ?? {}) as JsonObject);
  return { ...rest, properties: Object.fromEntries(entries.filter(([, schema]) => schema !== NULL_SCHEMA)) };
}

function checkSchema(): JsonObject {
  const schema = objectSchema({ name: TEXT, expression: TEXT, status: choice(['succeeded', 'failed']) });
  return described(schema, 'The outcome of one `@check`.');
}

function resetSchema(): JsonObject {
  const schema = objectSchema({ reset: objectSchema({ reason: TEXT }) });
  return described(schema, 'An attempt failed midway and svc retries it: partial results start again.');
}

function clientSchema(): JsonObject {
  const properties = {
    name: TEXT,
    provider: TEXT,
    options: described({ type: 'object', additionalProperties: true }, 'As in a client block of the definitions.'),
    retry_policy: described(nullable(TEXT), 'A retry policy of the definitions.'),
  };
  return closed(properties, ['name', 'provider']);
}
