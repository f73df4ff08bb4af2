import { pathSegment } from '../../../base/percent-encoding.ts';
import { type JsonObject, countAt, isJsonObject, listAt, objectAt, stringAt } from '../../../base/json.ts';
import { err, ok, type Result } from '../../../base/result.ts';
import type { MediaPart, Message } from '../../../schema/message.ts';
import type { ClientOptions } from '../client-options.ts';
import type { ReadyProtocol } from '../http-model-client.ts';
import { inlineData, wireConversation, withMetadata } from './message-parts.ts';
import { requestHeaders, requestPath, type HttpProvider, withStructure } from './provider.ts';
import { JsonEventStream, type ReasoningDelta } from '../wire/json-event-stream.ts';
import {
  isOnlyOne,
  knownDetails,
  knownTokens,
  malformed,
  reportedError,
  type PossibleDetails,
  type ReplyDetails,
  type ReplyFormat,
  type TokenDetails,
  type WireObject,
} from '../wire/reply-format.ts';

export const googleAi: HttpProvider = {
  connect: ({ url, options, format = googleFormat }) => ({
    protocol: (apiKey) => {
      const headers = requestHeaders(options, { 'x-goog-api-key': apiKey });
      return googleProtocol({ base: `${url}/models/${modelPath(options.model ?? '')}`, options, format, headers });
    },
  }),
};

/** A model's name as one or more segments of a path: `tunedModels/x` keeps its slash, and `..` does not lead upwards. */
export function modelPath(model: string): string {
  return model.split('/').map(pathSegment).join('/');
}

/** generateContent below a model's URL: shared by the Gemini API and Vertex AI. */
export function googleProtocol(parts: {
  readonly base: string;
  readonly options: ClientOptions;
  readonly format: ReplyFormat;
  readonly headers: readonly string[];
}): ReadyProtocol {
  const { base, options, format, headers } = parts;
  const whole = requestPath(base, ':generateContent', options);
  const stream = requestPath(base, ':streamGenerateContent?alt=sse', options);
  const members = Object.fromEntries(options.body);
  return {
    format,
    call(messages, streamed, output) {
      const wire = googleContents(messages, options);
      if (!wire.ok) return err(wire.failure);
      const body = JSON.stringify({ ...withStructure(members, options, output), ...wire.value });
      return ok({ path: streamed ? stream : whole, headers, body });
    },
  };
}

/** Messages as Gemini documents them: leading system messages are the instruction, and the assistant is called `model`. */
function googleContents(messages: readonly Message[], options: ClientOptions): Result<JsonObject, string> {
  const wire = wireConversation<JsonObject>(messages, (part) => {
    const written = part.kind === 'text' ? ok({ text: part.text }) : mediaPart(part);
    return withMetadata(written, part, options);
  });
  if (!wire.ok) return wire;
  const { system, turns } = wire.value;
  const contents = turns.map(({ role, parts: own }) => ({ role: role === 'assistant' ? 'model' : role, parts: own }));
  return ok({ ...(system === undefined ? {} : { system_instruction: { parts: system } }), contents });
}

function mediaPart({ source, media }: MediaPart): Result<JsonObject, string> {
  if (source.kind === 'url') {
    const type = source.mediaType === undefined ? {} : { mime_type: source.mediaType };
    return ok({ file_data: { file_uri: source.url, ...type } });
  }
  const inline = inlineData(source, media === 'pdf' ? 'application/pdf' : undefined);
  if (!inline.ok) return inline;
  return ok({ inline_data: { mime_type: inline.value.mediaType, data: inline.value.data } });
}

/** Gemini's generateContent: https://ai.google.dev/api/generate-content; Vertex AI replies in the same format. */
export const googleFormat: ReplyFormat = {
  readReply(reply) {
    if (isJsonObject(reply['error'])) return err(reportedError(reply['error']));
    const blocked = blockedReason(reply);
    if (blocked !== undefined) return err(malformed(blocked));
    const candidates = listAt(reply, 'candidates');
    if (candidates === undefined) return err(malformed('answered without "candidates"'));
    if (candidates.length !== 1) return err(malformed(`answered ${candidates.length} candidates instead of one`));
    const [candidate] = candidates;
    const tokenDetails = tokensOf(objectAt(reply, 'usageMetadata'));
    return ok({ text: textOfCandidate(candidate), ...knownDetails({ ...detailsOf(reply), tokenDetails }) });
  },
  reasoningIn: (reply) => [thoughtsOfCandidate(listAt(reply, 'candidates')?.[0])],
  openStream: (wantsReasoning) => new CandidateStream(wantsReasoning),
};

function blockedReason(reply: WireObject): string | undefined {
  const reason = stringAt(reply['promptFeedback'], 'blockReason');
  return reason === undefined ? undefined : `refused the prompt: ${reason}`;
}

/** Parts marked as thoughts are not part of the answer. */
function textOfCandidate(candidate: unknown): string {
  return textOfParts(candidate, false);
}

function thoughtsOfCandidate(candidate: unknown): string {
  return textOfParts(candidate, true);
}

function textOfParts(candidate: unknown, thoughts: boolean): string {
  const parts = listAt(objectAt(candidate, 'content'), 'parts') ?? [];
  return parts
    .map((part) =>
      isJsonObject(part) && (part['thought'] === true) === thoughts ? (stringAt(part, 'text') ?? '') : '',
    )
    .join('');
}

function detailsOf(reply: WireObject): PossibleDetails {
  const usage = objectAt(reply, 'usageMetadata');
  return {
    finishReason: stringAt(listAt(reply, 'candidates')?.[0], 'finishReason'),
    responseModel: stringAt(reply, 'modelVersion'),
    inputTokens: countAt(usage, 'promptTokenCount'),
    outputTokens: outputTokens(usage),
  };
}

function tokensOf(usage: WireObject | undefined): TokenDetails | undefined {
  return knownTokens({
    cachedInputTokens: countAt(usage, 'cachedContentTokenCount'),
    reasoningTokens: countAt(usage, 'thoughtsTokenCount'),
    audioInputTokens: audioTokens(listAt(usage, 'promptTokensDetails')),
    audioOutputTokens: audioTokens(listAt(usage, 'candidatesTokensDetails')),
  });
}

/** Gemini lists the tokens of each modality: https://ai.google.dev/api/generate-content#UsageMetadata */
function audioTokens(modalities: readonly unknown[] | undefined): number | undefined {
  return countAt(
    modalities?.find((entry) => stringAt(entry, 'modality') === 'AUDIO'),
    'tokenCount',
  );
}

/** Thoughts are counted apart from the answer, but are output too: they are generated and paid for. */
function outputTokens(usage: WireObject | undefined): number | undefined {
  const answer = countAt(usage, 'candidatesTokenCount');
  const thoughts = countAt(usage, 'thoughtsTokenCount');
  return answer === undefined && thoughts === undefined ? undefined : (answer ?? 0) + (thoughts ?? 0);
}

class CandidateStream extends JsonEventStream {
  /** The last one that counts the prompt: each event repeats and completes the counts, so the others are not read. */
  #usage: WireObject | undefined;

  override get details(): ReplyDetails {
    const tokenDetails = tokensOf(this.#usage);
    return tokenDetails === undefined ? super.details : { ...super.details, tokenDetails };
  }

  protected override take(event: WireObject): string {
    const blocked = blockedReason(event);
    if (event['error'] !== undefined) this.fault = reportedError(event['error']);
    else if (blocked !== undefined) this.fault = malformed(blocked);
    const candidates = listAt(event, 'candidates') ?? [];
    if (!isOnlyOne(candidates)) {
      this.fault = malformed('answered several candidates instead of one');
      return '';
    }
    const details = detailsOf(event);
    this.learnDetails(details);
    if (details.inputTokens !== undefined) this.#usage = objectAt(event, 'usageMetadata');
    return textOfCandidate(candidates[0]);
  }

  protected override reasoningOf(event: WireObject): ReasoningDelta {
    return { text: thoughtsOfCandidate(listAt(event, 'candidates')?.[0]) };
  }

  protected override plainText(event: WireObject): string | undefined {
    const details = detailsOf(event);
    if (details.finishReason !== undefined || event['error'] !== undefined) return undefined;
    // Usage grows with each event, so every event that contains it has to be read.
    if (details.inputTokens !== undefined || details.outputTokens !== undefined) return undefined;
    const candidates = listAt(event, 'candidates') ?? [];
    return isOnlyOne(candidates) ? textOfCandidate(candidates[0]) : undefined;
  }
}
