import { isJsonObject, type JsonObject, type JsonValue } from '../../../base/json.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import type { MediaSource, Message, MessagePart } from '../../../schema/message.ts';
import type { OptionTable, OptionValues } from '../../../schema/providers/option-shapes.ts';
import type { MediaUrls } from '../../../schema/providers/provider-description.ts';
import type { StructuredForm } from '../../../schema/providers/structured-output.ts';
import type { StructuredOutput } from '../../../schema/structured-output.ts';
import type { ClientOptions } from '../client-options.ts';
import type { ConnectionPools } from '../http/connection-pools.ts';
import type { ReadyProtocol, WireProtocol } from '../http-model-client.ts';
import type { ReplyFormat } from '../wire/reply-format.ts';
import type { CloudMachine } from './cloud-credential.ts';

/** The wire code of a provider that svc reaches over HTTP. Its facts are in `schema/providers`. */
export interface HttpProvider {
  /** Some models accept fewer roles, cannot stream, or take media in another way than the provider's others. */
  limits?(client: Pick<ClientSetup, 'options' | 'values'>): ModelLimits;
  /** `apiKey` is undefined when the provider needs none and the client gives none. */
  protocol(client: ClientSetup, apiKey: string | undefined, access: ProviderAccess): WireProtocol | MissingSecret;
  /** Loads the modules that its calls need besides connections, so that the first call does not wait for them. */
  load?(): void;
}

export interface ModelLimits {
  readonly roles?: readonly string[];
  readonly defaultRole?: string;
  readonly streams?: false;
  readonly mediaUrls?: MediaUrls;
}

/** The checked options of one client. */
export interface ClientSetup<O extends OptionTable = OptionTable> {
  readonly options: ClientOptions;
  /** All options that the description of the provider lists. */
  readonly values: OptionValues<O>;
  /** The base of all its URLs, without a slash at the end. */
  readonly url: string;
  /** The format that `client_response_type` names, in place of the provider's own. */
  readonly format: ReplyFormat | undefined;
}

/** The services and secrets that a protocol can use besides the key. */
export interface ProviderAccess {
  /**
   * Secrets of the environment that belong together. They come from one place: when a request brings or removes one of
   * them, the server provides none.
   */
  readonly secrets: (variables: readonly string[]) => SecretGroup;
  /** A variable that names a file or a service of the server: no request changes it. */
  readonly ofServer: (variable: string) => string | undefined;
  /** Call this with each secret that a file or a service returned, so that no error or log shows it. */
  readonly hide: (secret: string) => void;
  /** A variable that is not a secret. */
  readonly setting: (variable: string) => string | undefined;
  readonly pools: ConnectionPools;
  /** The cloud whose machine the server runs on, if any. */
  readonly machine: CloudMachine | undefined;
  /** The credentials in the client's options come from the files or the server, so they can name files of the server. */
  readonly trusted: boolean;
}

export interface SecretGroup {
  /** The request decides: nothing of the server's replaces a secret that it does not bring. */
  readonly ofRequest: boolean;
  /** Undefined when the variable is not set, or not for this host. */
  readonly get: (variable: string) => string | undefined;
}

/** A credential that is missing or unusable, by the variable that would contain it. */
export interface MissingSecret {
  readonly missing: string;
  /** The reason why an existing one is unusable: completes a sentence that begins with the variable. */
  readonly because?: string;
}

/** Headers of every call of one client, flat: the provider's, then the client's own, which win. */
export function requestHeaders(
  options: ClientOptions,
  provided: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const all = new Map<string, string>([
    ['content-type', 'application/json'],
    ['accept', '*/*'],
  ]);
  for (const [name, value] of Object.entries(provided)) if (value !== undefined) all.set(name, value);
  for (const [name, value] of options.headers) all.set(name, value);
  // svc decompresses no reply, whatever a client's headers ask for.
  all.set('accept-encoding', 'identity');
  return [...all].flat();
}

/**
 * Path and query of a URL below the client's base, with its `query_params`: each replaces the first parameter of its name
 * in the base, and removes further ones. The query is written once, because each change of a URL writes all of it again.
 */
export function requestPath(
  baseUrl: string,
  suffix: string,
  { queryParams }: Pick<ClientOptions, 'queryParams'>,
): string {
  const url = new URL(baseUrl + suffix);
  if (queryParams.size === 0) return url.pathname + url.search;
  const added = new Map(queryParams);
  const query: [string, string][] = [];
  for (const [name, own] of url.searchParams) {
    const replaced = queryParams.get(name);
    const value = replaced === undefined ? own : added.get(name);
    if (value !== undefined) query.push([name, value]);
    added.delete(name);
  }
  return `${url.pathname}?${new URLSearchParams([...query, ...added]).toString()}`;
}

/** A protocol whose requests are JSON objects. */
export function jsonProtocol({
  structured,
  members,
  write,
  streamMembers,
  headers,
  address,
  ...reading
}: {
  /** The form in which the body carries the schema of the reply. */
  readonly structured: StructuredForm | undefined;
  /** Of every body. */
  readonly members: JsonObject;
  /** The members with the messages. */
  readonly write: (messages: readonly Message[]) => Result<JsonObject, string>;
  /** Members that only streams have, at the end. */
  readonly streamMembers?: JsonObject;
  readonly headers: readonly string[];
  /** Path and body of a request. */
  readonly address: (body: JsonObject, streamed: boolean) => { readonly path: string; readonly body: unknown };
} & Omit<ReadyProtocol, 'call'>): ReadyProtocol {
  return {
    ...reading,
    call(messages, streamed, output) {
      const wire = write(messages);
      if (!wire.ok) return wire;
      const form =
        structured === undefined || output === undefined
          ? undefined
          : structuredMembers(structured.kind, output, members);
      // V8 defines a member after a spread in half a microsecond, which is a hundredth of a small call.
      const all = Object.assign({}, members, form, wire.value, streamed ? streamMembers : undefined);
      const { path, body } = address(all, streamed);
      return ok({ path, headers, body: JSON.stringify(body) });
    },
  };
}

/** Addresses with a path for calls and another one for streams. */
export function twoPaths(whole: string, stream: string): Parameters<typeof jsonProtocol>[0]['address'] {
  return (body, streamed) => ({ path: streamed ? stream : whole, body });
}

/** The description of the tool, if the class of the reply has none. */
const TOOL_DESCRIPTION = 'Returns the answer.';

function structuredMembers(
  kind: StructuredForm['kind'],
  { name, description = TOOL_DESCRIPTION, schema, strict }: StructuredOutput,
  members: JsonObject,
): JsonObject {
  switch (kind) {
    case 'response-format':
      return { response_format: { type: 'json_schema', json_schema: { name, schema, strict } } };
    case 'text-format':
      return { text: { ...objectOf(members['text']), format: { type: 'json_schema', name, schema, strict } } };
    case 'response-json-schema': {
      const key = members['generation_config'] === undefined ? 'generationConfig' : 'generation_config';
      const json = { responseMimeType: 'application/json', responseJsonSchema: schema };
      return { [key]: { ...objectOf(members[key]), ...json } };
    }
    case 'tool': {
      const tool = { name, description, input_schema: schema };
      return { tools: [tool], tool_choice: { type: 'tool', name, disable_parallel_tool_use: true } };
    }
    case 'tool-config': {
      const tool = { toolSpec: { name, description, inputSchema: { json: schema } } };
      return { toolConfig: { tools: [tool], toolChoice: { tool: { name } } } };
    }
  }
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}

/** A message whose parts are in the form of one provider. */
interface WireTurn<Part> {
  readonly role: string;
  readonly parts: readonly Part[];
}

/** A prompt for a provider that takes instructions apart from the conversation. */
interface WireConversation<Part> {
  /** The parts of all `system` messages before the first other one; undefined when there are none. */
  readonly system: readonly Part[] | undefined;
  readonly turns: readonly WireTurn<Part>[];
}

/**
 * Writes a part of a message with this role, as one part or several. The failure states what the provider does not take,
 * and completes a sentence that begins with the client.
 */
type WritePart<Part> = (part: MessagePart, role: string) => Result<readonly Part[], string>;

/** All messages, in order. */
export function wireTurns<Part>(
  messages: readonly Message[],
  write: WritePart<Part>,
): Result<readonly WireTurn<Part>[], string> {
  const turns: WireTurn<Part>[] = [];
  for (const message of messages) {
    const parts = wireParts(message, write);
    if (!parts.ok) return parts;
    turns.push({ role: message.role, parts: parts.value });
  }
  return ok(turns);
}

/**
 * Splits instructions from the conversation, in which these providers accept no system message: one after the first other
 * message is sent as the user's, and so is a prompt with only system messages.
 */
export function wireConversation<Part>(
  messages: readonly Message[],
  write: WritePart<Part>,
): Result<WireConversation<Part>, string> {
  const first = messages.findIndex((message) => message.role !== 'system');
  const leading = first === -1 ? [] : messages.slice(0, first);
  const conversation = (first === -1 ? messages : messages.slice(first)).map((message) =>
    message.role === 'system' ? { ...message, role: 'user' } : message,
  );
  const system = wireTurns(leading, write);
  if (!system.ok) return system;
  const turns = wireTurns(conversation, write);
  if (!turns.ok) return turns;
  const instructions = system.value.flatMap(({ parts }) => parts);
  return ok({ system: leading.length === 0 ? undefined : instructions, turns: turns.value });
}

function wireParts<Part>(message: Message, write: WritePart<Part>): Result<readonly Part[], string> {
  const parts: Part[] = [];
  for (const part of message.parts) {
    const wire = write(part, message.role);
    if (!wire.ok) return wire;
    parts.push(...wire.value);
  }
  return ok(parts);
}

/** The one part that was written, with the metadata that the client allows. */
export function withMetadata<Part extends object>(
  wire: Result<Part, string>,
  part: MessagePart,
  options: ClientOptions,
): Result<readonly Part[], string> {
  if (!wire.ok) return wire;
  const metadata = wireMetadata(part, options);
  return ok([metadata === undefined ? wire.value : { ...wire.value, ...metadata }]);
}

/** The metadata of a part that the client allows; undefined when there is none. */
function wireMetadata(part: MessagePart, options: ClientOptions): JsonObject | undefined {
  const allowed = options.roleMetadata;
  if (part.metadata === undefined || allowed === 'none') return undefined;
  if (allowed === 'all') return part.metadata;
  const kept: Record<string, JsonValue> = {};
  for (const name of allowed) {
    const value = Object.hasOwn(part.metadata, name) ? part.metadata[name] : undefined;
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

interface InlineMedia {
  /** Base64. */
  readonly data: string;
  readonly mediaType: string;
}

/** Content inside the request. `inline-media.ts` has downloaded the URLs that cannot be sent. */
export function inlineData(source: MediaSource, fallbackType?: string): Result<InlineMedia, string> {
  if (source.kind === 'url') return err('takes this media only inline, and its URL was not downloaded');
  const mediaType = source.mediaType ?? fallbackType;
  if (mediaType === undefined)
    return err('needs the "media_type" of base64 content, such as "image/png" or "audio/wav"');
  return ok({ data: source.data, mediaType });
}

/** A media type by the provider's name for it: the one in `named`, or its subtype (`image/png` is `png`). */
export function formatName(mediaType: string, named: Readonly<Record<string, string>>): string {
  const subtype = mediaType.slice(mediaType.indexOf('/') + 1);
  return Object.hasOwn(named, subtype) ? (named[subtype] ?? subtype) : subtype;
}
