import { countAt, isJsonObject } from '../../../base/json.ts';
import { type ModelAnswer, type ModelFormat, dataLine, type OpenAiError } from './answer.ts';
import { type Conversation, type ModelEndpoint, type FormatFacts, readContent } from './endpoint.ts';
import { RequestRefusal, type Turn } from './function-model.ts';
import { RESPONSES_FIELDS } from './request-fields.ts';

type Members = Readonly<Record<string, unknown>>;

/** `POST /v1/responses` */
export const RESPONSES: ModelEndpoint = {
  path: '/v1/responses',
  fields: RESPONSES_FIELDS,
  conversation: readInput,
  format: (facts, body) => new ResponsesFormat(facts, body['instructions'] ?? null),
};

function readInput({ input, instructions }: Members): Conversation {
  if (instructions !== undefined && instructions !== null && typeof instructions !== 'string') {
    throw new RequestRefusal('instructions', '"instructions" has to be a string.');
  }
  const system = typeof instructions === 'string' ? [{ role: 'system', text: instructions, media: [] }] : [];
  if (typeof input === 'string')
    return { turns: [...system, { role: 'user', text: input, media: [] }], param: 'input' };
  if (!Array.isArray(input)) throw new RequestRefusal('input', '"input" has to be a string or a list of messages.');
  return {
    turns: [...system, ...input.map((item: unknown, index) => readItem(item, `input[${index}]`))],
    param: 'input',
  };
}

function readItem(item: unknown, param: string): Turn {
  const { type = 'message', role, content } = isJsonObject(item) ? item : {};
  if (type !== 'message' || typeof role !== 'string') {
    throw new RequestRefusal(
      param,
      `"${param}" has to be a message with "role" and "content": svc reads no other items.`,
    );
  }
  return { role, ...readContent(content, `${param}.content`) };
}

type Status = 'in_progress' | 'completed' | 'incomplete' | 'failed';

class ResponsesFormat implements ModelFormat {
  readonly #id: string;
  readonly #head: Members;
  readonly #instructions: unknown;
  #sequence = 0;
  #text = '';

  constructor({ id, created, model }: FormatFacts, instructions: unknown) {
    this.#id = id;
    this.#head = { id: `resp_${id}`, object: 'response', created_at: created };
    this.#instructions = instructions;
    this.#model = model;
  }

  readonly #model: string;

  body(answer: ModelAnswer): string {
    return JSON.stringify(this.#ended(answer));
  }

  opened(): string {
    const response = this.#response('in_progress', []);
    return [
      this.#event('response.created', { response }),
      this.#event('response.in_progress', { response }),
      this.#event('response.output_item.added', { output_index: 0, item: this.#item('in_progress') }),
      this.#event('response.content_part.added', { ...this.#place, part: partOf('') }),
    ].join('');
  }

  delta(delta: string): string {
    this.#text += delta;
    return this.#event('response.output_text.delta', { ...this.#place, delta, logprobs: [] });
  }

  ended(answer: ModelAnswer, rest: string): string {
    const { content: text, isCut } = answer;
    const last = rest === '' ? '' : this.delta(rest);
    return [
      last,
      this.#event('response.output_text.done', { ...this.#place, text, logprobs: [] }),
      this.#event('response.content_part.done', { ...this.#place, part: partOf(text) }),
      this.#event('response.output_item.done', { output_index: 0, item: this.#item(statusOf(answer), text) }),
      this.#event(isCut ? 'response.incomplete' : 'response.completed', { response: this.#ended(answer) }),
    ].join('');
  }

  /** The member `error` beside the response makes OpenAI's packages throw: they take `response.failed` alone for an ordinary event. */
  failed(error: OpenAiError): string {
    const output = this.#text === '' ? [] : [this.#item('incomplete', this.#text)];
    const response = this.#response('failed', output, { error: { code: error.code, message: error.message } });
    return this.#event('response.failed', { response, error });
  }

  #ended(answer: ModelAnswer): Members {
    const { content, isCut, svc, usage } = answer;
    return this.#response(statusOf(answer), [this.#item(statusOf(answer), content)], {
      incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
      usage: usageOf(usage),
      svc,
    });
  }

  /** Has every member that a client can rely on; those of models are empty. */
  #response(status: Status, output: readonly object[], more: Members = {}): Members {
    return {
      ...this.#head,
      status,
      background: false,
      error: null,
      incomplete_details: null,
      instructions: this.#instructions,
      max_output_tokens: null,
      metadata: {},
      model: this.#model,
      output,
      parallel_tool_calls: false,
      previous_response_id: null,
      reasoning: { effort: null, summary: null },
      store: false,
      temperature: null,
      text: { format: { type: 'text' } },
      tool_choice: 'none',
      tools: [],
      top_p: null,
      truncation: 'disabled',
      usage: null,
      user: null,
      ...more,
    };
  }

  get #itemId(): string {
    return `msg_${this.#id}`;
  }

  get #place(): Members {
    return { item_id: this.#itemId, output_index: 0, content_index: 0 };
  }

  #item(status: Status, text?: string): object {
    const content = text === undefined ? [] : [partOf(text)];
    return { id: this.#itemId, type: 'message', status, role: 'assistant', content };
  }

  #event(type: string, members: Members): string {
    const line = dataLine({ type, sequence_number: this.#sequence, ...members });
    this.#sequence += 1;
    return `event: ${type}\n${line}`;
  }
}

function statusOf({ isCut }: ModelAnswer): Status {
  return isCut ? 'incomplete' : 'completed';
}

function partOf(text: string): object {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

/** Null if the provider reports no counts. */
function usageOf(usage: Members): object | null {
  const [input, output] = [countAt(usage, 'input_tokens'), countAt(usage, 'output_tokens')];
  if (input === undefined && output === undefined) return null;
  return {
    input_tokens: input ?? 0,
    input_tokens_details: { cached_tokens: countAt(usage, 'cached_input_tokens') ?? 0 },
    output_tokens: output ?? 0,
    output_tokens_details: { reasoning_tokens: countAt(usage, 'reasoning_tokens') ?? 0 },
    total_tokens: (input ?? 0) + (output ?? 0),
  };
}
