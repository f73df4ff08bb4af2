import type { ClientOptions } from '../options/client-options.ts';
import type { OptionReader } from '../options/option-reader.ts';
import { chatConnection, loadChatCompletions } from './openai-chat-protocol.ts';
import { urlOf } from './provider.ts';
import type { Connection, HttpProvider } from './provider.ts';

/** Any server that follows OpenAI's chat completions. Needs a `base_url`; a key only if the server wants one. */
export const openAiGeneric: HttpProvider = {
  roles: ['system', 'user', 'assistant'],
  defaultRole: 'system',
  load: loadChatCompletions,
  connect,
};

function connect(options: ClientOptions, reader: OptionReader): Connection {
  const dialect = { plainText: true, streamMembers: {}, endsWithBody: true };
  return chatConnection(urlOf(openAiGeneric, options, reader), options, dialect);
}
