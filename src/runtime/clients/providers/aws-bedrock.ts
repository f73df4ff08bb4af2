import { isJsonObject } from '../../../base/json.ts';
import type { JsonObject, JsonValue } from '../../../base/json.ts';
import { err, ok } from '../../../base/result.ts';
import { bedrockFormat } from '../formats/bedrock-format.ts';
import type { WireProtocol } from '../http-model-client.ts';
import type { ClientOptions } from '../options/client-options.ts';
import type { OptionReader } from '../options/option-reader.ts';
import { readAwsProfile } from './aws-profile.ts';
import { fetchRoleCredentials, findAwsRole } from './aws-role.ts';
import { bedrockMessages } from './bedrock-messages.ts';
import type { Connection, HttpProvider, MissingSecret, ProviderAccess, Setting } from './provider.ts';
import { RenewedCredential } from './renewed-credential.ts';
import { replyFormat } from './reply-formats.ts';
import { requestHeaders, requestPath } from './request-head.ts';
import { signAwsRequest } from './sign-aws-request.ts';
import type { AwsCredentials } from './sign-aws-request.ts';

/**
 * Amazon Bedrock's Converse. Credentials are the client's options, the variables of the environment, a profile of the
 * credentials file, or the role of the container or machine, in this order; a Bedrock API key (`api_key` or
 * AWS_BEARER_TOKEN_BEDROCK) goes out as a bearer token.
 */
export const awsBedrock: HttpProvider = {
  roles: ['system', 'user', 'assistant'],
  defaultRole: 'user',
  variables: [
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
    'AWS_BEARER_TOKEN_BEDROCK',
    'AWS_REGION',
    'AWS_DEFAULT_REGION',
    'AWS_PROFILE',
    'AWS_SHARED_CREDENTIALS_FILE',
    'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
    'AWS_CONTAINER_CREDENTIALS_FULL_URI',
    'AWS_CONTAINER_AUTHORIZATION_TOKEN',
    'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE',
    'AWS_EC2_METADATA_SERVICE_ENDPOINT',
    'HOME',
  ],
  ownOrigins: /^https:\/\/bedrock-runtime\.[a-z0-9-]+\.amazonaws\.com$/u,
  connect,
};

const REGION = /^[a-z0-9-]{1,40}$/u;

/** Their names in the definition language, and on the wire. */
const INFERENCE_NAMES: Readonly<Record<string, string>> = {
  max_tokens: 'maxTokens',
  temperature: 'temperature',
  top_p: 'topP',
  stop_sequences: 'stopSequences',
};

interface BedrockClient {
  readonly url: string;
  readonly region: string;
  readonly model: string;
  readonly options: ClientOptions;
  readonly members: JsonObject;
  readonly credentials: Partial<AwsCredentials>;
  readonly profile: string | undefined;
}

function connect(options: ClientOptions, reader: OptionReader, setting: Setting): Connection {
  const region = reader.string('region') ?? setting('AWS_REGION') ?? setting('AWS_DEFAULT_REGION');
  if (region === undefined) reader.fault('region', 'is required, here or as AWS_REGION');
  else if (!REGION.test(region)) reader.fault('region', 'has to be the name of an AWS region');
  const model = reader.string('model') ?? reader.string('model_id');
  reader.take('model_id');
  if (model === undefined) reader.fault('model', 'is required: it is part of the URL');
  const profile = reader.string('profile');
  const url = readEndpoint(options, reader) ?? `https://bedrock-runtime.${region ?? 'invalid'}.amazonaws.com`;
  const credentials = readCredentials(reader);
  const members = readMembers(reader);
  const client = { url, region: region ?? '', model: model ?? '', options, credentials, profile, members };
  return {
    url,
    ...(model === undefined ? {} : { model }),
    mediaUrls: { image: 'send_base64', audio: 'send_base64', pdf: 'send_base64' },
    protocol: (apiKey, access) => protocol(client, apiKey, access),
  };
}

function readEndpoint(options: ClientOptions, reader: OptionReader): string | undefined {
  const endpoint = reader.string('endpoint_url') ?? options.baseUrl;
  if (endpoint === undefined) return undefined;
  if (URL.canParse(endpoint) && /^https?:$/u.test(new URL(endpoint).protocol)) return endpoint.replace(/\/$/u, '');
  reader.fault('endpoint_url', 'has to be an http or https URL');
  return undefined;
}

function readCredentials(reader: OptionReader): Partial<AwsCredentials> {
  const accessKeyId = reader.string('access_key_id');
  const secretAccessKey = reader.string('secret_access_key');
  const sessionToken = reader.string('session_token');
  return {
    ...(accessKeyId === undefined ? {} : { accessKeyId }),
    ...(secretAccessKey === undefined ? {} : { secretAccessKey }),
    ...(sessionToken === undefined ? {} : { sessionToken }),
  };
}

function readMembers(reader: OptionReader): JsonObject {
  const additional = reader.take('additional_model_request_fields');
  const inference = reader.take('inference_configuration');
  if (inference !== undefined && !isJsonObject(inference)) reader.fault('inference_configuration', 'has to be a map');
  const members: Record<string, JsonValue> = {};
  if (additional !== undefined) members['additionalModelRequestFields'] = additional;
  if (isJsonObject(inference)) members['inferenceConfig'] = renamed(inference);
  return members;
}

function renamed(inference: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(inference).map(([name, value]) => [
      Object.hasOwn(INFERENCE_NAMES, name) ? (INFERENCE_NAMES[name] ?? name) : name,
      value,
    ]),
  );
}

function protocol(
  client: BedrockClient,
  apiKey: string | undefined,
  access: ProviderAccess,
): WireProtocol | MissingSecret {
  const { url, options } = client;
  const token = apiKey ?? access.secret('AWS_BEARER_TOKEN_BEDROCK');
  const credentials = token === undefined ? findCredentials(client, access) : undefined;
  if (credentials !== undefined && 'missing' in credentials) return credentials;
  const path = `/model/${encodeURIComponent(client.model)}/converse`;
  const headers = requestHeaders(options, { authorization: token === undefined ? undefined : `Bearer ${token}` });
  const members = { ...client.members, ...Object.fromEntries(options.body) };
  return {
    format: replyFormat(options, bedrockFormat),
    async call(messages, streamed) {
      const wire = bedrockMessages(messages, options);
      if (!wire.ok) return err(wire.failure);
      const body = JSON.stringify({ ...members, ...wire.value });
      const target = requestPath(url, streamed ? `${path}-stream` : path, options);
      if (credentials === undefined) return ok({ path: target, headers, body });
      const keys = credentials instanceof RenewedCredential ? await credentials.get() : ok(credentials);
      if (!keys.ok) return keys;
      const { host } = new URL(url);
      const signing = { host, path: target, body, region: client.region, service: 'bedrock', headers: SIGNED_HEADERS };
      return ok({
        path: target,
        headers: [...headers, ...Object.entries(signAwsRequest(signing, keys.value)).flat()],
        body,
      });
    },
  };
}

const SIGNED_HEADERS = { 'content-type': 'application/json' };

/** The client's own keys, all of them, or those of one other place: never one of each. */
function findCredentials(
  client: BedrockClient,
  access: ProviderAccess,
): AwsCredentials | RenewedCredential<AwsCredentials> | MissingSecret {
  const { accessKeyId, secretAccessKey, sessionToken } = client.credentials;
  if (accessKeyId !== undefined && secretAccessKey !== undefined) {
    return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
  }
  // A profile that the client names comes before the environment.
  if (client.profile !== undefined) return profileOf(client, access) ?? { missing: 'AWS_SHARED_CREDENTIALS_FILE' };
  const id = access.secret('AWS_ACCESS_KEY_ID');
  if (id === undefined) return profileOf(client, access) ?? roleOf(access) ?? { missing: 'AWS_ACCESS_KEY_ID' };
  const secret = access.secret('AWS_SECRET_ACCESS_KEY');
  if (secret === undefined) return { missing: 'AWS_SECRET_ACCESS_KEY' };
  const token = access.secret('AWS_SESSION_TOKEN');
  return { accessKeyId: id, secretAccessKey: secret, ...(token === undefined ? {} : { sessionToken: token }) };
}

/** Only the files may name a profile: a request would choose among the server's accounts. */
function profileOf(client: BedrockClient, access: ProviderAccess): AwsCredentials | undefined {
  if (client.profile !== undefined && !access.trusted) return undefined;
  const home = access.ofServer('HOME');
  const path = access.ofServer('AWS_SHARED_CREDENTIALS_FILE') ?? (home === undefined ? '' : `${home}/.aws/credentials`);
  return path === '' ? undefined : readAwsProfile(path, client.profile ?? access.ofServer('AWS_PROFILE') ?? 'default');
}

function roleOf(access: ProviderAccess): RenewedCredential<AwsCredentials> | undefined {
  const role = findAwsRole(access.ofServer);
  return role === undefined ? undefined : new RenewedCredential(() => fetchRoleCredentials(role, access.pools));
}
