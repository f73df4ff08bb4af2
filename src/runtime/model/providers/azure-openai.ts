import type { JsonValue } from '../../../base/json.ts';
import type { ClientOptions } from '../options/client-options.ts';
import type { OptionReader } from '../options/option-reader.ts';
import { CHAT_MEDIA, OpenAiChatProtocol, loadChatCompletions } from './openai-chat-protocol.ts';
import { bodyModel } from './provider.ts';
import type { Connection, HttpProvider } from './provider.ts';

/** What a reply may cost when the client names no limit of its own; `max_tokens null` takes the member away. */
const DEFAULT_MAX_TOKENS = 4096;

/** Part of a host name: anything else could lead the key to another host. */
const DNS_LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/iu;

/** Azure OpenAI: https://learn.microsoft.com/azure/ai-services/openai/reference */
export const azureOpenAi: HttpProvider = {
  roles: ['system', 'user', 'assistant'],
  defaultRole: 'system',
  keyVariable: 'AZURE_OPENAI_API_KEY',
  load: loadChatCompletions,
  connect,
};

function connect(options: ClientOptions, reader: OptionReader): Connection {
  const url = readUrl(options, reader);
  const apiVersion = reader.string('api_version');
  const queryParams = new Map(options.queryParams);
  if (apiVersion !== undefined) queryParams.set('api-version', apiVersion);
  const own: ClientOptions = { ...options, queryParams, body: withMaxTokens(reader.rest()) };
  return {
    url,
    ...bodyModel(own),
    ...CHAT_MEDIA,
    protocol: (apiKey) =>
      new OpenAiChatProtocol({
        url,
        options: own,
        headers: { 'api-key': apiKey },
        plainText: false,
        streamMembers: {},
      }),
  };
}

function readUrl(options: ClientOptions, reader: OptionReader): string {
  const resource = reader.string('resource_name');
  const deployment = reader.string('deployment_id');
  if (options.baseUrl !== undefined) return options.baseUrl;
  if (resource === undefined || deployment === undefined) {
    reader.fault('base_url', 'is required, or "resource_name" and "deployment_id" in its place');
    return 'http://invalid.invalid';
  }
  if (!DNS_LABEL.test(resource)) reader.fault('resource_name', 'has to be the name of an Azure resource');
  return `https://${resource}.openai.azure.com/openai/deployments/${encodeURIComponent(deployment)}`;
}

function withMaxTokens(body: ReadonlyMap<string, JsonValue>): ReadonlyMap<string, JsonValue> {
  const members = new Map(body);
  if (members.get('max_tokens') === null) members.delete('max_tokens');
  else if (!members.has('max_tokens') && !members.has('max_completion_tokens')) {
    members.set('max_tokens', DEFAULT_MAX_TOKENS);
  }
  return members;
}
