import type { ClientOptions } from '../options/client-options.ts';
import type { OptionReader } from '../options/option-reader.ts';
import { chatConnection, loadChatCompletions } from './openai-chat-protocol.ts';
import { urlOf } from './provider.ts';
import type { Connection, HttpProvider } from './provider.ts';

/** OpenAI's chat completions: https://platform.openai.com/docs/api-reference/chat/create */
export const openAi: HttpProvider = {
  roles: ['system', 'user', 'assistant'],
  defaultRole: 'system',
  keyVariable: 'OPENAI_API_KEY',
  defaultUrl: 'https://api.openai.com/v1',
  load: loadChatCompletions,
  connect,
};

function connect(options: ClientOptions, reader: OptionReader): Connection {
  const usage = options.body.has('stream_options') ? {} : { stream_options: { include_usage: true } };
  const connection = chatConnection(urlOf(openAi, options, reader), options, {
    plainText: false,
    streamMembers: usage,
  });
  return isFirstReasoningModel(connection.model) ? { ...connection, ...FIRST_REASONING_LIMITS } : connection;
}

/** `o1` and its variants take no system messages and do not stream; the later reasoning models do both. */
function isFirstReasoningModel(model: string | undefined): boolean {
  return model === 'o1' || model?.startsWith('o1-') === true;
}

const FIRST_REASONING_LIMITS = { roles: ['user', 'assistant'], defaultRole: 'user', streams: false } as const;
