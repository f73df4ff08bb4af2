import type { ClientOptions } from '../options/client-options.ts';
import type { OptionReader } from '../options/option-reader.ts';
import { OpenAiChatProtocol } from './openai-chat-protocol.ts';
import { bodyModel, urlOf } from './provider.ts';
import type { Connection, HttpProvider } from './provider.ts';

/** Ollama's OpenAI-compatible API: https://github.com/ollama/ollama/blob/main/docs/openai.md */
export const ollama: HttpProvider = {
  roles: ['system', 'user', 'assistant'],
  defaultRole: 'user',
  defaultUrl: 'http://localhost:11434/v1',
  connect,
};

function connect(options: ClientOptions, reader: OptionReader): Connection {
  const url = urlOf(ollama, options, reader);
  return {
    url,
    ...bodyModel(options),
    protocol: (apiKey) =>
      new OpenAiChatProtocol({
        url,
        options,
        headers: { authorization: apiKey === undefined ? undefined : `Bearer ${apiKey}` },
        plainText: false,
        streamMembers: {},
      }),
  };
}
