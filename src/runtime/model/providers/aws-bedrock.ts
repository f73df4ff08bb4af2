import { crc32 } from 'node:zlib';
import { pathSegment } from '../../../base/percent-encoding.ts';
import { type JsonObject, type JsonValue, countAt, listAt, objectAt, stringAt } from '../../../base/json.ts';
import { type Result, err, ok } from '../../../base/result.ts';
import type { MediaPart, Message, MessagePart } from '../../../schema/message.ts';
import { AWS_KEY_VARIABLES, BEDROCK_TOKEN_VARIABLE, type AWS_BEDROCK } from '../../../schema/providers/aws-bedrock.ts';
import { headerProblem } from '../../../schema/providers/option-shapes.ts';
import type { HttpCall } from '../http/origin-pool.ts';
import type { ReadyProtocol, WireProtocol } from '../http-model-client.ts';
import { findAwsCredentials, type AwsCredentialSource, AwsSigner, type AwsCredentials } from './aws-credentials.ts';
import { formatName, inlineData, wireConversation } from './message-parts.ts';
import {
  requestHeaders,
  requestPath,
  type ClientSetup,
  type HttpProvider,
  type MissingSecret,
  type ProviderAccess,
  withStructure,
} from './provider.ts';
import { withCredential } from './cloud-credential.ts';
import { JsonEventStream, type ReasoningDelta } from '../wire/json-event-stream.ts';
import {
  knownDetails,
  malformed,
  promptTokens,
  reportedError,
  type PossibleDetails,
  type ReplyDetails,
  type ReplyFormat,
  type WireObject,
} from '../wire/reply-format.ts';
import { answeredByTool, ToolReply, toolText } from '../wire/tool-reply.ts';
import type { EventListener, FrameReader } from '../http/sse-reader.ts';

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

function unsignedProtocol(client: BedrockClient, token: string | undefined): ReadyProtocol {
  const { url, options, values, format = bedrockFormat } = client;
  const path = `/model/${pathSegment(options.model ?? '')}/converse`;
  const whole = requestPath(url, path, options);
  const stream = requestPath(url, `${path}-stream`, options);
  const headers = requestHeaders(options, { authorization: token === undefined ? undefined : `Bearer ${token}` });
  const members = { ...ownMembers(values), ...Object.fromEntries(options.body) };
  return {
    format,
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

/** Bedrock's Converse: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html */
export const bedrockFormat: ReplyFormat = {
  readReply: (reply) => readMessage(reply, textOfBlocks),
  reasoningIn,
  openStream: (wantsReasoning) => new ConverseStream(wantsReasoning),
  frames: (listener) => new AwsEventReader(listener),
};

/** The replies of a model that has to call a tool: the input of the tool is the answer. */
export const bedrockToolFormat: ReplyFormat = {
  readReply(reply, body) {
    const message = readMessage(reply, (content) => textOfTool(content, body));
    return message.ok ? ok(answeredByTool(message.value)) : message;
  },
  reasoningIn,
  openStream: (wantsReasoning) => new ToolStream(wantsReasoning),
  frames: (listener) => new AwsEventReader(listener),
};

function readMessage(
  reply: WireObject,
  textIn: (content: readonly unknown[]) => string,
): ReturnType<ReplyFormat['readReply']> {
  const content = contentOf(reply);
  if (content === undefined) return err(malformed('answered without "output.message.content"'));
  const details = knownDetails({ ...usageOf(reply), finishReason: stringAt(reply, 'stopReason') });
  return ok({ text: textIn(content), ...details });
}

function contentOf(reply: WireObject): readonly unknown[] | undefined {
  return listAt(objectAt(objectAt(reply, 'output'), 'message'), 'content');
}

function reasoningIn(reply: WireObject): readonly string[] {
  return (contentOf(reply) ?? []).map(reasoningOfBlock);
}

function textOfBlocks(content: readonly unknown[]): string {
  return content.map((block) => stringAt(block, 'text') ?? '').join('');
}

/** The input of the tool; the text if the model called none. */
function textOfTool(content: readonly unknown[], body: string): string {
  const index = content.findIndex((block) => objectAt(block, 'toolUse') !== undefined);
  if (index < 0) return textOfBlocks(content);
  return toolText(body, ['output', 'message', 'content', index, 'toolUse', 'input']);
}

/** Redacted reasoning has no text. */
function reasoningOfBlock(block: unknown): string {
  return stringAt(objectAt(objectAt(block, 'reasoningContent'), 'reasoningText'), 'text') ?? '';
}

function usageOf(holder: unknown): PossibleDetails {
  const usage = objectAt(holder, 'usage');
  const others = countAt(usage, 'inputTokens');
  const prompt = promptTokens(others, countAt(usage, 'cacheReadInputTokens'), countAt(usage, 'cacheWriteInputTokens'));
  return { ...prompt, outputTokens: countAt(usage, 'outputTokens') };
}

class ConverseStream extends JsonEventStream {
  protected override take(event: WireObject): string {
    const exception = objectAt(event, 'exception');
    if (exception !== undefined) this.fault = reportedError({ ...exception, type: event['exceptionType'] });
    const stop = objectAt(event, 'messageStop');
    if (stop !== undefined) this.learnDetails({ finishReason: stringAt(stop, 'stopReason') });
    const metadata = objectAt(event, 'metadata');
    if (metadata !== undefined) {
      this.learnDetails(usageOf(metadata));
      // The metadata follow the stop and are the last event.
      this.done = this.details.finishReason !== undefined;
    }
    return textOf(event) ?? '';
  }

  protected override reasoningOf(event: WireObject): ReasoningDelta {
    const block = objectAt(event, 'contentBlockDelta');
    const text = stringAt(objectAt(objectAt(block, 'delta'), 'reasoningContent'), 'text');
    return { text, part: countAt(block, 'contentBlockIndex') };
  }

  protected override plainText(event: WireObject): string | undefined {
    return textOf(event);
  }
}

function textOf(event: WireObject): string | undefined {
  return stringAt(objectAt(objectAt(event, 'contentBlockDelta'), 'delta'), 'text');
}

class ToolStream extends ConverseStream {
  readonly #reply = new ToolReply();

  protected override take(event: WireObject): string {
    if (objectAt(objectAt(objectAt(event, 'contentBlockStart'), 'start'), 'toolUse') !== undefined) this.#reply.begin();
    const input = inputOf(event);
    if (input !== undefined) return this.#reply.input(input);
    const text = this.#reply.text(super.take(event));
    return objectAt(event, 'messageStop') === undefined ? text : text + this.#reply.end();
  }

  protected override plainText(event: WireObject): string | undefined {
    return inputOf(event);
  }

  override get details(): ReplyDetails {
    return answeredByTool(super.details);
  }
}

function inputOf(event: WireObject): string | undefined {
  return stringAt(objectAt(objectAt(objectAt(event, 'contentBlockDelta'), 'delta'), 'toolUse'), 'input');
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
