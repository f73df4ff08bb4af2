import type { ObservedMessage } from '../base/call-observer.ts';
import { redactedHead } from '../logging/redactor.ts';

/**
 * The attributes of spans and metrics that the semantic conventions of OpenTelemetry define. The package of the conventions has
 * the same names, but loading it takes each worker 3.5 MB.
 */
export const CONVENTIONS = {
  requestMethod: 'http.request.method',
  responseStatus: 'http.response.status_code',
  route: 'http.route',
  urlPath: 'url.path',
  urlScheme: 'url.scheme',
  serverAddress: 'server.address',
  serverPort: 'server.port',
  errorType: 'error.type',
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  requestStream: 'gen_ai.request.stream',
  requestMaxTokens: 'gen_ai.request.max_tokens',
  requestTemperature: 'gen_ai.request.temperature',
  requestTopP: 'gen_ai.request.top_p',
  responseModel: 'gen_ai.response.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  firstChunk: 'gen_ai.response.time_to_first_chunk',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
  cacheWrittenTokens: 'gen_ai.usage.cache_creation.input_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  tokenType: 'gen_ai.token.type',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
} as const;

/** The attributes that svc defines. */
export const OWN = {
  function: 'svc.function',
  client: 'svc.client',
  requestId: 'svc.request_id',
  keyName: 'svc.key_name',
  outcome: 'svc.outcome',
  attempt: 'svc.attempt',
  reask: 'svc.reask',
  flags: 'svc.parse.flags',
  repaired: 'svc.parse.repaired',
  lossy: 'svc.parse.lossy',
  dropped: 'svc.parse.dropped',
  defaulted: 'svc.parse.defaulted',
  truncated: 'svc.parse.truncated',
  thread: 'svc.parse.thread',
  arguments: 'svc.arguments',
} as const;

/** The event of a stream whose first text arrived. */
export const FIRST_TOKEN = 'svc.first_token';
/** The event of a call that passed over a client, because it cools down. */
export const PASSED_OVER = 'svc.client_passed_over';
/** The event of a reply that waited for a thread. */
export const THREAD_TAKEN = 'svc.thread_taken';

/** The names of the spans inside svc. */
export const SPANS = {
  queue: 'svc.queue',
  render: 'svc.render',
  parse: 'svc.parse',
  thread: 'svc.parse.thread',
} as const;

/** Masks credentials. */
export type Redact = (text: string) => string;

/** The maximum length of text in one attribute: enough for most prompts, and few enough for most receivers. */
const MAX_CHARACTERS = 64 * 1024;

/** Returns messages as JSON text in the form of the conventions, without media and credentials. */
export function inputMessages(messages: readonly ObservedMessage[], redact: Redact): string {
  let left = MAX_CHARACTERS;
  const shown = messages.map(({ role, parts }) => ({
    role,
    parts: parts.map(({ kind, text = '', media = kind }) => {
      if (kind !== 'text') return { type: 'media', modality: media };
      const content = shortened(text, left, redact);
      left = Math.max(0, left - content.length);
      return { type: 'text', content };
    }),
  }));
  return JSON.stringify(shown);
}

/** Returns a reply as JSON text in the form of the conventions. */
export function outputMessages(text: string, finishReason: string | undefined, redact: Redact): string {
  const content = shortened(text, MAX_CHARACTERS, redact);
  return JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content }], finish_reason: finishReason }]);
}

/** Returns the arguments of a call as JSON text, cut if they are long. */
export function argumentsText(args: Readonly<Record<string, unknown>>, redact: Redact): string {
  return shortened(JSON.stringify(args), MAX_CHARACTERS, redact);
}

/** Masks credentials before the cut. */
function shortened(text: string, limit: number, redact: Redact): string {
  const { head, isCut } = redactedHead(text, limit, redact);
  return isCut ? `${head}…` : head;
}
