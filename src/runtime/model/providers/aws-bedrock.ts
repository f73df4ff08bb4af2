import { pathSegment } from '../../../base/percent-encoding.ts';
import type { JsonObject, JsonValue } from '../../../base/json.ts';
import type { Result } from '../../../base/result.ts';
import { err, ok } from '../../../base/result.ts';
import type { MediaPart, Message, MessagePart } from '../../../schema/message.ts';
import { AWS_KEY_VARIABLES, BEDROCK_TOKEN_VARIABLE } from '../../../schema/providers/aws-bedrock.ts';
import type { AWS_BEDROCK } from '../../../schema/providers/aws-bedrock.ts';
import { headerProblem } from '../../../schema/providers/header.ts';
import type { HttpCall } from '../http/origin-pool.ts';
import type { ReadyProtocol, WireProtocol } from '../http-model-client.ts';
import { bedrockFormat, bedrockToolFormat } from '../wire/bedrock-format.ts';
import { findAwsCredentials } from './aws-credentials.ts';
import type { AwsCredentialSource } from './aws-credentials.ts';
import { AwsSigner } from './aws-signer.ts';
import type { AwsCredentials } from './aws-signer.ts';
import { formatName, inlineData, wireConversation } from './message-parts.ts';
import { replyFormat, requestHeaders, requestPath } from './provider.ts';
import type { ClientSetup, HttpProvider, MissingSecret, ProviderAccess } from './provider.ts';
import { withCredential } from './renewed-credential.ts';
import { withStructure } from './structured-members.ts';

type BedrockClient = ClientSetup<typeof AWS_BEDROCK.options>;

export const awsBedrock: HttpProvider = {
  connect: (client: BedrockClient) => ({ protocol: (apiKey, access) => protocol(client, apiKey, access) }),
};

function protocol(
  client: BedrockClient,
  apiKey: string | undefined,
  access: ProviderAccess,
): WireProtocol | MissingSecret {
  const token = apiKey ?? access.secrets(AWS_KEY_VARIABLES).get(BEDROCK_TOKEN_VARIABLE);
  const problem = token === undefined ? undefined : headerProblem('authorization', token);
  if (problem !== undefined) return { missing: BEDROCK_TOKEN_VARIABLE, because: problem.message };
  if (token !== undefined || client.options.headers.has('authorization')) return unsignedProtocol(client, token);
  const credentials = findAwsCredentials(client.values, access);
  return 'missing' in credentials ? credentials : signedProtocol(client, credentials);
}

function unsignedProtocol({ url, options, values }: BedrockClient, token: string | undefined): ReadyProtocol {
  const path = `/model/${pathSegment(options.model ?? '')}/converse`;
  const whole = requestPath(url, path, options);
  const stream = requestPath(url, `${path}-stream`, options);
  const headers = requestHeaders(options, { authorization: token === undefined ? undefined : `Bearer ${token}` });
  const members = { ...ownMembers(values), ...Object.fromEntries(options.body) };
  return {
    format: replyFormat(options, bedrockFormat),
    structuredFormat: bedrockToolFormat,
    call(messages, streamed, output) {
      const wire = bedrockMessages(messages);
      if (!wire.ok) return err(wire.failure);
      const body = JSON.stringify({ ...withStructure(members, options, output), ...wire.value });
      return ok({ path: streamed ? stream : whole, headers, body });
    },
  };
}

function ownMembers({
  additional_model_request_fields: additional,
  inference_configuration: inference,
}: BedrockClient['values']): JsonObject {
  const members: Record<string, JsonValue> = {};
  if (additional !== undefined) members['additionalModelRequestFields'] = additional;
  if (inference !== undefined) members['inferenceConfig'] = renamed(inference);
  return members;
}

/** From the names in the definition language to those in the request. */
const INFERENCE_NAMES: Readonly<Record<string, string>> = {
  max_tokens: 'maxTokens',
  temperature: 'temperature',
  top_p: 'topP',
  stop_sequences: 'stopSequences',
};

function renamed(inference: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(inference).map(([name, value]) => [
      Object.hasOwn(INFERENCE_NAMES, name) ? (INFERENCE_NAMES[name] ?? name) : name,
      value,
    ]),
  );
}

function signedProtocol(client: BedrockClient, credentials: AwsCredentialSource): WireProtocol {
  const unsigned = unsignedProtocol(client, undefined);
  const signer = new AwsSigner();
  const { host } = new URL(client.url);
  const region = client.values.region ?? '';
  const sign = ({ path, headers, body }: HttpCall, keys: AwsCredentials): HttpCall => {
    const request = { host, path, body, region, service: 'bedrock', headers: SIGNED_HEADERS };
    return { path, body, headers: [...headers, ...Object.entries(signer.sign(request, keys)).flat()] };
  };
  return {
    ...unsigned,
    call(messages, streamed, output) {
      const call = unsigned.call(messages, streamed, output);
      return call.ok ? withCredential(credentials, (keys) => sign(call.value, keys)) : call;
    },
  };
}

const SIGNED_HEADERS = { 'content-type': 'application/json' };

/** Messages as Converse takes them; leading system messages are apart. */
function bedrockMessages(messages: readonly Message[]): Result<JsonObject, string> {
  const wire = wireConversation<JsonObject>(messages, blocks);
  if (!wire.ok) return wire;
  const { system, turns } = wire.value;
  const conversation = turns.map(({ role, parts }) => ({ role, content: parts }));
  return ok({ messages: conversation, ...(system === undefined ? {} : { system }) });
}

/** Metadata `cache_control` becomes a block of its own after the part: Converse has no place for other metadata. */
function blocks(part: MessagePart): Result<readonly JsonObject[], string> {
  const block = part.kind === 'text' ? ok({ text: part.text }) : mediaBlock(part);
  if (!block.ok) return block;
  const cached = Object.hasOwn(part.metadata ?? {}, 'cache_control');
  return ok(cached ? [block.value, { cachePoint: { type: 'default' } }] : [block.value]);
}

function mediaBlock({ media, source }: MediaPart): Result<JsonObject, string> {
  if (media === 'audio') return err('cannot take audio: Converse has no such block');
  // Videos are too large for most requests, so Bedrock fetches them from S3 itself, with the keys of the call.
  if (media === 'video' && source.kind === 'url' && source.url.startsWith('s3://')) {
    const format = formatName(source.mediaType ?? 'video/mp4', FORMATS);
    return ok({ video: { format, source: { s3Location: { uri: source.url } } } });
  }
  const inline = inlineData(source, media === 'pdf' ? 'application/pdf' : undefined);
  if (!inline.ok) return inline;
  const bytes = { format: formatName(inline.value.mediaType, FORMATS), source: { bytes: inline.value.data } };
  return ok(media === 'pdf' ? { document: { ...bytes, name: 'document' } } : { [media]: bytes });
}

/** Formats whose names are not the subtypes of their media types. */
const FORMATS = {
  jpg: 'jpeg',
  quicktime: 'mov',
  'x-matroska': 'mkv',
  'x-flv': 'flv',
  'x-ms-wmv': 'wmv',
  '3gpp': 'three_gp',
};
