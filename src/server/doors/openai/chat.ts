import { countAt, isJsonObject, objectAt } from '../../../base/json.ts';
import { type ModelAnswer, type ModelFormat, dataLine, type OpenAiError } from './answer.ts';
import { type Conversation, type ModelEndpoint, type FormatFacts, readContent } from './endpoint.ts';
import { RequestRefusal, type Turn } from './function-model.ts';
import { CHAT_FIELDS } from './request-fields.ts';

type Members = Readonly<Record<string, unknown>>;

/** `POST /v1/chat/completions` */
export const CHAT: ModelEndpoint = {
  path: '/v1/chat/completions',
  fields: CHAT_FIELDS,
  conversation: readMessages,
  format: (facts, body) => new ChatFormat(facts, objectAt(body, 'stream_options')?.['include_usage'] === true),
};

function readMessages({ messages }: Members): Conversation {
  if (!Array.isArray(messages)) throw new RequestRefusal('messages', '"messages" has to be a list of messages.');
  const turns = messages.map((message: unknown, index): Turn => {
    const param = `messages[${index}]`;
    const role = isJsonObject(message) ? message['role'] : undefined;
    if (!isJsonObject(message) || typeof role !== 'string')
      throw new RequestRefusal(param, `"${param}" has to be an object with "role" and "content".`);
    return { role, ...readContent(message['content'], `${param}.content`) };
  });
  return { turns, param: 'messages' };
}

class ChatFormat implements ModelFormat {
  readonly #head: Members;
  readonly #includeUsage: boolean;

  constructor({ id, created, model }: FormatFacts, includeUsage: boolean) {
    this.#head = { id: `chatcmpl-${id}`, created, model };
    this.#includeUsage = includeUsage;
  }

  body({ content, isCut, usage, svc }: ModelAnswer): string {
    const message = { role: 'assistant', content, refusal: null };
    const choice = { index: 0, message, logprobs: null, finish_reason: isCut ? 'length' : 'stop' };
    return JSON.stringify({ ...this.#head, object: 'chat.completion', choices: [choice], usage: usageOf(usage), svc });
  }

  opened(): string {
    return this.#chunk({ role: 'assistant', content: '', refusal: null });
  }

  delta(content: string): string {
    return this.#chunk({ content });
  }

  ended({ isCut, usage, svc }: ModelAnswer, rest: string): string {
    const counts = this.#includeUsage ? usageOf(usage) : undefined;
    return [
      rest === '' ? '' : this.delta(rest),
      this.#chunk({}, isCut ? 'length' : 'stop', { svc }),
      counts === undefined
        ? ''
        : dataLine({ ...this.#head, object: 'chat.completion.chunk', choices: [], usage: counts }),
      'data: [DONE]\n\n',
    ].join('');
  }

  failed(error: OpenAiError): string {
    return dataLine({ error });
  }

  #chunk(delta: Members, reason: string | null = null, more: Members = {}): string {
    const choice = { index: 0, delta, logprobs: null, finish_reason: reason };
    return dataLine({ ...this.#head, object: 'chat.completion.chunk', choices: [choice], ...more });
  }
}

/** Undefined if the provider reports no counts. */
function usageOf(usage: Members): object | undefined {
  const [input, output] = [countAt(usage, 'input_tokens'), countAt(usage, 'output_tokens')];
  if (input === undefined && output === undefined) return undefined;
  return {
    prompt_tokens: input ?? 0,
    completion_tokens: output ?? 0,
    total_tokens: (input ?? 0) + (output ?? 0),
    prompt_tokens_details: {
      cached_tokens: countAt(usage, 'cached_input_tokens') ?? 0,
      audio_tokens: countAt(usage, 'audio_input_tokens') ?? 0,
    },
    completion_tokens_details: {
      reasoning_tokens: countAt(usage, 'reasoning_tokens') ?? 0,
      audio_tokens: countAt(usage, 'audio_output_tokens') ?? 0,
    },
  };
}
