import { crc32 } from 'node:zlib';
import { pathSegment } from '../../../base/percent-encoding.ts';
import { type JsonObject, type JsonValue, countAt, listAt, objectAt, stringAt } from '../../../base/json.ts';
import { type Result, err, ok } from '../../../base/result.ts';
import type { MediaPart, Message, MessagePart } from '../../../schema/message.ts';
import { AWS_KEY_VARIABLES, BEDROCK_TOKEN_VARIABLE, type AWS_BEDROCK } from '../../../schema/providers/aws-bedrock.ts';
import { BEDROCK_REPLIES } from '../../../schema/providers/replies.ts';
import { headerProblem } from '../../../schema/providers/option-shapes.ts';
import type { HttpCall } from '../http/origin-pool.ts';
import type { ReadyProtocol, WireProtocol } from '../http-model-client.ts';
import { findAwsCredentials, type AwsCredentialSource, AwsSigner, type AwsCredentials } from './aws-credentials.ts';
import {
  formatName,
  inlineData,
  jsonProtocol,
  requestHeaders,
  requestPath,
  twoPaths,
  wireConversation,
  type ClientSetup,
  type HttpProvider,
} from './provider.ts';
import { withCredential } from './cloud-credential.ts';
import { malformed, reportedError, type ReplyFormat, type WireObject } from '../wire/reply-format.ts';
import type { EventListener, FrameReader } from '../http/sse-reader.ts';

type BedrockClient = ClientSetup<typeof AWS_BEDROCK.options>;

export const awsBedrock: HttpProvider = {
  protocol(client: BedrockClient, apiKey, access) {
    const token = apiKey ?? access.secrets(AWS_KEY_VARIABLES).get(BEDROCK_TOKEN_VARIABLE);
    const problem = token === undefined ? undefined : headerProblem('authorization', token);
    if (problem !== undefined) return { missing: BEDROCK_TOKEN_VARIABLE, because: problem.message };
    if (token !== undefined || client.options.headers.has('authorization')) return unsignedProtocol(client, token);
    const credentials = findAwsCredentials(client.values, access);
    return 'missing' in credentials ? credentials : signedProtocol(client, credentials);
  },
};

function unsignedProtocol(client: BedrockClient, token: string | undefined): ReadyProtocol {
  const { url, options, values, format = bedrockFormat } = client;
  const path = `/model/${pathSegment(options.model ?? '')}/converse`;
  return jsonProtocol({
    structured: options.structured,
    members: { ...ownMembers(values), ...Object.fromEntries(options.body) },
    write: bedrockMessages,
    headers: requestHeaders(options, { authorization: token === undefined ? undefined : `Bearer ${token}` }),
    address: twoPaths(requestPath(url, path, options), requestPath(url, `${path}-stream`, options)),
    format,
    toolFormat: bedrockFormat,
  });
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

/** Bedrock's Converse: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html */
export const bedrockFormat: ReplyFormat = {
  facts: BEDROCK_REPLIES,
  usageHolder: (event) => objectAt(event, 'metadata') ?? event,
  frames: (listener) => new AwsEventReader(listener),
  readReply(reply) {
    const content = contentOf(reply);
    if (content === undefined) return err(malformed('answered without "output.message.content"'));
    const tool = content.findIndex((block) => toolOf(block) !== undefined);
    return ok({
      tool: toolOf(content[tool]),
      finishReason: stringAt(reply, 'stopReason'),
      text: content.map((block) => stringAt(block, 'text') ?? '').join(''),
      toolInput: tool < 0 ? undefined : ['output', 'message', 'content', tool, 'toolUse', 'input'],
    });
  },
  // Redacted reasoning has no text.
  reasoningIn: (reply) =>
    (contentOf(reply) ?? []).map(
      (block) => stringAt(objectAt(objectAt(block, 'reasoningContent'), 'reasoningText'), 'text') ?? '',
    ),
  /** Each event has one member, named after its type. The metadata follow the stop and are the last event. */
  readEvent(event, { finishReason }) {
    const exception = objectAt(event, 'exception');
    if (exception !== undefined) return { fault: reportedError({ ...exception, type: event['exceptionType'] }) };
    const metadata = objectAt(event, 'metadata');
    if (metadata !== undefined) return { done: finishReason !== undefined };
    const stop = objectAt(event, 'messageStop');
    if (stop !== undefined) return { finishReason: stringAt(stop, 'stopReason') };
    const started = objectAt(event, 'contentBlockStart');
    if (started !== undefined)
      return { part: countAt(started, 'contentBlockIndex'), tool: toolOf(objectAt(started, 'start')) };
    const block = objectAt(event, 'contentBlockDelta');
    const delta = objectAt(block, 'delta');
    return {
      part: countAt(block, 'contentBlockIndex'),
      text: stringAt(delta, 'text'),
      toolInput: stringAt(objectAt(delta, 'toolUse'), 'input'),
      reasoning: stringAt(objectAt(delta, 'reasoningContent'), 'text'),
      reasoningPart: countAt(block, 'contentBlockIndex'),
    };
  },
};

function contentOf(reply: WireObject): readonly unknown[] | undefined {
  return listAt(objectAt(objectAt(reply, 'output'), 'message'), 'content');
}

/** The name of the tool in a block of content, or at its start. Those of Bedrock itself have the type `server_tool_use`. */
function toolOf(block: unknown): string | undefined {
  const tool = objectAt(block, 'toolUse');
  return tool === undefined || tool['type'] === 'server_tool_use' ? undefined : (stringAt(tool, 'name') ?? '');
}

/** No model sends a larger message. AWS's own limit is 24 MB. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;

/** Lengths and their checksum, before the headers. */
const PRELUDE_BYTES = 12;

const CHECKSUM_BYTES = 4;

const STRING_HEADER = 7;

/**
 * Reads the binary frames of an AWS event stream (Smithy, `application/vnd.amazon.eventstream`). The listener receives
 * each message as a JSON object with one member: its name is the event's type, or `exception`, and its value the payload.
 * An exception also has the member `exceptionType`.
 */
export class AwsEventReader implements FrameReader {
  readonly #listener: EventListener;
  #rest: Buffer[] = [];
  #bytes = 0;
  #headerBytes: Buffer = Buffer.alloc(0);
  #lastHeaders: ReadonlyMap<string, string> = new Map();
  damaged = false;

  constructor(listener: EventListener) {
    this.#listener = listener;
  }

  get waitingBytes(): number {
    return this.#bytes;
  }

  push(chunk: Buffer): boolean {
    this.#rest.push(chunk);
    this.#bytes += chunk.length;
    const needed = this.#needed();
    if (needed === undefined) return false;
    if (this.#bytes < needed) return true;
    const { buffer, end, valid } = this.#messages();
    this.#rest = end === buffer.length ? [] : [Buffer.from(buffer.subarray(end))];
    this.#bytes = buffer.length - end;
    return valid;
  }

  end(): void {}

  /** The bytes that complete the first message; undefined if it is too large. */
  #needed(): number | undefined {
    if (this.#bytes < PRELUDE_BYTES) return PRELUDE_BYTES;
    if ((this.#rest[0]?.length ?? 0) < PRELUDE_BYTES) this.#rest = [Buffer.concat(this.#rest)];
    const length = this.#rest[0]?.readUInt32BE(0) ?? 0;
    return isMessageLength(length) ? length : undefined;
  }

  #messages(): { readonly buffer: Buffer; readonly end: number; readonly valid: boolean } {
    const buffer = this.#rest.length === 1 ? (this.#rest[0] ?? Buffer.alloc(0)) : Buffer.concat(this.#rest);
    let at = 0;
    while (buffer.length - at >= PRELUDE_BYTES) {
      const length = buffer.readUInt32BE(at);
      if (!isMessageLength(length)) return { buffer, end: at, valid: false };
      if (buffer.length - at < length) break;
      const message = buffer.subarray(at, at + length);
      this.damaged = !isIntact(message);
      if (this.damaged) return { buffer, end: at, valid: false };
      this.#message(message);
      at += length;
    }
    return { buffer, end: at, valid: true };
  }

  #message(message: Buffer): void {
    const headersEnd = Math.min(PRELUDE_BYTES + message.readUInt32BE(4), message.length - CHECKSUM_BYTES);
    const headers = this.#headers(message.subarray(PRELUDE_BYTES, headersEnd));
    const payload = message.toString('utf8', headersEnd, message.length - CHECKSUM_BYTES);
    const text =
      headers.get(':message-type') === 'event' ? eventText(headers, payload) : exceptionText(headers, payload);
    this.#listener(text, 0, text.length);
  }

  /** Nearly all messages of a stream repeat the headers of the previous one. */
  #headers(bytes: Buffer): ReadonlyMap<string, string> {
    if (!this.#headerBytes.equals(bytes)) {
      this.#headerBytes = Buffer.from(bytes);
      this.#lastHeaders = stringHeaders(bytes);
    }
    return this.#lastHeaders;
  }
}

function eventText(headers: ReadonlyMap<string, string>, payload: string): string {
  return `{${JSON.stringify(headers.get(':event-type') ?? 'unknown')}:${payload === '' ? '{}' : payload}}`;
}

/** An exception is documented by the service and has a payload; an error has only a code and a message. */
function exceptionText(headers: ReadonlyMap<string, string>, payload: string): string {
  const type = headers.get(':exception-type') ?? headers.get(':error-code') ?? '';
  const exception =
    payload === '' ? JSON.stringify({ message: headers.get(':error-message') ?? 'no message' }) : payload;
  return `{"exceptionType":${JSON.stringify(type)},"exception":${exception}}`;
}

function isMessageLength(length: number): boolean {
  return length >= PRELUDE_BYTES + CHECKSUM_BYTES && length <= MAX_MESSAGE_BYTES;
}

/** One checksum covers the lengths, the other everything before it. */
function isIntact(message: Buffer): boolean {
  const lengths = PRELUDE_BYTES - CHECKSUM_BYTES;
  const end = message.length - CHECKSUM_BYTES;
  return (
    crc32(message.subarray(0, lengths)) === message.readUInt32BE(lengths) &&
    crc32(message.subarray(0, end)) === message.readUInt32BE(end)
  );
}

/** The headers that are strings, up to the first header of another type, whose length is encoded differently. */
function stringHeaders(bytes: Buffer): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  let at = 0;
  while (at + 4 <= bytes.length) {
    const nameEnd = at + 1 + (bytes[at] ?? 0);
    if (bytes[nameEnd] !== STRING_HEADER || nameEnd + 3 > bytes.length) break;
    const valueEnd = nameEnd + 3 + bytes.readUInt16BE(nameEnd + 1);
    headers.set(bytes.toString('utf8', at + 1, nameEnd), bytes.toString('utf8', nameEnd + 3, valueEnd));
    at = valueEnd;
  }
  return headers;
}
