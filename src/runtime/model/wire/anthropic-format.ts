import { err, ok } from '../../../base/result.ts';
import { JsonEventStream } from './json-event-stream.ts';
import type { EventObject, ReasoningDelta } from './json-event-stream.ts';
import {
  countAt,
  knownDetails,
  listAt,
  malformed,
  objectAt,
  parseReplyBody,
  promptTokens,
  reportedError,
  stringAt,
  withReasoning,
} from './reply-format.ts';
import type { PossibleDetails, ReplyDetails, ReplyFormat } from './reply-format.ts';
import { answeredByTool, ToolReply, toolText } from './tool-reply.ts';

/** Anthropic's messages: https://docs.anthropic.com/en/api/messages and /messages-streaming */
export const anthropicFormat: ReplyFormat = {
  readWhole: (body, wantsReasoning) =>
    readMessage(body, wantsReasoning, (content) => content.map(textOfBlock).join('')),
  openStream: (wantsReasoning) => new MessageStream(wantsReasoning),
};

/** The messages of a model that has to call a tool: the input of the tool is the answer. */
export const anthropicToolFormat: ReplyFormat = {
  readWhole(body, wantsReasoning) {
    const reply = readMessage(body, wantsReasoning, textOfTool);
    return reply.ok ? ok(answeredByTool(reply.value)) : reply;
  },
  openStream: (wantsReasoning) => new ToolStream(wantsReasoning),
};

function readMessage(
  body: string,
  wantsReasoning: boolean,
  textIn: (content: readonly unknown[], body: string) => string,
): ReturnType<ReplyFormat['readWhole']> {
  const parsed = parseReplyBody(body);
  if (!parsed.ok) return parsed;
  const reply = parsed.value;
  if (reply['type'] === 'error') return err(reportedError(reply['error']));
  const content = listAt(reply, 'content');
  if (content === undefined) return err(malformed('answered without "content"'));
  const responseModel = stringAt(reply, 'model');
  const details = knownDetails({ ...usageOf(objectAt(reply, 'usage')), ...endOf(reply), responseModel });
  const message = { text: textIn(content, body), ...details };
  return ok(wantsReasoning ? withReasoning(message, content.map(thinkingOfBlock)) : message);
}

/** A block of redacted thinking has no text. */
function thinkingOfBlock(block: unknown): string {
  return stringAt(block, 'type') === 'thinking' ? (stringAt(block, 'thinking') ?? '') : '';
}

/** Thinking and tool blocks are not part of the answer. */
function textOfBlock(block: unknown): string {
  return stringAt(block, 'type') === 'text' ? (stringAt(block, 'text') ?? '') : '';
}

/** The input of the tool; the text if the model called none. */
function textOfTool(content: readonly unknown[], body: string): string {
  const index = content.findIndex(isTool);
  return index < 0 ? content.map(textOfBlock).join('') : toolText(body, ['content', index, 'input']);
}

function isTool(block: unknown): boolean {
  return stringAt(block, 'type') === 'tool_use';
}

/** A model that refuses can stop in the middle. Its text until then does not give the reason. */
function endOf(holder: unknown): PossibleDetails {
  const finishReason = stringAt(holder, 'stop_reason');
  return finishReason === 'refusal' ? { finishReason, refusal: '' } : { finishReason };
}

function usageOf(usage: EventObject | undefined): PossibleDetails {
  const others = countAt(usage, 'input_tokens');
  const prompt = promptTokens(
    others,
    countAt(usage, 'cache_read_input_tokens'),
    countAt(usage, 'cache_creation_input_tokens'),
  );
  return { ...prompt, outputTokens: countAt(usage, 'output_tokens') };
}

class MessageStream extends JsonEventStream {
  /** The counts are cumulative. The end repeats some of those of the start. */
  #usage: EventObject = {};

  protected override take(event: EventObject): string {
    switch (event['type']) {
      case 'content_block_delta':
        return textOfDelta(event) ?? '';
      case 'content_block_start':
        return textOfBlock(event['content_block']);
      case 'message_start':
        this.#learnUsage(objectAt(event['message'], 'usage'));
        this.learnDetails({ responseModel: stringAt(event['message'], 'model') });
        return '';
      case 'message_delta':
        this.#learnUsage(objectAt(event, 'usage'));
        this.learnDetails(endOf(event['delta']));
        return '';
      case 'message_stop':
        this.done = true;
        return '';
      case 'error':
        this.fault = reportedError(event['error']);
        return '';
      default:
        // `ping`, and future events: the documentation asks clients to ignore unknown ones.
        return '';
    }
  }

  protected override reasoningOf(event: EventObject): ReasoningDelta | undefined {
    const part = countAt(event, 'index');
    switch (event['type']) {
      case 'content_block_delta':
        return { text: stringAt(objectAt(event, 'delta'), 'thinking'), part };
      case 'content_block_start':
        return { text: thinkingOfBlock(event['content_block']), part };
      default:
        return undefined;
    }
  }

  #learnUsage(usage: EventObject | undefined): void {
    if (usage === undefined) return;
    const counts = Object.entries(usage).filter(([, count]) => count !== null);
    this.#usage = { ...this.#usage, ...Object.fromEntries(counts) };
    this.learnDetails(usageOf(this.#usage));
  }

  protected override plainText(event: EventObject): string | undefined {
    return event['type'] === 'content_block_delta' ? textOfDelta(event) : undefined;
  }
}

function textOfDelta(event: EventObject): string | undefined {
  const delta = objectAt(event, 'delta');
  return stringAt(delta, 'type') === 'text_delta' ? stringAt(delta, 'text') : undefined;
}

class ToolStream extends MessageStream {
  readonly #reply = new ToolReply();

  protected override take(event: EventObject): string {
    if (event['type'] === 'content_block_start' && isTool(event['content_block'])) this.#reply.begin();
    const input = inputOfDelta(event);
    if (input !== undefined) return this.#reply.input(input);
    const text = this.#reply.text(super.take(event));
    // The event with the finish reason ends the reply: some gateways send no `message_stop`.
    return this.complete ? text + this.#reply.end() : text;
  }

  protected override plainText(event: EventObject): string | undefined {
    return inputOfDelta(event);
  }

  override get details(): ReplyDetails {
    return answeredByTool(super.details);
  }
}

function inputOfDelta(event: EventObject): string | undefined {
  if (event['type'] !== 'content_block_delta') return undefined;
  const delta = objectAt(event, 'delta');
  return stringAt(delta, 'type') === 'input_json_delta' ? stringAt(delta, 'partial_json') : undefined;
}
