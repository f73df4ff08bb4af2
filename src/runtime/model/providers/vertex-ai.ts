import { sign, createPrivateKey, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { err, ok, type Result } from '../../../base/result.ts';
import {
  GOOGLE_PROJECT_ID,
  GOOGLE_PROJECT_VARIABLE,
  type VERTEX_AI,
  GOOGLE_VARIABLES,
} from '../../../schema/providers/google.ts';
import type { ClientOptions } from '../client-options.ts';
import type { ReadyProtocol, WireProtocol } from '../http-model-client.ts';
import { anthropicProtocol } from './anthropic.ts';
import { googleProtocol, modelPath } from './google-ai.ts';
import {
  requestHeaders,
  requestPath,
  type ClientSetup,
  type HttpProvider,
  type MissingSecret,
  type ProviderAccess,
} from './provider.ts';
import { withCredential, RenewedCredential, type Lease } from './cloud-credential.ts';
import { countAt, parseJson, stringAt, type JsonObject } from '../../../base/json.ts';
import { askService, type ServiceRequest } from '../http/http-exchange.ts';
import type { ConnectionPools } from '../http/connection-pools.ts';
import { credentialsIn } from '../../../base/credentials.ts';

type VertexClient = ClientSetup<typeof VERTEX_AI.options>;

/** With `anthropic_version`, the model is one of Anthropic's. */
export const vertexAi: HttpProvider = {
  limits: ({ values }: VertexClient) =>
    values.anthropic_version === undefined ? {} : { mediaUrls: { pdf: 'send_base64' } },
  /** A client with an API key or an authorization header of its own needs no account. */
  protocol(client: VertexClient, apiKey, access) {
    const { options, values } = client;
    const own = apiKey ?? options.headers.get('authorization')?.replace(/^Bearer /u, '');
    const byVariable = access.setting(GOOGLE_PROJECT_VARIABLE);
    if (own !== undefined || sendsApiKey(options)) return authorized(client, values.project_id ?? byVariable, own);
    const identity = findGoogleIdentity(values.credentials ?? values.credentials_content, access);
    if ('missing' in identity) return identity;
    const project = values.project_id ?? identity.projectId ?? byVariable;
    return authorized(withQuotaProject(client, identity), project, googleToken(identity, access));
  },
};

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

function modelProtocol(client: VertexClient, base: string, headers: readonly string[]): ReadyProtocol {
  const { options, format, values } = client;
  const { anthropic_version: version, max_tokens: maxTokens } = values;
  if (version === undefined) return googleProtocol({ base, options, format, headers });
  const paths = [requestPath(base, ':rawPredict', options), requestPath(base, ':streamRawPredict', options)] as const;
  return anthropicProtocol({ paths, options, format, headers, members: { anthropic_version: version }, maxTokens });
}

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';

/** The access token of an identity, kept until shortly before it expires. */
function googleToken(
  identity: GoogleIdentity,
  { hide, pools }: Pick<ProviderAccess, 'hide' | 'pools'>,
): RenewedCredential<string> {
  return new RenewedCredential(async () => {
    const token = await fetchToken(identity, pools);
    if (token.ok) hide(token.value.value);
    return token;
  });
}

async function fetchToken(identity: GoogleIdentity, pools: ConnectionPools): Promise<Result<Lease<string>, string>> {
  const request = await tokenRequest(identity);
  if (!request.ok) return request;
  const answer = await askService(pools, request.value.url, request.value.request);
  if (!answer.ok) return err(`could not get an access token: ${answer.failure}`);
  const reply = parseJson(answer.value);
  const value = stringAt(reply, 'access_token');
  if (value === undefined) return err('could not get an access token: the answer contains none');
  return ok({ value, livesMs: (countAt(reply, 'expires_in') ?? 3600) * 1000 });
}

interface TokenRequest {
  readonly url: string;
  readonly request: ServiceRequest;
}

async function tokenRequest(identity: GoogleIdentity): Promise<Result<TokenRequest, string>> {
  switch (identity.kind) {
    case 'service-account': {
      const assertion = await signedAssertion(identity);
      const grant = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
      return assertion.ok ? ok(form(identity.tokenUri, { grant_type: grant, assertion: assertion.value })) : assertion;
    }
    case 'user': {
      const { clientId, clientSecret, refreshToken, tokenUri } = identity;
      const secrets = { client_id: clientId, client_secret: clientSecret, refresh_token: refreshToken };
      return ok(form(tokenUri, { grant_type: 'refresh_token', ...secrets }));
    }
    case 'machine': {
      const url = `http://${identity.host}/computeMetadata/v1/instance/service-accounts/default/token`;
      return ok({ url, request: { method: 'GET', headers: { 'metadata-flavor': 'Google' } } });
    }
  }
}

function form(url: string, fields: Readonly<Record<string, string>>): TokenRequest {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return { url, request: { headers, body: new URLSearchParams(fields).toString() } };
}

const signOnThread = promisify(sign);

/** The JWT (RFC 7523) with which the account requests a token. A thread signs it, since that takes milliseconds. */
async function signedAssertion(account: ServiceAccount): Promise<Result<string, string>> {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: account.clientEmail, scope: SCOPE, aud: account.tokenUri, iat: now, exp: now + 3600 };
  const text = `${encoded({ alg: 'RS256', typ: 'JWT' })}.${encoded(claims)}`;
  try {
    const signature = await signOnThread('RSA-SHA256', Buffer.from(text), account.privateKey);
    return ok(`${text}.${signature.toString('base64url')}`);
  } catch {
    return err('could not sign with the private key of its service account');
  }
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

/** An account for which Google issues access tokens. */
type GoogleIdentity = (ServiceAccount | AuthorizedUser | MetadataServer) & {
  readonly projectId: string | undefined;
};

/** The parts of a service account's key file that svc uses. */
interface ServiceAccount {
  readonly kind: 'service-account';
  readonly clientEmail: string;
  readonly privateKey: KeyObject;
  readonly tokenUri: string;
}

/** The content of the file that `gcloud auth application-default login` writes. */
interface AuthorizedUser {
  readonly kind: 'user';
  readonly clientId: string;
  readonly clientSecret: string;
  readonly refreshToken: string;
  readonly tokenUri: string;
  /** The project to which Google bills a user's calls. */
  readonly quotaProject?: string;
}

/** The account of the machine, from a service that only the machine can reach. */
interface MetadataServer {
  readonly kind: 'machine';
  readonly host: string;
}

/** The metadata service of Google's machines. */
const GOOGLE_METADATA_HOST = 'metadata.google.internal';

/**
 * The account of a client, found as Google's own libraries find it
 * (https://cloud.google.com/docs/authentication/application-default-credentials): the client's option, the variables,
 * the file of `gcloud auth application-default login`, the account of the machine. A request cannot name files of the
 * server, neither by an option nor by a variable, and an account of the server never completes what it brings.
 */
function findGoogleIdentity(
  option: string | JsonObject | undefined,
  access: ProviderAccess,
): GoogleIdentity | MissingSecret {
  if (option !== undefined) return identityIn('credentials', option, { access, mayReadFiles: access.trusted });
  const { credentials, credentialsContent } = GOOGLE_VARIABLES;
  const secrets = access.secrets([credentialsContent, credentials]);
  for (const variable of [credentialsContent, credentials]) {
    const given = secrets.get(variable);
    if (given !== undefined) return identityIn(variable, given, { access, mayReadFiles: !secrets.ofRequest });
  }
  if (secrets.ofRequest) return { missing: credentials };
  const file = gcloudFile(access);
  if (file !== undefined) return identityIn(credentials, file, { access, mayReadFiles: true });
  const host = access.ofServer(GOOGLE_VARIABLES.metadataHost) ?? machineHost(access);
  return host === undefined ? { missing: credentials } : { kind: 'machine', host, projectId: undefined };
}

function machineHost(access: ProviderAccess): string | undefined {
  return access.machine === 'google' && access.ofServer(GOOGLE_VARIABLES.detection) !== 'none'
    ? GOOGLE_METADATA_HOST
    : undefined;
}

interface Reading {
  readonly access: ProviderAccess;
  readonly mayReadFiles: boolean;
}

function identityIn(holder: string, given: string | object, reading: Reading): GoogleIdentity | MissingSecret {
  const identity = readIdentity(given, reading);
  return identity.ok ? identity.value : { missing: holder, because: identity.failure };
}

function gcloudFile(access: ProviderAccess): string | undefined {
  const home = access.ofServer(GOOGLE_VARIABLES.home);
  const folder =
    access.ofServer(GOOGLE_VARIABLES.gcloudFolder) ?? (home === undefined ? undefined : join(home, '.config/gcloud'));
  if (folder === undefined) return undefined;
  const file = join(folder, 'application_default_credentials.json');
  return existsSync(file) ? file : undefined;
}

const DEFAULT_TOKEN_URI = 'https://oauth2.googleapis.com/token';

/**
 * Reads an identity from its JSON text, a map of the same, or (where allowed) the path of a file. The failure completes a
 * sentence that begins with the name of the option or variable. Where files are not allowed, neither is a token URI
 * outside of Google: whoever received the signed assertion could use it at Google.
 */
function readIdentity(given: string | object, { access, mayReadFiles }: Reading): Result<GoogleIdentity, string> {
  const data = typeof given === 'string' ? parseIdentity(given, mayReadFiles) : ok(given);
  if (!data.ok) return data;
  for (const secret of credentialsIn(data.value)) access.hide(secret);
  const tokenUri = stringAt(data.value, 'token_uri') ?? DEFAULT_TOKEN_URI;
  if (!URL.canParse(tokenUri)) return err('has a "token_uri" that is not a URL');
  if (!mayReadFiles && new URL(tokenUri).origin !== new URL(DEFAULT_TOKEN_URI).origin) {
    return err('has a "token_uri" that is not Google\'s');
  }
  const account = readServiceAccount(data.value, tokenUri);
  if (account !== undefined) return account;
  const user = readUser(data.value, tokenUri);
  return user === undefined ? err(`contains ${described(data.value)}: ${READABLE}`) : ok(user);
}

const READABLE = 'a service account and an authorized user can be read';

function described(data: unknown): string {
  const type = stringAt(data, 'type');
  return type === undefined ? 'no credentials' : `credentials of the type "${type}", or not all of them`;
}

function readServiceAccount(data: unknown, tokenUri: string): Result<GoogleIdentity, string> | undefined {
  const clientEmail = stringAt(data, 'client_email');
  const keyText = stringAt(data, 'private_key');
  if (clientEmail === undefined || keyText === undefined) return undefined;
  const privateKey = readPrivateKey(keyText);
  if (privateKey === undefined) return err('has a "private_key" that is not an RSA key of at most 4096 bits');
  return ok({ kind: 'service-account', clientEmail, privateKey, tokenUri, projectId: stringAt(data, 'project_id') });
}

/**
 * The text of a key of 4096 bits has 3300 characters. The time of a signature grows with the third power of the numbers
 * in a key, and the modulus is only one of them, so the bound is on the text of all.
 */
const MAX_KEY_CHARACTERS = 4000;

function readPrivateKey(text: string): KeyObject | undefined {
  if (text.length > MAX_KEY_CHARACTERS) return undefined;
  try {
    const key = createPrivateKey(text);
    return key.asymmetricKeyType === 'rsa' ? key : undefined;
  } catch {
    return undefined;
  }
}

function readUser(data: unknown, tokenUri: string): GoogleIdentity | undefined {
  const clientId = stringAt(data, 'client_id');
  const clientSecret = stringAt(data, 'client_secret');
  const refreshToken = stringAt(data, 'refresh_token');
  if (clientId === undefined || clientSecret === undefined || refreshToken === undefined) return undefined;
  const quotaProject = stringAt(data, 'quota_project_id');
  const person = { kind: 'user', clientId, clientSecret, refreshToken, tokenUri } as const;
  return { ...person, projectId: quotaProject, ...(quotaProject === undefined ? {} : { quotaProject }) };
}

function parseIdentity(given: string, mayReadFiles: boolean): Result<unknown, string> {
  const text = given.trimStart().startsWith('{') ? ok(given) : readIdentityFile(given, mayReadFiles);
  if (!text.ok) return text;
  const data = parseJson(text.value);
  return data === undefined ? err('is not valid JSON') : ok(data);
}

function readIdentityFile(path: string, mayReadFiles: boolean): Result<string, string> {
  if (!mayReadFiles) return err('has to be JSON: a request cannot name files of the server');
  try {
    return ok(readFileSync(path, 'utf8'));
  } catch {
    return err('names a file that cannot be read');
  }
}
