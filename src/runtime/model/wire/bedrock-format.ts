import { isJsonObject } from '../../../base/json.ts';
import { err, ok } from '../../../base/result.ts';
import { AwsEventReader } from '../http/aws-event-reader.ts';
import { JsonEventStream } from './json-event-stream.ts';
import type { EventObject, ReasoningDelta } from './json-event-stream.ts';
import {
  countAt,
  knownDetails,
  listAt,
  malformed,
  objectAt,
  parseJson,
  promptTokens,
  reportedError,
  stringAt,
  withReasoning,
} from './reply-format.ts';
import type { PossibleDetails, ReplyFormat } from './reply-format.ts';

/** Bedrock's Converse: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html */
export const bedrockFormat: ReplyFormat = {
  readWhole(body, wantsReasoning) {
    const reply = parseJson(body);
    if (!isJsonObject(reply)) return err(malformed('answered something that is not a JSON object'));
    const content = listAt(objectAt(objectAt(reply, 'output'), 'message'), 'content');
    if (content === undefined) return err(malformed('answered without "output.message.content"'));
    const text = content.map((block) => stringAt(block, 'text') ?? '').join('');
    const details = knownDetails({ ...usageOf(reply), finishReason: stringAt(reply, 'stopReason') });
    const message = { text, ...details };
    return ok(wantsReasoning ? withReasoning(message, content.map(reasoningOfBlock)) : message);
  },
  openStream: (wantsReasoning) => new ConverseStream(wantsReasoning),
  frames: (listener) => new AwsEventReader(listener),
};

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
  protected override take(event: EventObject): string {
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

  protected override reasoningOf(event: EventObject): ReasoningDelta {
    const block = objectAt(event, 'contentBlockDelta');
    const text = stringAt(objectAt(objectAt(block, 'delta'), 'reasoningContent'), 'text');
    return { text, part: countAt(block, 'contentBlockIndex') };
  }

  protected override plainText(event: EventObject): string | undefined {
    return textOf(event);
  }
}

function textOf(event: EventObject): string | undefined {
  return stringAt(objectAt(objectAt(event, 'contentBlockDelta'), 'delta'), 'text');
}
