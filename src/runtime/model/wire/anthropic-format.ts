import { countAt, listAt, objectAt, stringAt } from '../../../base/json.ts';
import { err, ok } from '../../../base/result.ts';
import { JsonEventStream } from './json-event-stream.ts';
import type { ReasoningDelta } from './json-event-stream.ts';
import { knownDetails, malformed, promptTokens, reportedError } from './reply-format.ts';
import type { PossibleDetails, ReplyDetails, ReplyFormat, WireObject } from './reply-format.ts';
import { answeredByTool, ToolReply, toolText } from './tool-reply.ts';

/** Anthropic's messages: https://docs.anthropic.com/en/api/messages and /messages-streaming */
export const anthropicFormat: ReplyFormat = {
  readReply: (reply) => readMessage(reply, (content) => content.map(textOfBlock).join('')),
  reasoningIn,
  openStream: (wantsReasoning) => new MessageStream(wantsReasoning),
};

/** The messages of a model that has to call a tool: the input of the tool is the answer. */
export const anthropicToolFormat: ReplyFormat = {
  readReply(reply, body) {
    const message = readMessage(reply, (content) => textOfTool(content, body));
    return message.ok ? ok(answeredByTool(message.value)) : message;
  },
  reasoningIn,
  openStream: (wantsReasoning) => new ToolStream(wantsReasoning),
};

function readMessage(
  reply: WireObject,
  textIn: (content: readonly unknown[]) => string,
): ReturnType<ReplyFormat['readReply']> {
  if (reply['type'] === 'error') return err(reportedError(reply['error']));
  const content = listAt(reply, 'content');
  if (content === undefined) return err(malformed('answered without "content"'));
  const responseModel = stringAt(reply, 'model');
  const details = knownDetails({ ...usageOf(objectAt(reply, 'usage')), ...endOf(reply), responseModel });
  return ok({ text: textIn(content), ...details });
}

function reasoningIn(reply: WireObject): readonly string[] {
  return (listAt(reply, 'content') ?? []).map(thinkingOfBlock);
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

function usageOf(usage: WireObject | undefined): PossibleDetails {
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
  #usage: WireObject = {};

  protected override take(event: WireObject): string {
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

  protected override reasoningOf(event: WireObject): ReasoningDelta | undefined {
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

  #learnUsage(usage: WireObject | undefined): void {
    if (usage === undefined) return;
    const counts = Object.entries(usage).filter(([, count]) => count !== null);
    this.#usage = { ...this.#usage, ...Object.fromEntries(counts) };
    this.learnDetails(usageOf(this.#usage));
  }

  protected override plainText(event: WireObject): string | undefined {
    return event['type'] === 'content_block_delta' ? textOfDelta(event) : undefined;
  }
}

function textOfDelta(event: WireObject): string | undefined {
  const delta = objectAt(event, 'delta');
  return stringAt(delta, 'type') === 'text_delta' ? stringAt(delta, 'text') : undefined;
}

class ToolStream extends MessageStream {
  readonly #reply = new ToolReply();

  protected override take(event: WireObject): string {
    if (event['type'] === 'content_block_start' && isTool(event['content_block'])) this.#reply.begin();
    const input = inputOfDelta(event);
    if (input !== undefined) return this.#reply.input(input);
    const text = this.#reply.text(super.take(event));
    // The event with the finish reason ends the reply: some gateways send no `message_stop`.
    return this.complete ? text + this.#reply.end() : text;
  }

  protected override plainText(event: WireObject): string | undefined {
    return inputOfDelta(event);
  }

  override get details(): ReplyDetails {
    return answeredByTool(super.details);
  }
}

function inputOfDelta(event: WireObject): string | undefined {
  if (event['type'] !== 'content_block_delta') return undefined;
  const delta = objectAt(event, 'delta');
  return stringAt(delta, 'type') === 'input_json_delta' ? stringAt(delta, 'partial_json') : undefined;
}
