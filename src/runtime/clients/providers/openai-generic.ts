import type { ClientOptions } from '../options/client-options.ts';
import type { OptionReader } from '../options/option-reader.ts';
import { OpenAiChatProtocol } from './openai-chat-protocol.ts';
import { bodyModel, urlOf } from './provider.ts';
import type { Connection, HttpProvider } from './provider.ts';

/** Any server that follows OpenAI's chat completions. Needs a `base_url`; a key only if the server wants one. */
export const openAiGeneric: HttpProvider = {
  roles: ['system', 'user', 'assistant'],
  defaultRole: 'system',
  connect,
};

function connect(options: ClientOptions, reader: OptionReader): Connection {
  const url = urlOf(openAiGeneric, options, reader);
  return {
    url,
    ...bodyModel(options),
    protocol: (apiKey) =>
      new OpenAiChatProtocol({
        url,
        options,
        headers: { authorization: apiKey === undefined ? undefined : `Bearer ${apiKey}` },
        plainText: true,
        streamMembers: {},
      }),
  };
}
