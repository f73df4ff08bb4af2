import type { Result } from '../../../base/result.ts';
import { ok } from '../../../base/result.ts';
import type { Message, MessagePart } from '../../../schema/message.ts';
import type { ClientOptions } from '../options/client-options.ts';
import { wireMetadata, wireRole } from './wire-role.ts';

/** A message with its parts as one provider writes them. */
export interface WireTurn<Part> {
  readonly role: string;
  readonly parts: readonly Part[];
}

/** A prompt for a provider that takes instructions apart from the conversation. */
export interface WireConversation<Part> {
  /** The parts of all `system` messages before the first other one; undefined when there are none. */
  readonly system: readonly Part[] | undefined;
  readonly turns: readonly WireTurn<Part>[];
}

/**
 * Writes a part of a message with this role, as one part or several. The failure says what the provider does not take,
 * and ends a sentence that begins with the client.
 */
export type WritePart<Part> = (part: MessagePart, role: string) => Result<readonly Part[], string>;

/** All messages, in their order, with the roles that the client's options give them. */
export function wireTurns<Part>(
  messages: readonly Message[],
  options: ClientOptions,
  write: WritePart<Part>,
): Result<readonly WireTurn<Part>[], string> {
  const turns: WireTurn<Part>[] = [];
  for (const message of messages) {
    const parts = wireParts(message, write);
    if (!parts.ok) return parts;
    turns.push({ role: wireRole(message.role, options), parts: parts.value });
  }
  return ok(turns);
}

/** A prompt that is nothing but system becomes the user's, since these providers want a message. */
export function wireConversation<Part>(
  messages: readonly Message[],
  options: ClientOptions,
  write: WritePart<Part>,
): Result<WireConversation<Part>, string> {
  const first = messages.findIndex((message) => message.role !== 'system');
  const leading = first === -1 ? [] : messages.slice(0, first);
  const conversation = first === -1 ? messages.map((message) => ({ ...message, role: 'user' })) : messages.slice(first);
  const system = wireTurns(leading, options, write);
  if (!system.ok) return system;
  const turns = wireTurns(conversation, options, write);
  if (!turns.ok) return turns;
  const instructions = system.value.flatMap(({ parts }) => parts);
  return ok({ system: leading.length === 0 ? undefined : instructions, turns: turns.value });
}

/** The one part that was written, with the metadata that the client lets through. */
export function withMetadata<Part extends object>(
  wire: Result<Part, string>,
  part: MessagePart,
  options: ClientOptions,
): Result<readonly Part[], string> {
  if (!wire.ok) return wire;
  const metadata = wireMetadata(part, options);
  return ok([metadata === undefined ? wire.value : { ...wire.value, ...metadata }]);
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
