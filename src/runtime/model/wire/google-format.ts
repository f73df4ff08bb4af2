import { countAt, isJsonObject, listAt, objectAt, stringAt } from '../../../base/json.ts';
import { err, ok } from '../../../base/result.ts';
import { JsonEventStream } from './json-event-stream.ts';
import type { ReasoningDelta } from './json-event-stream.ts';
import { isOnlyOne, knownDetails, knownTokens, malformed, reportedError } from './reply-format.ts';
import type { PossibleDetails, ReplyDetails, ReplyFormat, TokenDetails, WireObject } from './reply-format.ts';

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
