import type { InvalidReply, Message, MessagePart, PromptClient } from '../../schema/message.ts';
import type { Violation } from '../../schema/violation.ts';
import { roleInRequest } from './build-messages.ts';

/**
 * The most characters of a reply that go back to the model, about 16,000 tokens: longer than most models can answer, and all
 * that an error shows of a reply. Without a limit, a request could contain a reply of 64 MiB.
 */
const MAX_REPLY = 65_536;

/** A model that corrects the first faults usually corrects the others, which repeat them for other members of a list. */
const MAX_FAULTS = 20;
/** The most characters of one fault: a message can quote keys of the reply. */
const MAX_FAULT = 500;

/**
 * Returns the messages that ask a model to correct its reply: the prompt, the reply as the assistant's, and the faults with
 * their paths as the user's. As in prompts, a client that does not accept these roles gets its default role, roles are renamed,
 * and adjacent messages of one role are joined.
 */
export function reaskMessages({ prompt, text, faults }: InvalidReply, client: PromptClient): readonly Message[] {
  const messages = [...prompt];
  // Providers refuse messages without text.
  if (text.trim() !== '') append(messages, 'assistant', shortened(text), client);
  append(messages, 'user', request(faults, text), client);
  return messages;
}

function append(messages: Message[], wanted: string, text: string, client: PromptClient): void {
  const role = roleInRequest(wanted, client);
  const part: MessagePart = { kind: 'text', text };
  const last = messages.at(-1);
  if (last?.role === role) messages[messages.length - 1] = { role, parts: [...last.parts, part] };
  else messages.push({ role, parts: [part] });
}

function request(faults: readonly Violation[], text: string): string {
  const lines = faults.slice(0, MAX_FAULTS).map(({ path, message }) => {
    const line = `- ${path === '' ? '' : `${path}: `}${message}`;
    return line.length > MAX_FAULT ? `${line.slice(0, MAX_FAULT)}…` : line;
  });
  if (faults.length > MAX_FAULTS) lines.push(`- and ${faults.length - MAX_FAULTS} more`);
  const sentences = [
    'Your answer does not fit the requested format:',
    ...lines,
    ...(text.length > MAX_REPLY ? ['Only the beginning of your answer is repeated above.'] : []),
    'Answer the request again with the corrected answer. Give the complete answer in the requested format.',
  ];
  return wellFormed(sentences.join('\n'));
}

function shortened(text: string): string {
  return wellFormed(text.length > MAX_REPLY ? `${text.slice(0, MAX_REPLY)}…` : text);
}

/** Replaces half characters, which a cut or a model leaves: providers refuse requests with them. */
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}
