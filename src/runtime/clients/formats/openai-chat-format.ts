import type { ChatCompletion, ChatCompletionChunk } from 'openai/resources/chat/completions';
import { isJsonObject } from '../../../base/json.ts';
import { err, ok } from '../../../base/result.ts';
import type { Result } from '../../../base/result.ts';
import type { HttpFault } from '../http/http-fault.ts';
import { countAt, listAt, objectAt, parseJson, stringAt } from './json-reading.ts';
import { malformed } from './reply-format.ts';
import type { ModelReply, ReplyFormat, StreamedReply } from './reply-format.ts';
import { reportedError } from './reported-error.ts';
import { TextHole } from './text-hole.ts';

/** Member names, checked against the types of the openai package; the values are checked as they are read. */
const CHOICES = 'choices' satisfies keyof ChatCompletion & keyof ChatCompletionChunk;
const USAGE = 'usage' satisfies keyof ChatCompletion & keyof ChatCompletionChunk;
const FINISH_REASON = 'finish_reason' satisfies keyof ChatCompletionChunk.Choice;
const DELTA = 'delta' satisfies keyof ChatCompletionChunk.Choice;
const MESSAGE = 'message' satisfies keyof ChatCompletion.Choice;

/** Chat completions (https://platform.openai.com/docs/api-reference/chat), as OpenAI and those who follow it write them. */
export const openAiChatFormat: ReplyFormat = { readWhole, openStream: () => new ChatStream() };

function readWhole(body: string): Result<ModelReply, HttpFault> {
  const reply = parseJson(body);
  if (!isJsonObject(reply)) return err(malformed('answered something that is not a JSON object'));
  if (isJsonObject(reply['error'])) return err(reportedError(reply['error']));
  const choices = listAt(reply, CHOICES);
  if (choices === undefined) return err(malformed('answered without "choices"'));
  if (choices.length !== 1) return err(malformed(`answered ${choices.length} choices instead of one`));
  const message = objectAt(choices[0], MESSAGE);
  if (message === undefined) return err(malformed('answered a choice without "message"'));
  return ok({ text: contentText(message['content']), ...detailsOf(reply, choices[0]) });
}

/** Content is a text, null (a refusal or a tool call: an empty reply), or with some servers a list of parts. */
function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => stringAt(part, 'text') ?? '').join('');
}

function detailsOf(reply: unknown, choice: unknown): Omit<ModelReply, 'text'> {
  const finishReason = stringAt(choice, FINISH_REASON);
  const usage = objectAt(reply, USAGE);
  const inputTokens = countAt(usage, 'prompt_tokens');
  const outputTokens = countAt(usage, 'completion_tokens');
  return {
    ...(finishReason === undefined ? {} : { finishReason }),
    ...(inputTokens === undefined ? {} : { inputTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
  };
}

class ChatStream implements StreamedReply {
  readonly #hole = new TextHole(plainTextOf);
  #text = '';
  fault: HttpFault | undefined;
  done = false;
  details: Omit<ModelReply, 'text'> = {};

  get complete(): boolean {
    return this.done || this.details.finishReason !== undefined;
  }

  takeText(): string {
    const text = this.#text;
    this.#text = '';
    return text;
  }

  event(source: string, start: number, end: number): void {
    if (this.done || this.fault !== undefined) return;
    const piece = this.#hole.read(source, start, end);
    if (piece === undefined) this.#parse(source.slice(start, end));
    else this.#text += piece;
  }

  #parse(data: string): void {
    if (data.trimEnd() === '[DONE]') {
      this.done = true;
      return;
    }
    const chunk = parseJson(data);
    if (!isJsonObject(chunk))
      this.fault = malformed(`sent an event that is not JSON: ${JSON.stringify(data.slice(0, 200))}`);
    else if (chunk['error'] !== undefined && chunk['error'] !== null) this.fault = reportedError(chunk['error']);
    else this.#take(data, chunk);
  }

  #take(data: string, chunk: Readonly<Record<string, unknown>>): void {
    const choice = listAt(chunk, CHOICES)?.[0];
    const piece = contentText(objectAt(choice, DELTA)?.['content']);
    this.#text += piece;
    this.details = { ...this.details, ...detailsOf(chunk, choice) };
    if (piece !== '' && plainTextOf(chunk) === piece) this.#hole.learn(data, piece);
  }
}

/** The text of a chunk that says nothing else: no finish reason, no usage, one choice. */
function plainTextOf(chunk: unknown): string | undefined {
  const choices = listAt(chunk, CHOICES);
  if (choices?.length !== 1 || stringAt(choices[0], FINISH_REASON) !== undefined) return undefined;
  if (objectAt(chunk, USAGE) !== undefined || objectAt(chunk, 'error') !== undefined) return undefined;
  return stringAt(objectAt(choices[0], DELTA), 'content');
}
