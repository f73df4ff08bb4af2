import { isJsonObject } from '../../../base/json.ts';
import type { JsonObject } from '../../../base/json.ts';
import { err } from '../../../base/result.ts';
import type { ReadyProtocol, WireProtocol } from '../http-model-client.ts';
import type { ClientOptions } from '../options/client-options.ts';
import type { OptionReader } from '../options/option-reader.ts';
import { anthropicProtocol } from './anthropic.ts';
import { googleProtocol, modelPath } from './google-ai.ts';
import { GOOGLE_CREDENTIAL_VARIABLES, findGoogleIdentity } from './google-credentials.ts';
import type { GoogleIdentity } from './google-identity.ts';
import { googleToken } from './google-token.ts';
import type { Connection, HttpProvider, MissingSecret, ProviderAccess, Setting } from './provider.ts';
import { withCredential } from './renewed-credential.ts';
import type { RenewedCredential } from './renewed-credential.ts';
import { requestHeaders, requestPath } from './request-head.ts';

/** The project of calls when neither the client nor its credentials name one. */
const PROJECT_VARIABLE = 'GOOGLE_CLOUD_PROJECT';

/**
 * Vertex AI: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference. With
 * `anthropic_version` the model is one of Anthropic's.
 */
export const vertexAi: HttpProvider = {
  roles: ['system', 'user', 'assistant'],
  defaultRole: 'user',
  variables: [PROJECT_VARIABLE, ...GOOGLE_CREDENTIAL_VARIABLES],
  ownOrigins: /^https:\/\/(?:(?:[a-z0-9-]+-)?aiplatform|aiplatform\.(?:us|eu)\.rep)\.googleapis\.com$/u,
  connect,
};

const LOCATION = /^[a-z0-9-]{1,40}$/u;
const MULTI_REGIONS: ReadonlySet<string> = new Set(['us', 'eu']);
const PROJECT = /^[a-z0-9][a-z0-9:.-]{0,62}$/u;

interface VertexClient {
  readonly url: string;
  readonly model: string;
  readonly location: string | undefined;
  readonly project: string | undefined;
  readonly defaultProject: string | undefined;
  readonly anthropicVersion: string | undefined;
  readonly credentials: string | JsonObject | undefined;
  readonly options: ClientOptions;
}

function connect(options: ClientOptions, reader: OptionReader, setting: Setting): Connection {
  const location = readLocation(options, reader);
  const model = reader.string('model');
  if (model === undefined) reader.fault('model', 'is required: it is part of the URL');
  const url = options.baseUrl ?? hostOf(location ?? 'invalid');
  const client: VertexClient = {
    url,
    model: model ?? '',
    location,
    project: readProject(reader),
    defaultProject: setting(PROJECT_VARIABLE),
    anthropicVersion: reader.string('anthropic_version'),
    credentials: readCredentials(reader),
    options,
  };
  return {
    url,
    ...(model === undefined ? {} : { model }),
    mediaUrls: client.anthropicVersion === undefined ? { image: 'send_base64' } : { pdf: 'send_base64' },
    protocol: (apiKey, access) => protocol(client, apiKey, access),
  };
}

function readLocation(options: ClientOptions, reader: OptionReader): string | undefined {
  const location = reader.string('location');
  if ((location === undefined) === (options.baseUrl === undefined)) {
    reader.fault('location', 'or "base_url" is required, and not both');
  } else if (location !== undefined && !LOCATION.test(location)) {
    reader.fault('location', 'has to be the name of a Google Cloud location');
  }
  return location;
}

function readProject(reader: OptionReader): string | undefined {
  const project = reader.string('project_id');
  if (project !== undefined && !PROJECT.test(project)) reader.fault('project_id', 'has to be the id of a project');
  return project;
}

function readCredentials(reader: OptionReader): string | JsonObject | undefined {
  const content = reader.take('credentials_content');
  const credentials = reader.take('credentials') ?? content ?? undefined;
  if (credentials === undefined || typeof credentials === 'string' || isJsonObject(credentials)) return credentials;
  reader.fault('credentials', 'has to be a map, the same as JSON text, or the path of a file');
  return undefined;
}

/** https://docs.cloud.google.com/gemini-enterprise-agent-platform/resources/locations: regions, multi-regions, the globe. */
function hostOf(location: string): string {
  if (location === 'global') return 'https://aiplatform.googleapis.com';
  if (MULTI_REGIONS.has(location)) return `https://aiplatform.${location}.rep.googleapis.com`;
  return `https://${location}-aiplatform.googleapis.com`;
}

/** A client with an authorization header of its own needs no account. */
function protocol(
  client: VertexClient,
  apiKey: string | undefined,
  access: ProviderAccess,
): WireProtocol | MissingSecret {
  const own = apiKey ?? client.options.headers.get('authorization')?.replace(/^Bearer /u, '');
  if (own !== undefined) return authorized(client, client.project ?? client.defaultProject, own);
  const identity = findGoogleIdentity(client.credentials, access);
  if ('missing' in identity) return identity;
  const project = client.project ?? identity.projectId ?? client.defaultProject;
  const options = withQuotaProject(client.options, identity);
  return authorized({ ...client, options }, project, googleToken(identity, access.pools));
}

/** Google asks users, unlike service accounts, which project their calls are billed to. */
function withQuotaProject(options: ClientOptions, identity: GoogleIdentity): ClientOptions {
  if (identity.kind !== 'user' || identity.quotaProject === undefined) return options;
  return { ...options, headers: new Map([['x-goog-user-project', identity.quotaProject], ...options.headers]) };
}

function authorized(
  client: VertexClient,
  project: string | undefined,
  token: string | RenewedCredential<string>,
): WireProtocol {
  const headers = requestHeaders(client.options, {});
  const fault = client.location === undefined ? undefined : projectFault(project);
  const inner = modelProtocol(client, modelUrl(client, fault === undefined ? project : undefined), headers);
  return {
    format: inner.format,
    call(messages, streamed) {
      if (fault !== undefined) return err(fault);
      const call = inner.call(messages, streamed);
      if (!call.ok) return call;
      return withCredential(token, (value) => ({ ...call.value, headers: withToken(call.value.headers, value) }));
    },
  };
}

/** A project that credentials or a variable name is part of the path, as is one that the client names. */
function projectFault(project: string | undefined): string | undefined {
  if (project === undefined) return `needs "project_id", credentials that name one, or ${PROJECT_VARIABLE}`;
  if (PROJECT.test(project)) return undefined;
  return `takes its project from its credentials or ${PROJECT_VARIABLE}, and that is not the id of a project`;
}

/** An authorization header of the client's own is there already, as it is. */
function withToken(headers: readonly string[], token: string): readonly string[] {
  return headers.includes('authorization') ? headers : [...headers, 'authorization', `Bearer ${token}`];
}

function modelUrl(client: VertexClient, project: string | undefined): string {
  const { url, location, model } = client;
  if (location === undefined) return `${url}/${modelPath(model)}`;
  const publisher = client.anthropicVersion === undefined ? 'google' : 'anthropic';
  return `${url}/v1/projects/${project ?? '-'}/locations/${location}/publishers/${publisher}/models/${modelPath(model)}`;
}

function modelProtocol(client: VertexClient, base: string, headers: readonly string[]): ReadyProtocol {
  const { options, anthropicVersion } = client;
  if (anthropicVersion === undefined) return googleProtocol({ base, options, headers });
  const paths = {
    whole: requestPath(base, ':rawPredict', options),
    streamed: requestPath(base, ':streamRawPredict', options),
  };
  return anthropicProtocol({ paths, options, headers, members: { anthropic_version: anthropicVersion } });
}
