import { countAt, listAt, objectAt, stringAt } from '../../../base/json.ts';
import { err, ok } from '../../../base/result.ts';
import { AwsEventReader } from '../http/aws-event-reader.ts';
import { JsonEventStream } from './json-event-stream.ts';
import type { ReasoningDelta } from './json-event-stream.ts';
import { knownDetails, malformed, promptTokens, reportedError } from './reply-format.ts';
import type { PossibleDetails, ReplyDetails, ReplyFormat, WireObject } from './reply-format.ts';
import { answeredByTool, ToolReply, toolText } from './tool-reply.ts';

/** Bedrock's Converse: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html */
export const bedrockFormat: ReplyFormat = {
  readReply: (reply) => readMessage(reply, textOfBlocks),
  reasoningIn,
  openStream: (wantsReasoning) => new ConverseStream(wantsReasoning),
  frames: (listener) => new AwsEventReader(listener),
};

/** The replies of a model that has to call a tool: the input of the tool is the answer. */
export const bedrockToolFormat: ReplyFormat = {
  readReply(reply, body) {
    const message = readMessage(reply, (content) => textOfTool(content, body));
    return message.ok ? ok(answeredByTool(message.value)) : message;
  },
  reasoningIn,
  openStream: (wantsReasoning) => new ToolStream(wantsReasoning),
  frames: (listener) => new AwsEventReader(listener),
};

function readMessage(
  reply: WireObject,
  textIn: (content: readonly unknown[]) => string,
): ReturnType<ReplyFormat['readReply']> {
  const content = contentOf(reply);
  if (content === undefined) return err(malformed('answered without "output.message.content"'));
  const details = knownDetails({ ...usageOf(reply), finishReason: stringAt(reply, 'stopReason') });
  return ok({ text: textIn(content), ...details });
}

function contentOf(reply: WireObject): readonly unknown[] | undefined {
  return listAt(objectAt(objectAt(reply, 'output'), 'message'), 'content');
}

function reasoningIn(reply: WireObject): readonly string[] {
  return (contentOf(reply) ?? []).map(reasoningOfBlock);
}

function textOfBlocks(content: readonly unknown[]): string {
  return content.map((block) => stringAt(block, 'text') ?? '').join('');
}

/** The input of the tool; the text if the model called none. */
function textOfTool(content: readonly unknown[], body: string): string {
  const index = content.findIndex((block) => objectAt(block, 'toolUse') !== undefined);
  if (index < 0) return textOfBlocks(content);
  return toolText(body, ['output', 'message', 'content', index, 'toolUse', 'input']);
}

/** Redacted reasoning has no text. */
function reasoningOfBlock(block: unknown): string {
  return stringAt(objectAt(objectAt(block, 'reasoningContent'), 'reasoningText'), 'text') ?? '';
}

function usageOf(holder: unknown): PossibleDetails {
  const usage = objectAt(holder, 'usage');
  const others = countAt(usage, 'inputTokens');
  const prompt = promptTokens(others, countAt(usage, 'cacheReadInputTokens'), countAt(usage, 'cacheWriteInputTokens'));
  return { ...prompt, outputTokens: countAt(usage, 'outputTokens') };
}

class ConverseStream extends JsonEventStream {
  protected override take(event: WireObject): string {
    const exception = objectAt(event, 'exception');
    if (exception !== undefined) this.fault = reportedError({ ...exception, type: event['exceptionType'] });
    const stop = objectAt(event, 'messageStop');
    if (stop !== undefined) this.learnDetails({ finishReason: stringAt(stop, 'stopReason') });
    const metadata = objectAt(event, 'metadata');
    if (metadata !== undefined) {
      this.learnDetails(usageOf(metadata));
      // The metadata follow the stop and are the last event.
      this.done = this.details.finishReason !== undefined;
    }
    return textOf(event) ?? '';
  }

  protected override reasoningOf(event: WireObject): ReasoningDelta {
    const block = objectAt(event, 'contentBlockDelta');
    const text = stringAt(objectAt(objectAt(block, 'delta'), 'reasoningContent'), 'text');
    return { text, part: countAt(block, 'contentBlockIndex') };
  }

  protected override plainText(event: WireObject): string | undefined {
    return textOf(event);
  }
}

function textOf(event: WireObject): string | undefined {
  return stringAt(objectAt(objectAt(event, 'contentBlockDelta'), 'delta'), 'text');
}

class ToolStream extends ConverseStream {
  readonly #reply = new ToolReply();

  protected override take(event: WireObject): string {
    if (objectAt(objectAt(objectAt(event, 'contentBlockStart'), 'start'), 'toolUse') !== undefined) this.#reply.begin();
    const input = inputOf(event);
    if (input !== undefined) return this.#reply.input(input);
    const text = this.#reply.text(super.take(event));
    return objectAt(event, 'messageStop') === undefined ? text : text + this.#reply.end();
  }

  protected override plainText(event: WireObject): string | undefined {
    return inputOf(event);
  }

  override get details(): ReplyDetails {
    return answeredByTool(super.details);
  }
}

function inputOf(event: WireObject): string | undefined {
  return stringAt(objectAt(objectAt(objectAt(event, 'contentBlockDelta'), 'delta'), 'toolUse'), 'input');
}
