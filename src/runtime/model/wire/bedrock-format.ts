import { isJsonObject } from '../../../base/json.ts';
import type { Result } from '../../../base/result.ts';
import { err, ok } from '../../../base/result.ts';
import { AwsEventReader } from '../http/aws-event-reader.ts';
import type { UpstreamFailure } from '../http/upstream-failure.ts';
import { JsonEventStream } from './json-event-stream.ts';
import type { EventObject } from './json-event-stream.ts';
import { countAt, listAt, objectAt, parseJson, stringAt } from './json-reading.ts';
import { malformed } from './reply-format.ts';
import type { ModelReply, ReplyFormat } from './reply-format.ts';
import { reportedError } from './reported-error.ts';

/** Bedrock's Converse: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html */
export const bedrockFormat: ReplyFormat = {
  readWhole,
  openStream: () => new ConverseStream(),
  frames: (listener) => new AwsEventReader(listener),
};

function readWhole(body: string): Result<ModelReply, UpstreamFailure> {
  const reply = parseJson(body);
  if (!isJsonObject(reply)) return err(malformed('answered something that is not a JSON object'));
  const content = listAt(objectAt(objectAt(reply, 'output'), 'message'), 'content');
  if (content === undefined) return err(malformed('answered without "output.message.content"'));
  const finishReason = stringAt(reply, 'stopReason');
  return ok({
    text: content.map((block) => stringAt(block, 'text') ?? '').join(''),
    ...(finishReason === undefined ? {} : { finishReason }),
    ...usageOf(reply),
  });
}

function usageOf(holder: unknown): Pick<ModelReply, 'inputTokens' | 'outputTokens'> {
  const usage = objectAt(holder, 'usage');
  const inputTokens = countAt(usage, 'inputTokens');
  const outputTokens = countAt(usage, 'outputTokens');
  return {
    ...(inputTokens === undefined ? {} : { inputTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
  };
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
      // It comes last, after the stop.
      this.done = this.details.finishReason !== undefined;
    }
    return textOf(event) ?? '';
  }

  protected override plainText(event: EventObject): string | undefined {
    return textOf(event);
  }
}

function textOf(event: EventObject): string | undefined {
  return stringAt(objectAt(objectAt(event, 'contentBlockDelta'), 'delta'), 'text');
}
