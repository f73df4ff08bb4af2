import { isJsonObject } from '../../../base/json.ts';
import type { JsonValue } from '../../../base/json.ts';
import type { Result } from '../../../base/result.ts';
import { err, ok } from '../../../base/result.ts';
import { anthropicFormat } from '../formats/anthropic-format.ts';
import type { CallResult, WireProtocol } from '../http-model-client.ts';
import type { ClientOptions } from '../options/client-options.ts';
import type { OptionReader } from '../options/option-reader.ts';
import { anthropicMessages } from './anthropic-messages.ts';
import { googleProtocol, modelPath } from './google-ai.ts';
import { googleToken, readIdentity } from './google-token.ts';
import type { GoogleIdentity } from './google-token.ts';
import type { Connection, HttpProvider, MissingSecret, ProviderAccess } from './provider.ts';
import { replyFormat } from './reply-formats.ts';
import { requestHeaders, requestPath } from './request-head.ts';

const CREDENTIALS = 'GOOGLE_APPLICATION_CREDENTIALS';
const CREDENTIALS_CONTENT = 'GOOGLE_APPLICATION_CREDENTIALS_CONTENT';

/** Where the metadata service is. It is not looked for: on other machines that would cost each call a timeout. */
const METADATA_HOST = 'GCE_METADATA_HOST';

/**
 * Vertex AI: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference. Credentials are a
 * service account or a user, as option or by the standard variables, or the account of the machine. With `anthropic_version` the model is one of Anthropic's.
 */
export const vertexAi: HttpProvider = {
  roles: ['system', 'user', 'assistant'],
  defaultRole: 'user',
  variables: [CREDENTIALS, CREDENTIALS_CONTENT, METADATA_HOST],
  ownOrigins: /^https:\/\/(?:[a-z0-9-]+-)?aiplatform\.googleapis\.com$/u,
  connect,
};

const LOCATION = /^[a-z0-9-]{1,40}$/u;
const PROJECT = /^[a-z0-9:.-]{1,63}$/u;
const DEFAULT_MAX_TOKENS = 4096;

interface VertexClient {
  readonly url: string;
  readonly model: string;
  readonly location: string | undefined;
  readonly project: string | undefined;
  readonly anthropicVersion: string | undefined;
  readonly credentials: JsonValue | undefined;
  readonly options: ClientOptions;
}

function connect(options: ClientOptions, reader: OptionReader): Connection {
  const location = reader.string('location');
  const model = reader.string('model');
  if (model === undefined) reader.fault('model', 'is required: it is part of the URL');
  if ((location === undefined) === (options.baseUrl === undefined)) {
    reader.fault('location', 'or "base_url" is required, and not both');
  } else if (location !== undefined && !LOCATION.test(location)) {
    reader.fault('location', 'has to be the name of a Google Cloud location');
  }
  const project = reader.string('project_id');
  if (project !== undefined && !PROJECT.test(project)) reader.fault('project_id', 'has to be the id of a project');
  const url = options.baseUrl ?? hostOf(location ?? 'invalid');
  const client: VertexClient = {
    url,
    model: model ?? '',
    location,
    project,
    anthropicVersion: reader.string('anthropic_version'),
    credentials: reader.take('credentials') ?? reader.take('credentials_content'),
    options,
  };
  reader.take('credentials_content');
  return {
    url,
    ...(model === undefined ? {} : { model }),
    mediaUrls: client.anthropicVersion === undefined ? { image: 'send_base64' } : { pdf: 'send_base64' },
    protocol: (apiKey, access) => protocol(client, apiKey, access),
  };
}

/** The global location has the host without a prefix. */
function hostOf(location: string): string {
  return location === 'global' ? 'https://aiplatform.googleapis.com' : `https://${location}-aiplatform.googleapis.com`;
}

/** A client with an authorization header of its own needs no service account. */
function protocol(
  client: VertexClient,
  apiKey: string | undefined,
  access: ProviderAccess,
): WireProtocol | MissingSecret {
  const { options } = client;
  const fixed = apiKey === undefined ? options.headers.get('authorization') : `Bearer ${apiKey}`;
  if (fixed !== undefined) return authorized(client, client.project, () => ok(fixed));
  const identity = findIdentity(client, access);
  if (identity === undefined) return { missing: CREDENTIALS };
  const token = googleToken(identity, access.pools);
  return authorized(client, client.project ?? identity.projectId, async () => {
    const held = await token.get();
    return held.ok ? ok(`Bearer ${held.value}`) : held;
  });
}

/** A request cannot name files of the server, neither by an option nor by a variable. */
function findIdentity({ credentials }: VertexClient, access: ProviderAccess): GoogleIdentity | undefined {
  const own = typeof credentials === 'string' || isJsonObject(credentials) ? credentials : undefined;
  if (own !== undefined) return readIdentity(own, access.trusted);
  const given = access.secret(CREDENTIALS_CONTENT) ?? access.secret(CREDENTIALS);
  if (given !== undefined) {
    const ofServer = given === access.ofServer(CREDENTIALS_CONTENT) || given === access.ofServer(CREDENTIALS);
    return readIdentity(given, ofServer);
  }
  const host = access.ofServer(METADATA_HOST);
  return host === undefined ? undefined : { kind: 'machine', host, projectId: undefined };
}

type Authorization = () => Result<string, string> | Promise<Result<string, string>>;

function authorized(client: VertexClient, project: string | undefined, authorize: Authorization): WireProtocol {
  const headers = requestHeaders(client.options, {});
  const base = modelUrl(client, project);
  const inner =
    client.anthropicVersion === undefined
      ? googleProtocol({ base, options: client.options, headers })
      : anthropicProtocol(client, base, headers);
  return {
    format: inner.format,
    async call(messages, streamed): Promise<CallResult> {
      if (client.location !== undefined && project === undefined)
        return err('needs "project_id", or credentials that name one');
      const call = await inner.call(messages, streamed);
      if (!call.ok) return call;
      const authorization = await authorize();
      if (!authorization.ok) return authorization;
      return ok({ ...call.value, headers: withAuthorization(call.value.headers, authorization.value) });
    },
  };
}

function withAuthorization(headers: readonly string[], authorization: string): readonly string[] {
  return headers.includes('authorization') ? headers : [...headers, 'authorization', authorization];
}

function modelUrl(client: VertexClient, project: string | undefined): string {
  const { url, location, model } = client;
  if (location === undefined) return `${url}/${modelPath(model)}`;
  const publisher = client.anthropicVersion === undefined ? 'google' : 'anthropic';
  return `${url}/v1/projects/${project ?? '-'}/locations/${location}/publishers/${publisher}/models/${modelPath(model)}`;
}

function anthropicProtocol(client: VertexClient, base: string, headers: readonly string[]): WireProtocol {
  const { options } = client;
  const members = Object.fromEntries(options.body);
  return {
    format: replyFormat(options, anthropicFormat),
    call(messages, streamed) {
      const wire = anthropicMessages(messages, options);
      if (!wire.ok) return err(wire.failure);
      const limit = options.body.has('max_tokens') ? {} : { max_tokens: DEFAULT_MAX_TOKENS };
      const version = { anthropic_version: client.anthropicVersion };
      const body = { ...version, ...members, ...limit, ...wire.value, ...(streamed ? { stream: true } : {}) };
      const path = requestPath(base, streamed ? ':streamRawPredict' : ':rawPredict', options);
      return ok({ path, headers, body: JSON.stringify(body) });
    },
  };
}
