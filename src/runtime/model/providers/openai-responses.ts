import type { ResponseCreateParams } from 'openai/resources/responses/responses';
import { invariant } from '../../../base/invariant.ts';
import { err, ok } from '../../../base/result.ts';
import { openAiResponsesFormat } from '../wire/openai-responses-format.ts';
import type { WireProtocol } from '../http-model-client.ts';
import type { ClientOptions } from '../options/client-options.ts';
import type { OptionReader } from '../options/option-reader.ts';
import { openAiRequests } from './openai-request-builder.ts';
import { openAiResponsesInput } from './openai-responses-input.ts';
import { bodyModel, urlOf } from './provider.ts';
import type { Connection, HttpProvider } from './provider.ts';
import { replyFormat } from './reply-formats.ts';
import { requestHeaders, requestPath } from './request-head.ts';

/** OpenAI's responses: https://platform.openai.com/docs/api-reference/responses/create */
export const openAiResponses: HttpProvider = {
  roles: ['system', 'user', 'assistant'],
  defaultRole: 'system',
  keyVariable: 'OPENAI_API_KEY',
  defaultUrl: 'https://api.openai.com/v1',
  load: () => openAiRequests.loadResponses(),
  connect,
};

function connect(options: ClientOptions, reader: OptionReader): Connection {
  const url = urlOf(openAiResponses, options, reader);
  return {
    url,
    ...bodyModel(options),
    mediaUrls: { audio: 'send_base64' },
    protocol: (apiKey) => protocol(url, options, apiKey),
  };
}

function protocol(url: string, options: ClientOptions, apiKey: string | undefined): WireProtocol {
  const headers = requestHeaders(options, { authorization: apiKey === undefined ? undefined : `Bearer ${apiKey}` });
  const members = Object.fromEntries(options.body);
  let path: string | undefined;
  return {
    format: replyFormat(options, openAiResponsesFormat),
    call(messages, streamed) {
      const input = openAiResponsesInput(messages, options);
      if (!input.ok) return err(input.failure);
      const params = { ...members, input: input.value, ...(streamed ? { stream: true } : {}) };
      const built = openAiRequests.response(params as unknown as ResponseCreateParams);
      invariant(built !== undefined, 'the openai package posted nothing');
      path ??= requestPath(url, built.path, options);
      return ok({ path, headers, body: JSON.stringify(built.body) });
    },
  };
}
