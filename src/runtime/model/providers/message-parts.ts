import type { JsonObject, JsonValue } from '../../../base/json.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import type { MediaSource, Message, MessagePart } from '../../../schema/message.ts';
import type { ClientOptions } from '../client-options.ts';

/** A message whose parts are in the form of one provider. */
export interface WireTurn<Part> {
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
