import type { Message, MessagePart } from '../../prompt/message.ts';

/** A prompt for a provider that takes instructions apart from the conversation. */
export interface ApartSystem {
  /** Of all `system` messages before the first other one; empty when there are none. */
  readonly system: readonly MessagePart[];
  readonly conversation: readonly Message[];
}

/** A prompt that is nothing but system becomes the user's, since these providers want a message. */
export function apartSystem(messages: readonly Message[]): ApartSystem {
  const first = messages.findIndex((message) => message.role !== 'system');
  if (first === -1) return { system: [], conversation: messages.map(({ parts }) => ({ role: 'user', parts })) };
  return { system: messages.slice(0, first).flatMap(({ parts }) => parts), conversation: messages.slice(first) };
}
