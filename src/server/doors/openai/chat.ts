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

/** Objects are literals without spreads, which JSON.stringify writes in half the time. */
class ChatFormat implements ModelFormat {
  readonly #id: string;
  readonly #facts: FormatFacts;
  readonly #includeUsage: boolean;

  constructor(facts: FormatFacts, includeUsage: boolean) {
    this.#id = `chatcmpl-${facts.id}`;
    this.#facts = facts;
    this.#includeUsage = includeUsage;
  }

  body({ content, isCut, usage, svc }: ModelAnswer): string {
    const { created, model } = this.#facts;
    const message = { role: 'assistant', content, refusal: null };
    const choices = [{ index: 0, message, logprobs: null, finish_reason: isCut ? 'length' : 'stop' }];
    const object = 'chat.completion';
    return JSON.stringify({ id: this.#id, object, created, model, choices, usage: usageOf(usage), svc });
  }

  opened(): string {
    return this.#delta({ role: 'assistant', content: '', refusal: null });
  }

  delta(content: string): string {
    return this.#delta({ content });
  }

  ended({ isCut, usage, svc }: ModelAnswer, rest: string): string {
    const counts = this.#includeUsage ? usageOf(usage) : undefined;
    return [
      rest === '' ? '' : this.delta(rest),
      this.#delta({}, isCut ? 'length' : 'stop', svc),
      counts === undefined ? '' : this.#chunk([], undefined, counts),
      'data: [DONE]\n\n',
    ].join('');
  }

  failed(error: OpenAiError): string {
    return dataLine({ error });
  }

  #delta(delta: Members, reason: string | null = null, svc?: Members): string {
    return this.#chunk([{ index: 0, delta, logprobs: null, finish_reason: reason }], svc);
  }

  #chunk(choices: readonly object[], svc?: Members, usage?: object): string {
    const { created, model } = this.#facts;
    return dataLine({ id: this.#id, object: 'chat.completion.chunk', created, model, choices, usage, svc });
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
