import type { JsonObject } from '../../base/json.ts';
import { trimWhiteSpace } from '../../base/white-space.ts';
import type { Message, MessagePart, PromptClient, InvalidReply } from '../../schema/message.ts';
import type { Fragment, RoleSegment } from './values/value.ts';
import type { Violation } from '../../schema/violation.ts';

/** Argument of `_.role(…)` that keeps a message apart from the previous one with the same role. */
const KEEP_APART = '__baml_allow_dupe_role__';

/**
 * Builds messages from the output of a template. Without any segment the whole text is one message of the default role, which
 * is not renamed. Otherwise each text is trimmed, empty texts and messages without parts are dropped, even if no message is
 * left, and adjacent messages whose roles have the same name in the request are joined.
 */
export function buildMessages(fragments: readonly Fragment[], client: PromptClient): readonly Message[] {
  if (fragments.every((fragment) => typeof fragment === 'string')) {
    return [{ role: client.defaultRole, parts: [{ kind: 'text', text: fragments.join('') }] }];
  }
  const builder = new MessageBuilder(client);
  for (const fragment of fragments) builder.add(fragment);
  return builder.finish();
}

/** The name that the request has for a role of the template. A role that the client does not allow becomes its default. */
function roleInRequest(role: string, { allowedRoles, defaultRole, remapRoles }: PromptClient): string {
  const allowed = allowedRoles.includes(role) ? role : defaultRole;
  return (Object.hasOwn(remapRoles, allowed) ? remapRoles[allowed] : undefined) ?? allowed;
}

interface OpenMessage {
  readonly role: string;
  readonly parts: MessagePart[];
}

class MessageBuilder {
  readonly #client: PromptClient;
  readonly #messages: OpenMessage[] = [];
  #current: OpenMessage;
  #metadata: JsonObject | undefined;
  #apart = false;
  #text = '';

  constructor(client: PromptClient) {
    this.#client = client;
    this.#current = { role: roleInRequest(client.defaultRole, client), parts: [] };
  }

  add(fragment: Fragment): void {
    if (typeof fragment === 'string') {
      this.#text += fragment;
      return;
    }
    this.#endText();
    if (fragment.kind === 'media') this.#addPart(fragment.part);
    else this.#begin(fragment);
  }

  finish(): readonly Message[] {
    this.#endText();
    this.#endMessage();
    return this.#messages.map(compact);
  }

  #begin(segment: RoleSegment): void {
    this.#endMessage();
    const entries = Object.entries(segment.metadata).filter(([name]) => name !== KEEP_APART);
    this.#current = { role: roleInRequest(segment.role, this.#client), parts: [] };
    this.#metadata = entries.length > 0 ? Object.fromEntries(entries) : undefined;
    this.#apart = segment.metadata[KEEP_APART] === true;
  }

  #endText(): void {
    const text = trimWhiteSpace(this.#text);
    this.#text = '';
    if (text !== '') this.#addPart({ kind: 'text', text });
  }

  #addPart(part: MessagePart): void {
    this.#current.parts.push(this.#metadata === undefined ? part : { ...part, metadata: this.#metadata });
  }

  #endMessage(): void {
    const { role, parts } = this.#current;
    if (parts.length === 0) return;
    const last = this.#messages.at(-1);
    if (last?.role === role && !this.#apart) last.parts.push(...parts);
    else this.#messages.push(this.#current);
  }
}

/** A call keeps its messages while the model works: an array that grew has room for 16 more elements, a copy has none. */
function compact({ role, parts }: OpenMessage): Message {
  return { role, parts: parts.slice() };
}

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
