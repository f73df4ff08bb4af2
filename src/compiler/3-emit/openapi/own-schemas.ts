import type { JsonObject } from '../../../base/json.ts';
import type { MediaKind } from '../../../schema/type.ts';
import type { NameAllocator } from './name-allocator.ts';
import { choice, described, nullable, objectSchema, schemaRef } from './schema-shapes.ts';

const TEXT: JsonObject = { type: 'string' };

/** The schemas that are ours and not the user's; each gets a name that no definition has. */
const OWN_SCHEMAS = [
  'SvcError',
  'SvcOptions',
  'SvcClientRegistry',
  'SvcClient',
  'SvcCheck',
  'SvcStreamReset',
  'SvcMediaUrl',
  'SvcMediaBase64',
  'SvcImage',
  'SvcAudio',
  'SvcPdf',
  'SvcVideo',
] as const;

export type OwnSchema = (typeof OWN_SCHEMAS)[number];

const MEDIA_SCHEMAS: Readonly<Record<MediaKind, OwnSchema>> = {
  image: 'SvcImage',
  audio: 'SvcAudio',
  pdf: 'SvcPdf',
  video: 'SvcVideo',
};

/** Names and contents of our own schemas in one document. */
export class OwnSchemas {
  readonly #names: ReadonlyMap<OwnSchema, string>;

  constructor(allocator: NameAllocator) {
    this.#names = new Map(OWN_SCHEMAS.map((name) => [name, allocator.allocate(name)]));
  }

  ref(name: OwnSchema): JsonObject {
    return schemaRef(this.#names.get(name) ?? name);
  }

  media(kind: MediaKind): JsonObject {
    return this.ref(MEDIA_SCHEMAS[kind]);
  }

  /** Name in the document and schema of each. */
  entries(): ReadonlyArray<readonly [string, JsonObject]> {
    const schemas = this.#schemas();
    return OWN_SCHEMAS.map((name) => [this.#names.get(name) ?? name, schemas[name]]);
  }

  #schemas(): Readonly<Record<OwnSchema, JsonObject>> {
    const media = { anyOf: [this.ref('SvcMediaUrl'), this.ref('SvcMediaBase64')] };
    return {
      SvcError: errorSchema(),
      SvcOptions: this.#options(),
      SvcClientRegistry: this.#clientRegistry(),
      SvcClient: clientSchema(),
      SvcCheck: described(
        objectSchema({ name: TEXT, expression: TEXT, status: choice(['succeeded', 'failed']) }),
        'The outcome of one `@check`.',
      ),
      SvcStreamReset: described(
        objectSchema({ reset: objectSchema({ reason: TEXT }) }),
        'An attempt failed midway and is made again: partial results start anew.',
      ),
      SvcMediaUrl: closed({ url: TEXT, media_type: nullable(TEXT) }, ['url']),
      SvcMediaBase64: closed({ base64: { type: 'string', format: 'byte' }, media_type: nullable(TEXT) }, ['base64']),
      SvcImage: described(media, 'An image, by URL or inline.'),
      SvcAudio: described(media, 'Audio, by URL or inline.'),
      SvcPdf: described(media, 'A PDF document, by URL or inline.'),
      SvcVideo: described(media, 'A video, by URL or inline.'),
    };
  }

  #options(): JsonObject {
    const properties = {
      client: described(TEXT, 'The client that answers this request: a name, or a `provider/model` shorthand.'),
      client_registry: this.ref('SvcClientRegistry'),
      env: described(
        { type: 'object', additionalProperties: nullable(TEXT) },
        'Environment variables for this request alone; null takes one away.',
      ),
    };
    return described(closed(properties, []), 'Options of one request. All of them may be left out.');
  }

  #clientRegistry(): JsonObject {
    const properties = {
      primary: described(TEXT, 'The client that answers: of this registry, of the definitions, or `provider/model`.'),
      fallback: described({ type: 'array', items: TEXT }, 'Clients that are tried in order after the primary one.'),
      clients: described(
        { type: 'array', items: this.ref('SvcClient') },
        'Clients for this request alone; one with the name of a defined client takes its place.',
      ),
    };
    return closed(properties, []);
  }
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

/** The one body of every error. New codes may come, so `error` is no closed enum. */
function errorSchema(): JsonObject {
  const fault = objectSchema({ path: TEXT, message: TEXT });
  const attempt = objectSchema(
    {
      client: TEXT,
      outcome: TEXT,
      upstream_status: { type: 'integer' },
      message: TEXT,
      duration_ms: { type: 'integer' },
    },
    ['client', 'outcome', 'duration_ms'],
  );
  const properties = {
    error: described(TEXT, 'A stable code, such as `invalid_argument`.'),
    message: described(TEXT, 'What is wrong and what to do about it.'),
    request_id: described(TEXT, 'The same as in the header `x-request-id`.'),
    details: described({ type: 'array', items: fault }, 'Every fault of the request or of the reply, with its path.'),
    suggestions: described({ type: 'array', items: TEXT }, 'Names nearest to the one asked for.'),
    raw_output: described(TEXT, 'What the model answered, where it does not fit the return type.'),
    finish_reason: described(TEXT, 'Why the model stopped.'),
    client: described(TEXT, 'The client that failed.'),
    variable: described(TEXT, 'The environment variable that is missing.'),
    upstream_status: described({ type: 'integer' }, 'The HTTP status of the provider.'),
    attempts: described({ type: 'array', items: attempt }, 'Every attempt that was made, in order.'),
    timer: described(TEXT, 'The timer that ran out.'),
    after_ms: described({ type: 'number' }, 'After how many milliseconds it ran out.'),
  };
  return { ...objectSchema(properties, ['error', 'message', 'request_id']), additionalProperties: true };
}

function closed(properties: Readonly<Record<string, JsonObject>>, required: readonly string[]): JsonObject {
  return { ...objectSchema(properties, required), additionalProperties: false };
}
