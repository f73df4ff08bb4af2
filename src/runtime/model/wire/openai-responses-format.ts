import { isJsonObject } from '../../../base/json.ts';
import type { Result } from '../../../base/result.ts';
import { err, ok } from '../../../base/result.ts';
import type { UpstreamFailure } from '../http/upstream-failure.ts';
import { JsonEventStream } from './json-event-stream.ts';
import type { EventObject } from './json-event-stream.ts';
import { countAt, listAt, objectAt, parseJson, stringAt } from './json-reading.ts';
import { malformed } from './reply-format.ts';
import type { ModelReply, ReplyFormat } from './reply-format.ts';
import { reportedError } from './reported-error.ts';

/** OpenAI's responses: https://platform.openai.com/docs/api-reference/responses and /responses-streaming */
export const openAiResponsesFormat: ReplyFormat = { readWhole, openStream: () => new ResponseStream() };

function readWhole(body: string): Result<ModelReply, UpstreamFailure> {
  const reply = parseJson(body);
  if (!isJsonObject(reply)) return err(malformed('answered something that is not a JSON object'));
  if (isJsonObject(reply['error'])) return err(reportedError(reply['error']));
  if (listAt(reply, 'output') === undefined) return err(malformed('answered without "output"'));
  return ok({ text: outputText(reply), ...definedOnly(detailsOf(reply)) });
}

/** The text parts of all messages; reasoning and tool calls are not part of the answer. */
function outputText(response: unknown): string {
  const messages = (listAt(response, 'output') ?? []).filter((item) => stringAt(item, 'type') === 'message');
  const parts = messages.flatMap((message) => listAt(message, 'content') ?? []);
  return parts.map((part) => (stringAt(part, 'type') === 'output_text' ? (stringAt(part, 'text') ?? '') : '')).join('');
}

interface Details {
  readonly finishReason: string | undefined;
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
}

/** An incomplete response names its reason apart from its status. */
function detailsOf(response: unknown): Details {
  const usage = objectAt(response, 'usage');
  return {
    finishReason: stringAt(objectAt(response, 'incomplete_details'), 'reason') ?? stringAt(response, 'status'),
    inputTokens: countAt(usage, 'input_tokens'),
    outputTokens: countAt(usage, 'output_tokens'),
  };
}

function definedOnly(details: Details): Omit<ModelReply, 'text'> {
  return Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined));
}

class ResponseStream extends JsonEventStream {
  protected override take(event: EventObject): string {
    switch (event['type']) {
      case 'response.output_text.delta':
        return stringAt(event, 'delta') ?? '';
      case 'response.completed':
      case 'response.incomplete':
        this.learnDetails(detailsOf(event['response']));
        this.done = true;
        return '';
      case 'response.failed':
        this.fault = reportedError(objectAt(event['response'], 'error') ?? 'the response failed');
        return '';
      case 'error':
        this.fault = reportedError(objectAt(event, 'error') ?? event);
        return '';
      default:
        return '';
    }
  }

  protected override plainText(event: EventObject): string | undefined {
    return event['type'] === 'response.output_text.delta' ? stringAt(event, 'delta') : undefined;
  }
}
