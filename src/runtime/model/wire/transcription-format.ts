import { err, ok } from '../../../base/result.ts';
import { JsonEventStream } from './json-event-stream.ts';
import type { EventObject } from './json-event-stream.ts';
import { objectAt, parseJson, stringAt } from './json-reading.ts';
import { malformed } from './reply-format.ts';
import type { ReplyFormat } from './reply-format.ts';
import { reportedError } from './reported-error.ts';

/** OpenAI's transcriptions: https://platform.openai.com/docs/api-reference/audio/createTranscription */
export const transcriptionFormat: ReplyFormat = {
  readWhole(body) {
    const reply = parseJson(body);
    const error = objectAt(reply, 'error');
    if (error !== undefined) return err(reportedError(error));
    const text = stringAt(reply, 'text');
    return text === undefined ? err(malformed('answered without "text"')) : ok({ text });
  },
  openStream: () => new TranscriptStream(),
};

class TranscriptStream extends JsonEventStream {
  protected override take(event: EventObject): string {
    if (event['type'] === 'transcript.text.done') this.done = true;
    if (event['type'] === 'error') this.fault = reportedError(objectAt(event, 'error') ?? event);
    return event['type'] === 'transcript.text.delta' ? (stringAt(event, 'delta') ?? '') : '';
  }

  protected override plainText(event: EventObject): string | undefined {
    return event['type'] === 'transcript.text.delta' ? stringAt(event, 'delta') : undefined;
  }
}
