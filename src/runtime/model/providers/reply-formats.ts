import { anthropicFormat } from '../wire/anthropic-format.ts';
import { googleFormat } from '../wire/google-format.ts';
import { openAiChatFormat } from '../wire/openai-chat-format.ts';
import { openAiResponsesFormat } from '../wire/openai-responses-format.ts';
import type { ReplyFormat } from '../wire/reply-format.ts';
import { transcriptionFormat } from '../wire/transcription-format.ts';
import type { ClientOptions, ResponseType } from '../options/client-options.ts';

const FORMATS: Readonly<Record<ResponseType, ReplyFormat>> = {
  openai: openAiChatFormat,
  'openai-responses': openAiResponsesFormat,
  'openai-transcription': transcriptionFormat,
  anthropic: anthropicFormat,
  google: googleFormat,
  vertex: googleFormat,
};

/** How replies are read: as `client_response_type` says, or as the provider writes them. */
export function replyFormat(options: ClientOptions, own: ReplyFormat): ReplyFormat {
  return options.responseType === undefined ? own : FORMATS[options.responseType];
}
