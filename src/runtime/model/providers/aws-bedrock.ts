import { isJsonObject } from '../../../base/json.ts';
import type { JsonObject, JsonValue } from '../../../base/json.ts';
import { err, ok } from '../../../base/result.ts';
import { bedrockFormat } from '../wire/bedrock-format.ts';
import type { HttpCall } from '../http/origin-pool.ts';
import type { ReadyProtocol, WireProtocol } from '../http-model-client.ts';
import type { ClientOptions } from '../options/client-options.ts';
import { headerFault } from '../options/header-fault.ts';
import type { OptionReader } from '../options/option-reader.ts';
import { AWS_CREDENTIAL_VARIABLES, AWS_KEY_VARIABLES, BEARER_TOKEN, findAwsCredentials } from './aws-credentials.ts';
import type { AwsClientCredentials, AwsCredentialSource } from './aws-credentials.ts';
import { bedrockMessages } from './bedrock-messages.ts';
import type { Connection, HttpProvider, MissingSecret, ProviderAccess, Setting } from './provider.ts';
import { withCredential } from './renewed-credential.ts';
import { replyFormat } from './reply-formats.ts';
import { requestHeaders, requestPath } from './request-head.ts';
import { AwsSigner } from './aws-signer.ts';
import type { AwsCredentials } from './aws-signer.ts';

/** Amazon Bedrock's Converse: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html */
export const awsBedrock: HttpProvider = {
  roles: ['system', 'user', 'assistant'],
  defaultRole: 'user',
  variables: ['AWS_REGION', 'AWS_DEFAULT_REGION', ...AWS_CREDENTIAL_VARIABLES],
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
  readonly credentials: AwsClientCredentials;
}

function connect(options: ClientOptions, reader: OptionReader, setting: Setting): Connection {
  const region = reader.string('region') ?? setting('AWS_REGION') ?? setting('AWS_DEFAULT_REGION');
  if (region === undefined) reader.fault('region', 'is required, here or as AWS_REGION');
  else if (!REGION.test(region)) reader.fault('region', 'has to be the name of an AWS region');
  const model = reader.string('model') ?? reader.string('model_id');
  reader.take('model_id');
  if (model === undefined) reader.fault('model', 'is required: it is part of the URL');
  const url = readEndpoint(options, reader) ?? `https://bedrock-runtime.${region ?? 'invalid'}.amazonaws.com`;
  const credentials = { keys: readKeys(reader), profile: reader.string('profile'), region: region ?? '' };
  const members = readMembers(reader);
  const client = { url, region: region ?? '', model: model ?? '', options, credentials, members };
  return {
    url,
    ...(model === undefined ? {} : { model }),
    mediaUrls: { image: 'send_base64', audio: 'send_base64', pdf: 'send_base64', video: 'send_base64' },
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

function readKeys(reader: OptionReader): Partial<AwsCredentials> {
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
  const token = apiKey ?? access.secrets(AWS_KEY_VARIABLES).get(BEARER_TOKEN);
  const because = token === undefined ? undefined : headerFault('authorization', token);
  if (because !== undefined) return { missing: BEARER_TOKEN, because };
  if (token !== undefined || client.options.headers.has('authorization')) return unsignedProtocol(client, token);
  const credentials = findAwsCredentials(client.credentials, access);
  return 'missing' in credentials ? credentials : signedProtocol(client, credentials);
}

function unsignedProtocol(client: BedrockClient, token: string | undefined): ReadyProtocol {
  const { url, options } = client;
  const path = `/model/${encodeURIComponent(client.model)}/converse`;
  const whole = requestPath(url, path, options);
  const stream = requestPath(url, `${path}-stream`, options);
  const headers = requestHeaders(options, { authorization: token === undefined ? undefined : `Bearer ${token}` });
  const members = { ...client.members, ...Object.fromEntries(options.body) };
  return {
    format: replyFormat(options, bedrockFormat),
    call(messages, streamed) {
      const wire = bedrockMessages(messages, options);
      if (!wire.ok) return err(wire.failure);
      return ok({ path: streamed ? stream : whole, headers, body: JSON.stringify({ ...members, ...wire.value }) });
    },
  };
}

function signedProtocol(client: BedrockClient, credentials: AwsCredentialSource): WireProtocol {
  const unsigned = unsignedProtocol(client, undefined);
  const signer = new AwsSigner();
  const { host } = new URL(client.url);
  const sign = ({ path, headers, body }: HttpCall, keys: AwsCredentials): HttpCall => {
    const request = { host, path, body, region: client.region, service: 'bedrock', headers: SIGNED_HEADERS };
    return { path, body, headers: [...headers, ...Object.entries(signer.sign(request, keys)).flat()] };
  };
  return {
    format: unsigned.format,
    call(messages, streamed) {
      const call = unsigned.call(messages, streamed);
      return call.ok ? withCredential(credentials, (keys) => sign(call.value, keys)) : call;
    },
  };
}

const SIGNED_HEADERS = { 'content-type': 'application/json' };
