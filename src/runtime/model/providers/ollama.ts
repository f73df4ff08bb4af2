import type { ClientOptions } from '../options/client-options.ts';
import type { OptionReader } from '../options/option-reader.ts';
import { chatConnection, loadChatCompletions } from './openai-chat-protocol.ts';
import { urlOf } from './provider.ts';
import type { Connection, HttpProvider } from './provider.ts';

/** Ollama's OpenAI-compatible API: https://github.com/ollama/ollama/blob/main/docs/openai.md */
export const ollama: HttpProvider = {
  roles: ['system', 'user', 'assistant'],
  defaultRole: 'user',
  defaultUrl: 'http://localhost:11434/v1',
  load: loadChatCompletions,
  connect,
};

function connect(options: ClientOptions, reader: OptionReader): Connection {
  return chatConnection(urlOf(ollama, options, reader), options, { plainText: false, streamMembers: {} });
}
