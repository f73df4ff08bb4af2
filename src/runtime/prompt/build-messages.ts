import type { JsonObject } from '../../base/json.ts';
import { trimWhiteSpace } from '../../base/white-space.ts';
import type { Message, MessagePart, PromptClient } from '../../schema/message.ts';
import type { Fragment, RoleSegment } from './values/output.ts';

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
export function roleInRequest(role: string, { allowedRoles, defaultRole, remapRoles }: PromptClient): string {
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
