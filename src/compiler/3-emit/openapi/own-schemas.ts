import type { JsonObject } from '../../../base/json.ts';
import type { MediaKind } from '../../../schema/type.ts';
import type { NameAllocator } from './name-allocator.ts';
import { errorSchema } from './responses.ts';
import { anyOf, choice, described, nullable, objectSchema, schemaRef } from './schema-shapes.ts';

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

const MEDIA_TEXTS = {
  SvcImage: 'An image, by URL or inline.',
  SvcAudio: 'Audio, by URL or inline.',
  SvcPdf: 'A PDF document, by URL or inline.',
  SvcVideo: 'A video, by URL or inline.',
};

/** Names and contents of our own schemas in one document. */
export class OwnSchemas {
  readonly #names: ReadonlyMap<OwnSchema, string>;
  readonly #used = new Set<OwnSchema>();

  constructor(allocator: NameAllocator) {
    this.#names = new Map(OWN_SCHEMAS.map((name) => [name, allocator.allocate(name)]));
  }

  /** A reference; what is referred to comes into the document. */
  ref(name: OwnSchema): JsonObject {
    this.#used.add(name);
    return schemaRef(this.#names.get(name) ?? name);
  }

  media(kind: MediaKind): JsonObject {
    return this.ref(MEDIA_SCHEMAS[kind]);
  }

  /** Name in the document and schema of each that is referred to. */
  entries(): ReadonlyArray<readonly [string, JsonObject]> {
    const entries: Array<readonly [string, JsonObject]> = [];
    for (const name of this.#used) entries.push([this.#names.get(name) ?? name, this.#schema(name)]);
    return entries;
  }

  #schema(name: OwnSchema): JsonObject {
    switch (name) {
      case 'SvcError':
        return errorSchema();
      case 'SvcOptions':
        return this.#options();
      case 'SvcClientRegistry':
        return this.#clientRegistry();
      case 'SvcClient':
        return clientSchema();
      case 'SvcCheck':
        return checkSchema();
      case 'SvcStreamReset':
        return resetSchema();
      case 'SvcMediaUrl':
        return closed({ url: TEXT, media_type: nullable(TEXT) }, ['url']);
      case 'SvcMediaBase64':
        return closed({ base64: { type: 'string', format: 'byte' }, media_type: nullable(TEXT) }, ['base64']);
      case 'SvcImage':
      case 'SvcAudio':
      case 'SvcPdf':
      case 'SvcVideo':
        return described(anyOf([this.ref('SvcMediaUrl'), this.ref('SvcMediaBase64')]), MEDIA_TEXTS[name]);
    }
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

function closed(properties: Readonly<Record<string, JsonObject>>, required: readonly string[]): JsonObject {
  return { ...objectSchema(properties, required), additionalProperties: false };
}
