import type { ChatCompletion, ChatCompletionChunk } from 'openai/resources/chat/completions';
import { isJsonObject } from '../../../base/json.ts';
import { err, ok } from '../../../base/result.ts';
import type { Result } from '../../../base/result.ts';
import type { UpstreamFailure } from '../http/upstream-failure.ts';
import { JsonEventStream } from './json-event-stream.ts';
import type { EventObject } from './json-event-stream.ts';
import { countAt, listAt, objectAt, parseJson, stringAt } from './json-reading.ts';
import { isOnlyOne, malformed } from './reply-format.ts';
import type { ModelReply, ReplyFormat } from './reply-format.ts';
import { reportedError } from './reported-error.ts';

/** Member names, checked against the types of the openai package; the values are checked as they are read. */
const CHOICES = 'choices' satisfies keyof ChatCompletion & keyof ChatCompletionChunk;
const USAGE = 'usage' satisfies keyof ChatCompletion & keyof ChatCompletionChunk;
const FINISH_REASON = 'finish_reason' satisfies keyof ChatCompletionChunk.Choice;
const DELTA = 'delta' satisfies keyof ChatCompletionChunk.Choice;
const MESSAGE = 'message' satisfies keyof ChatCompletion.Choice;

/** Chat completions (https://platform.openai.com/docs/api-reference/chat), as OpenAI and those who follow it write them. */
export const openAiChatFormat: ReplyFormat = { readWhole, openStream: () => new ChatStream() };

function readWhole(body: string): Result<ModelReply, UpstreamFailure> {
  const reply = parseJson(body);
  if (!isJsonObject(reply)) return err(malformed('answered something that is not a JSON object'));
  if (isJsonObject(reply['error'])) return err(reportedError(reply['error']));
  const choices = listAt(reply, CHOICES);
  if (choices === undefined) return err(malformed('answered without "choices"'));
  if (choices.length !== 1) return err(malformed(`answered ${choices.length} choices instead of one`));
  // OpenRouter tells of a model that failed midway in its choice.
  const failed = objectAt(choices[0], 'error');
  if (failed !== undefined) return err(reportedError(failed));
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
  const details: { finishReason?: string; inputTokens?: number; outputTokens?: number } = {};
  const finishReason = stringAt(choice, FINISH_REASON);
  if (finishReason !== undefined) details.finishReason = finishReason;
  const usage = objectAt(reply, USAGE);
  const inputTokens = countAt(usage, 'prompt_tokens');
  if (inputTokens !== undefined) details.inputTokens = inputTokens;
  const outputTokens = countAt(usage, 'completion_tokens');
  if (outputTokens !== undefined) details.outputTokens = outputTokens;
  return details;
}

class ChatStream extends JsonEventStream {
  protected override take(chunk: EventObject): string {
    if (chunk['error'] !== undefined && chunk['error'] !== null) {
      this.fault = reportedError(chunk['error']);
      return '';
    }
    const choices = listAt(chunk, CHOICES) ?? [];
    if (!isOnlyOne(choices)) {
      this.fault = malformed('answered several choices instead of one');
      return '';
    }
    const choice = choices[0];
    this.learnDetails(detailsOf(chunk, choice));
    return contentText(objectAt(choice, DELTA)?.['content']);
  }

  protected override plainText(chunk: EventObject): string | undefined {
    return plainTextOf(chunk);
  }
}

/** The text of a chunk that says nothing else: no finish reason, no usage, one choice. */
function plainTextOf(chunk: unknown): string | undefined {
  const choices = listAt(chunk, CHOICES);
  if (choices?.length !== 1 || !isOnlyOne(choices) || stringAt(choices[0], FINISH_REASON) !== undefined)
    return undefined;
  if (objectAt(chunk, USAGE) !== undefined || objectAt(chunk, 'error') !== undefined) return undefined;
  return stringAt(objectAt(choices[0], DELTA), 'content');
}
