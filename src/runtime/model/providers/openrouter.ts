import type { ClientOptions } from '../options/client-options.ts';
import type { OptionReader } from '../options/option-reader.ts';
import { chatConnection, loadChatCompletions } from './openai-chat-protocol.ts';
import { urlOf } from './provider.ts';
import type { Connection, HttpProvider } from './provider.ts';

/** OpenRouter: https://openrouter.ai/docs/api-reference/overview */
export const openRouter: HttpProvider = {
  roles: ['system', 'user', 'assistant'],
  defaultRole: 'system',
  keyVariable: 'OPENROUTER_API_KEY',
  defaultUrl: 'https://openrouter.ai/api/v1',
  load: loadChatCompletions,
  connect,
};

function connect(options: ClientOptions, reader: OptionReader): Connection {
  return chatConnection(urlOf(openRouter, options, reader), options, { plainText: false, streamMembers: {} });
}
