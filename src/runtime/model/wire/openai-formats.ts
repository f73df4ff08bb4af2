import type { ChatCompletion, ChatCompletionChunk, ChatCompletionMessage } from 'openai/resources/chat/completions';
import { countAt, isJsonObject, listAt, objectAt, stringAt } from '../../../base/json.ts';
import { err, ok } from '../../../base/result.ts';
import { JsonEventStream } from './json-event-stream.ts';
import type { ReasoningDelta } from './json-event-stream.ts';
import { isOnlyOne, knownDetails, knownTokens, malformed, reportedError } from './reply-format.ts';
import type { PossibleDetails, ReplyFormat, TokenDetails, WireObject } from './reply-format.ts';

/** Member names, checked against the types of the openai package; the values are checked when they are read. */
const CHOICES = 'choices' satisfies keyof ChatCompletion & keyof ChatCompletionChunk;
const USAGE = 'usage' satisfies keyof ChatCompletion & keyof ChatCompletionChunk;
const FINISH_REASON = 'finish_reason' satisfies keyof ChatCompletionChunk.Choice;
const DELTA = 'delta' satisfies keyof ChatCompletionChunk.Choice;
const REFUSAL = 'refusal' satisfies keyof ChatCompletionChunk.Choice.Delta & keyof ChatCompletionMessage;
const MESSAGE = 'message' satisfies keyof ChatCompletion.Choice;

/** Chat completions (https://platform.openai.com/docs/api-reference/chat) of OpenAI and of the services that follow it. */
export const openAiChatFormat: ReplyFormat = {
  readReply(reply) {
    if (isJsonObject(reply['error'])) return err(reportedError(reply['error']));
    const choices = listAt(reply, CHOICES);
    if (choices === undefined) return err(malformed('answered without "choices"'));
    if (choices.length !== 1) return err(malformed(`answered ${choices.length} choices instead of one`));
    // OpenRouter reports a model that failed midway in its choice.
    const failed = objectAt(choices[0], 'error');
    if (failed !== undefined) return err(reportedError(failed));
    const message = objectAt(choices[0], MESSAGE);
    if (message === undefined) return err(malformed('answered a choice without "message"'));
    const details = chatDetails(reply, choices[0], message);
    return ok({ text: contentText(message['content']), ...knownDetails(details) });
  },
  reasoningIn: (reply) => [reasoningOfMessage(objectAt(listAt(reply, CHOICES)?.[0], MESSAGE)) ?? ''],
  openStream: (wantsReasoning) => new ChatStream(wantsReasoning),
};

/** Content is a string, null (a refusal or a tool call: an empty reply), or with some servers a list of parts. */
function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => stringAt(part, 'text') ?? '').join('');
}

/**
 * The reasoning in a message, or in a delta of one. DeepSeek and most services that follow it write `reasoning_content`.
 * OpenRouter, Ollama and recent versions of vLLM write `reasoning`. Some write both, with the same text or with one of them empty.
 * Mistral writes parts of the content: https://docs.mistral.ai/capabilities/reasoning
 */
function reasoningOfMessage(message: WireObject | undefined): string | undefined {
  const known = ['reasoning_content', 'reasoning'].map((key) => stringAt(message, key));
  return known.find((text) => text !== undefined && text !== '') ?? thinkingOf(message);
}

function thinkingOf(message: WireObject | undefined): string | undefined {
  return listAt(message, 'content')
    ?.flatMap((part) => listAt(part, 'thinking') ?? [])
    .map((part) => stringAt(part, 'text') ?? '')
    .join('');
}

/** A refusal replaces the content. In other messages it is null, or empty with some servers. */
function refusalIn(message: unknown): string | undefined {
  const refusal = stringAt(message, REFUSAL);
  return refusal === '' ? undefined : refusal;
}

/** `message`: the message of the choice, or a delta of it. */
function chatDetails(reply: unknown, choice: unknown, message: WireObject | undefined): PossibleDetails {
  const usage = objectAt(reply, USAGE);
  return {
    finishReason: stringAt(choice, FINISH_REASON),
    refusal: refusalIn(message),
    responseModel: stringAt(reply, 'model'),
    inputTokens: countAt(usage, 'prompt_tokens'),
    outputTokens: countAt(usage, 'completion_tokens'),
    tokenDetails: usage === undefined ? undefined : chatTokens(usage),
  };
}

/** OpenRouter adds `cache_write_tokens`; DeepSeek reports its cache as `prompt_cache_hit_tokens`. */
function chatTokens(usage: WireObject): TokenDetails | undefined {
  const prompt = objectAt(usage, 'prompt_tokens_details');
  const completion = objectAt(usage, 'completion_tokens_details');
  const cacheHits = countAt(usage, 'prompt_cache_hit_tokens');
  if (prompt === undefined && completion === undefined && cacheHits === undefined) return undefined;
  return knownTokens({
    cachedInputTokens: countAt(prompt, 'cached_tokens') ?? cacheHits,
    cacheWrittenInputTokens: countAt(prompt, 'cache_write_tokens'),
    reasoningTokens: countAt(completion, 'reasoning_tokens'),
    audioInputTokens: countAt(prompt, 'audio_tokens'),
    audioOutputTokens: countAt(completion, 'audio_tokens'),
  });
}

class ChatStream extends JsonEventStream {
  protected override take(chunk: WireObject): string {
    if (chunk['error'] !== undefined && chunk['error'] !== null) {
      this.fault = reportedError(chunk['error']);
      return '';
    }
    const choices = listAt(chunk, CHOICES) ?? [];
    if (!isOnlyOne(choices)) {
      this.fault = malformed('answered several choices instead of one');
      return '';
    }
    const delta = objectAt(choices[0], DELTA);
    this.learnDetails(chatDetails(chunk, choices[0], delta));
    return contentText(delta?.['content']);
  }

  protected override reasoningOf(chunk: WireObject): ReasoningDelta {
    return { text: reasoningOfMessage(objectAt(listAt(chunk, CHOICES)?.[0], DELTA)) };
  }

  /** The chunk contains no finish reason, no usage, and one choice. */
  protected override plainText(chunk: WireObject): string | undefined {
    const choices = listAt(chunk, CHOICES);
    if (choices?.length !== 1 || !isOnlyOne(choices)) return undefined;
    if (stringAt(choices[0], FINISH_REASON) !== undefined) return undefined;
    if (objectAt(chunk, USAGE) !== undefined || objectAt(chunk, 'error') !== undefined) return undefined;
    const delta = objectAt(choices[0], DELTA);
    return refusalIn(delta) === undefined ? stringAt(delta, 'content') : undefined;
  }
}

/** OpenAI's responses: https://platform.openai.com/docs/api-reference/responses and /responses-streaming */
export const openAiResponsesFormat: ReplyFormat = {
  readReply(reply) {
    if (isJsonObject(reply['error'])) return err(reportedError(reply['error']));
    if (listAt(reply, 'output') === undefined) return err(malformed('answered without "output"'));
    const details = responseDetails(reply, refusalText(reply));
    return ok({ text: outputText(reply), ...knownDetails(details) });
  },
  reasoningIn: reasoningOfOutput,
  openStream: (wantsReasoning) => new ResponseStream(wantsReasoning),
};

/** The text parts of all messages; reasoning and tool calls are not part of the answer. */
function outputText(response: unknown): string {
  return partsOfMessages(response)
    .map((part) => (stringAt(part, 'type') === 'output_text' ? (stringAt(part, 'text') ?? '') : ''))
    .join('');
}

function refusalText(response: unknown): string | undefined {
  const refusals = partsOfMessages(response).filter((part) => stringAt(part, 'type') === 'refusal');
  return refusals.length === 0 ? undefined : refusals.map((part) => stringAt(part, 'refusal') ?? '').join('');
}

function partsOfMessages(response: unknown): readonly unknown[] {
  const messages = (listAt(response, 'output') ?? []).filter((item) => stringAt(item, 'type') === 'message');
  return messages.flatMap((message) => listAt(message, 'content') ?? []);
}

/** The texts of all reasoning items. Open models have them in `content`, OpenAI's models in `summary`. */
function reasoningOfOutput(response: unknown): readonly string[] {
  const items = (listAt(response, 'output') ?? []).filter((item) => stringAt(item, 'type') === 'reasoning');
  const parts = items.flatMap((item) => [...(listAt(item, 'content') ?? []), ...(listAt(item, 'summary') ?? [])]);
  return parts.map((part) => stringAt(part, 'text') ?? '');
}

/** An incomplete response states its reason apart from its status. */
function responseDetails(response: unknown, refusal?: string): PossibleDetails {
  const usage = objectAt(response, 'usage');
  return {
    finishReason: stringAt(objectAt(response, 'incomplete_details'), 'reason') ?? stringAt(response, 'status'),
    refusal,
    responseModel: stringAt(response, 'model'),
    inputTokens: countAt(usage, 'input_tokens'),
    outputTokens: countAt(usage, 'output_tokens'),
    tokenDetails: knownTokens({
      cachedInputTokens: countAt(objectAt(usage, 'input_tokens_details'), 'cached_tokens'),
      reasoningTokens: countAt(objectAt(usage, 'output_tokens_details'), 'reasoning_tokens'),
    }),
  };
}

class ResponseStream extends JsonEventStream {
  protected override take(event: WireObject): string {
    switch (event['type']) {
      case 'response.output_text.delta':
        return stringAt(event, 'delta') ?? '';
      case 'response.refusal.delta':
        this.learnDetails({ refusal: stringAt(event, 'delta') });
        return '';
      case 'response.completed':
      case 'response.incomplete':
        this.learnDetails(responseDetails(event['response']));
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

  protected override reasoningOf(event: WireObject): ReasoningDelta | undefined {
    const { type } = event;
    if (type !== 'response.reasoning_summary_text.delta' && type !== 'response.reasoning_text.delta') return undefined;
    const index = countAt(event, 'summary_index') ?? countAt(event, 'content_index');
    return { text: stringAt(event, 'delta'), part: `${countAt(event, 'output_index')} ${type} ${index}` };
  }

  protected override plainText(event: WireObject): string | undefined {
    return event['type'] === 'response.output_text.delta' ? stringAt(event, 'delta') : undefined;
  }
}

/** OpenAI's transcriptions: https://platform.openai.com/docs/api-reference/audio/createTranscription */
export const transcriptionFormat: ReplyFormat = {
  readReply(reply) {
    const error = objectAt(reply, 'error');
    if (error !== undefined) return err(reportedError(error));
    const text = stringAt(reply, 'text');
    return text === undefined ? err(malformed('answered without "text"')) : ok({ text });
  },
  reasoningIn: () => [],
  openStream: () => new TranscriptStream(false),
};

class TranscriptStream extends JsonEventStream {
  protected override take(event: WireObject): string {
    if (event['type'] === 'transcript.text.done') this.done = true;
    if (event['type'] === 'error') this.fault = reportedError(objectAt(event, 'error') ?? event);
    return event['type'] === 'transcript.text.delta' ? (stringAt(event, 'delta') ?? '') : '';
  }

  /** Transcriptions have none. */
  protected override reasoningOf(): undefined {}

  protected override plainText(event: WireObject): string | undefined {
    return event['type'] === 'transcript.text.delta' ? stringAt(event, 'delta') : undefined;
  }
}
