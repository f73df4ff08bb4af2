import { err } from '../../../base/result.ts';
import { GOOGLE_PROJECT_ID, GOOGLE_PROJECT_VARIABLE } from '../../../schema/providers/google.ts';
import type { VERTEX_AI } from '../../../schema/providers/google.ts';
import type { ClientOptions } from '../client-options.ts';
import type { ReadyProtocol, WireProtocol } from '../http-model-client.ts';
import { anthropicProtocol } from './anthropic.ts';
import { googleProtocol, modelPath } from './google-ai.ts';
import { findGoogleIdentity } from './google-identity.ts';
import type { GoogleIdentity } from './google-identity.ts';
import { googleToken } from './google-token.ts';
import { requestHeaders, requestPath } from './provider.ts';
import type { ClientSetup, HttpProvider, MissingSecret, ProviderAccess } from './provider.ts';
import { withCredential } from './renewed-credential.ts';
import type { RenewedCredential } from './renewed-credential.ts';

type VertexClient = ClientSetup<typeof VERTEX_AI.options>;

/** With `anthropic_version`, the model is one of Anthropic's. */
export const vertexAi: HttpProvider = {
  connect: (client: VertexClient) => ({
    ...(client.values.anthropic_version === undefined ? {} : { mediaUrls: { pdf: 'send_base64' } }),
    protocol: (apiKey, access) => protocol(client, apiKey, access),
  }),
};

/** A client with an API key or an authorization header of its own needs no account. */
function protocol(
  client: VertexClient,
  apiKey: string | undefined,
  access: ProviderAccess,
): WireProtocol | MissingSecret {
  const { options, values } = client;
  const own = apiKey ?? options.headers.get('authorization')?.replace(/^Bearer /u, '');
  const byVariable = (): string | undefined => access.setting(GOOGLE_PROJECT_VARIABLE);
  if (own !== undefined || sendsApiKey(options)) return authorized(client, values.project_id ?? byVariable(), own);
  const identity = findGoogleIdentity(values.credentials ?? values.credentials_content, access);
  if ('missing' in identity) return identity;
  const project = values.project_id ?? identity.projectId ?? byVariable();
  return authorized(withQuotaProject(client, identity), project, googleToken(identity, access));
}

/** https://cloud.google.com/vertex-ai/generative-ai/docs/start/api-keys */
function sendsApiKey({ queryParams, headers }: ClientOptions): boolean {
  return queryParams.has('key') || headers.has('x-goog-api-key');
}

/** Google requires of users, unlike of service accounts, the project to which it bills their calls. */
function withQuotaProject(client: VertexClient, identity: GoogleIdentity): VertexClient {
  if (identity.kind !== 'user' || identity.quotaProject === undefined) return client;
  const headers = new Map([['x-goog-user-project', identity.quotaProject], ...client.options.headers]);
  return { ...client, options: { ...client.options, headers } };
}

function authorized(
  client: VertexClient,
  project: string | undefined,
  token: string | RenewedCredential<string> | undefined,
): WireProtocol {
  const headers = requestHeaders(client.options, {});
  const needsProject = client.values.location !== undefined && (project !== undefined || !sendsApiKey(client.options));
  const problem = needsProject ? projectProblem(project) : undefined;
  const inner = modelProtocol(client, modelUrl(client, problem === undefined ? project : undefined), headers);
  return {
    ...inner,
    call(messages, streamed, output) {
      if (problem !== undefined) return err(problem);
      const call = inner.call(messages, streamed, output);
      if (!call.ok || token === undefined) return call;
      return withCredential(token, (value) => ({ ...call.value, headers: withToken(call.value.headers, value) }));
    },
  };
}

/** The project of credentials or a variable is part of the path too, and was not checked with the options. */
function projectProblem(project: string | undefined): string | undefined {
  if (project === undefined) return `needs "project_id", credentials that name one, or ${GOOGLE_PROJECT_VARIABLE}`;
  if (GOOGLE_PROJECT_ID.test(project)) return undefined;
  return `takes its project from its credentials or ${GOOGLE_PROJECT_VARIABLE}, and that is not the ID of a project`;
}

/** An authorization header of the client's own is there already and stays unchanged. */
function withToken(headers: readonly string[], token: string): readonly string[] {
  return headers.includes('authorization') ? headers : [...headers, 'authorization', `Bearer ${token}`];
}

function modelUrl({ url, options, values }: VertexClient, project: string | undefined): string {
  const { location, anthropic_version: version } = values;
  const model = modelPath(options.model ?? '');
  if (location === undefined) return `${url}/${model}`;
  const publisher = version === undefined ? 'google' : 'anthropic';
  // An API key belongs to a project.
  const place = project === undefined ? '' : `/projects/${project}/locations/${location}`;
  return `${url}/v1${place}/publishers/${publisher}/models/${model}`;
}

function modelProtocol({ options, values }: VertexClient, base: string, headers: readonly string[]): ReadyProtocol {
  const { anthropic_version: version, max_tokens: maxTokens } = values;
  if (version === undefined) return googleProtocol({ base, options, headers });
  const paths = {
    whole: requestPath(base, ':rawPredict', options),
    streamed: requestPath(base, ':streamRawPredict', options),
  };
  return anthropicProtocol({ paths, options, headers, members: { anthropic_version: version }, maxTokens });
}
