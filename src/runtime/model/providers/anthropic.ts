import type { JsonObject } from '../../../base/json.ts';
import { err, ok } from '../../../base/result.ts';
import { anthropicFormat } from '../wire/anthropic-format.ts';
import type { ReadyProtocol } from '../http-model-client.ts';
import type { ClientOptions } from '../options/client-options.ts';
import type { OptionReader } from '../options/option-reader.ts';
import { anthropicMessages } from './anthropic-messages.ts';
import { bodyModel, urlOf } from './provider.ts';
import type { Connection, HttpProvider } from './provider.ts';
import { replyFormat } from './reply-formats.ts';
import { requestHeaders, requestPath } from './request-head.ts';

/** The API asks for a limit; this one is for clients that name none. */
const DEFAULT_MAX_TOKENS = 4096;

const API_VERSION = '2023-06-01';

/** Anthropic: https://docs.anthropic.com/en/api/messages */
export const anthropic: HttpProvider = {
  roles: ['system', 'user', 'assistant'],
  defaultRole: 'user',
  keyVariable: 'ANTHROPIC_API_KEY',
  defaultUrl: 'https://api.anthropic.com',
  connect,
};

function connect(options: ClientOptions, reader: OptionReader): Connection {
  const url = urlOf(anthropic, options, reader);
  return {
    url,
    ...bodyModel(options),
    mediaUrls: { pdf: 'send_base64' },
    protocol: (apiKey) => {
      const path = requestPath(url, '/v1/messages', options);
      const headers = requestHeaders(options, { 'anthropic-version': API_VERSION, 'x-api-key': apiKey });
      return anthropicProtocol({ paths: { whole: path, streamed: path }, options, headers, members: {} });
    },
  };
}

/** The messages API at these paths: shared by Anthropic and Vertex AI, which has members of its own in the body. */
export function anthropicProtocol(parts: {
  readonly paths: { readonly whole: string; readonly streamed: string };
  readonly options: ClientOptions;
  readonly headers: readonly string[];
  readonly members: JsonObject;
}): ReadyProtocol {
  const { paths, options, headers } = parts;
  const limit = options.body.has('max_tokens') ? {} : { max_tokens: DEFAULT_MAX_TOKENS };
  const members = { ...parts.members, ...Object.fromEntries(options.body), ...limit };
  return {
    format: replyFormat(options, anthropicFormat),
    call(messages, streamed) {
      const wire = anthropicMessages(messages, options);
      if (!wire.ok) return err(wire.failure);
      const body = JSON.stringify({ ...members, ...wire.value, ...(streamed ? { stream: true } : {}) });
      return ok({ path: streamed ? paths.streamed : paths.whole, headers, body });
    },
  };
}
