import { openAiChatFormat } from '../formats/openai-chat-format.ts';
import type { ReplyFormat } from '../formats/reply-format.ts';
import type { ClientOptions } from '../options/client-options.ts';

/** How replies are read: as `client_response_type` says, or as the provider writes them. */
export function replyFormat(options: ClientOptions, own: ReplyFormat): ReplyFormat {
  switch (options.responseType) {
    case undefined:
      return own;
    default:
      return openAiChatFormat;
  }
}
