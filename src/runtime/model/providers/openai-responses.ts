import type { ResponseCreateParams } from 'openai/resources/responses/responses';
import { invariant } from '../../../base/invariant.ts';
import { err, ok } from '../../../base/result.ts';
import type { WireProtocol } from '../http-model-client.ts';
import { openAiResponsesFormat } from '../wire/openai-formats.ts';
import { openAiResponsesInput } from './openai-messages.ts';
import { openAiPackage } from './openai-package.ts';
import { replyFormat, requestHeaders, requestPath, type ClientSetup, type HttpProvider } from './provider.ts';
import { withStructure } from './structured-members.ts';

export const openAiResponses: HttpProvider = {
  load: () => openAiPackage.loadResponses(),
  connect: (client) => ({ protocol: (apiKey) => protocol(client, apiKey) }),
};

function protocol({ url, options }: ClientSetup, apiKey: string | undefined): WireProtocol {
  const headers = requestHeaders(options, { authorization: apiKey === undefined ? undefined : `Bearer ${apiKey}` });
  const members = Object.fromEntries(options.body);
  let path: string | undefined;
  return {
    format: replyFormat(options, openAiResponsesFormat),
    call(messages, streamed, output) {
      const input = openAiResponsesInput(messages, options);
      if (!input.ok) return err(input.failure);
      const all = withStructure(members, options, output);
      const params = Object.assign({}, all, { input: input.value }, streamed ? { stream: true } : {});
      const built = openAiPackage.response(params as unknown as ResponseCreateParams);
      invariant(built !== undefined, 'the openai package posted nothing');
      path ??= requestPath(url, built.path, options);
      return ok({ path, headers, body: JSON.stringify(built.body) });
    },
  };
}
