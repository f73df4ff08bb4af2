import { pathSegment } from '../../base/percent-encoding.ts';
import { addressRequired, BODY_MODEL, COMMON_OPTIONS, COMMON_RULES, PATH_TEXT, ROLES, TEXT } from './common-options.ts';
import type { OptionTable, OptionValues } from './option-shapes.ts';
import type { HttpFacts, ProviderDescription } from './provider-description.ts';
import {
  OLLAMA_FORMAT,
  RESPONSE_FORMAT,
  RESPONSE_FORMAT_OF_AZURE,
  RESPONSE_FORMAT_OF_UNKNOWN_SERVER,
  TEXT_FORMAT,
  type StructuredForm,
} from './structured-output.ts';

const OPENAI_OPTIONS = { model: BODY_MODEL, ...COMMON_OPTIONS } as const satisfies OptionTable;

type OpenAiOptions = typeof OPENAI_OPTIONS;

const OPENAI_URL = 'https://api.openai.com/v1';

/** Chat completions take audio only inline, and so does the responses API. */
const MEDIA_URLS = { audio: 'send_base64' } as const;

const MODEL_IN_BODY = { model: '`model` in the body' };

function openAiFacts(
  facts: Pick<HttpFacts, 'defaultUrl' | 'keyVariable'> & {
    readonly defaultRole?: string;
    readonly form: StructuredForm;
  },
): HttpFacts<OpenAiOptions> {
  const { form, ...others } = facts;
  return {
    ...others,
    structured: () => form,
    roles: ROLES,
    mediaUrls: MEDIA_URLS,
    // A provider without an address of its own requires `base_url`.
    url: ({ base_url: baseUrl }) => baseUrl ?? facts.defaultUrl ?? '',
  };
}

/** The parts that most of these descriptions share. */
const COMPATIBLE = {
  options: OPENAI_OPTIONS,
  rules: COMMON_RULES,
  otherOptions: 'body',
  expectsModel: true,
  docs: MODEL_IN_BODY,
} as const;

const CHAT_OPTIONS = {
  ...OPENAI_OPTIONS,
  model: { ...BODY_MODEL, text: '`o1` and `o1-…` accept neither system messages nor streams, so svc sends neither' },
  stream_options: {
    shape: { kind: 'json' },
    inBody: true,
    default: { include_usage: true },
    text: 'sent unchanged; without it, svc asks for the usage of streams (`include_usage`)',
  },
} as const satisfies OptionTable;

/** OpenAI's chat completions: https://platform.openai.com/docs/api-reference/chat/create */
export const OPENAI = {
  ...COMPATIBLE,
  legacyName: 'baml-openai-chat',
  options: CHAT_OPTIONS,
  http: openAiFacts({ defaultUrl: OPENAI_URL, keyVariable: 'OPENAI_API_KEY', form: RESPONSE_FORMAT }),
} as const satisfies ProviderDescription<typeof CHAT_OPTIONS>;

/** OpenAI's responses: https://platform.openai.com/docs/api-reference/responses/create */
export const OPENAI_RESPONSES = {
  ...COMPATIBLE,
  http: openAiFacts({ defaultUrl: OPENAI_URL, keyVariable: 'OPENAI_API_KEY', form: TEXT_FORMAT }),
} as const satisfies ProviderDescription<OpenAiOptions>;

const GENERIC_OPTIONS = {
  ...OPENAI_OPTIONS,
  stream_usage: {
    shape: { kind: 'one-of', words: ['auto', 'on', 'off'] },
    default: 'auto',
    text: 'whether svc asks for the usage of streams (`stream_options.include_usage`): `auto` asks services that are known to accept it',
  },
} as const satisfies OptionTable;

/** Services whose documentation has `stream_options`. Another server can refuse a member that it does not know. */
export const KNOWS_STREAM_USAGE =
  /^https:\/\/(?:api\.(?:groq\.com|deepseek\.com|together\.xyz|fireworks\.ai|x\.ai|cerebras\.ai)|dashscope(?:-\w+)?\.aliyuncs\.com)\//u;

/** Any server that follows OpenAI's chat completions. */
export const OPENAI_GENERIC = {
  ...COMPATIBLE,
  options: GENERIC_OPTIONS,
  rules: [...COMMON_RULES, addressRequired('is required for this provider', ['base_url'])],
  http: openAiFacts({ form: RESPONSE_FORMAT_OF_UNKNOWN_SERVER }),
  docs: { ...MODEL_IN_BODY, address: '`base_url`, required', key: 'none needed' },
} as const satisfies ProviderDescription<typeof GENERIC_OPTIONS>;

/** Ollama's OpenAI-compatible API: https://github.com/ollama/ollama/blob/main/docs/openai.md */
export const OLLAMA = {
  ...COMPATIBLE,
  legacyName: 'baml-ollama-chat',
  http: openAiFacts({ defaultUrl: 'http://localhost:11434/v1', defaultRole: 'user', form: OLLAMA_FORMAT }),
  docs: { ...MODEL_IN_BODY, key: 'none needed' },
} as const satisfies ProviderDescription<OpenAiOptions>;

/** OpenRouter: https://openrouter.ai/docs/api-reference/overview */
export const OPENROUTER = {
  ...COMPATIBLE,
  http: openAiFacts({
    defaultUrl: 'https://openrouter.ai/api/v1',
    keyVariable: 'OPENROUTER_API_KEY',
    form: RESPONSE_FORMAT_OF_UNKNOWN_SERVER,
  }),
} as const satisfies ProviderDescription<OpenAiOptions>;

/** Part of a host name: anything else could lead the key to another host. */
const RESOURCE_NAME = {
  kind: 'text',
  pattern: /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/iu,
  expected: 'the name of an Azure resource',
} as const;

const AZURE_OPTIONS = {
  ...OPENAI_OPTIONS,
  resource_name: {
    shape: RESOURCE_NAME,
    decidesUrl: true,
    text: 'with `deployment_id`, the address: `https://{resource_name}.openai.azure.com/openai/deployments/{deployment_id}`',
  },
  deployment_id: { shape: PATH_TEXT, decidesTarget: true, text: 'the name of the deployment' },
  api_version: { shape: TEXT, text: 'the query parameter `api-version`' },
  max_tokens: {
    shape: { kind: 'json' },
    inBody: true,
    default: 4096,
    text: 'not added to a client with `max_completion_tokens`; `null` omits it',
  },
} as const satisfies OptionTable;

/** Azure OpenAI: https://learn.microsoft.com/azure/ai-services/openai/reference */
export const AZURE_OPENAI = {
  legacyName: 'baml-azure-chat',
  options: AZURE_OPTIONS,
  rules: [
    ...COMMON_RULES,
    addressRequired(
      'is required, or "resource_name" and "deployment_id" in its place',
      ['base_url'],
      ['resource_name', 'deployment_id'],
    ),
  ],
  otherOptions: 'body',
  http: {
    roles: ROLES,
    keyVariable: 'AZURE_OPENAI_API_KEY',
    mediaUrls: MEDIA_URLS,
    structured: () => RESPONSE_FORMAT_OF_AZURE,
    url: azureUrl,
  },
  docs: { address: '`resource_name` and `deployment_id`, or `base_url`', model: "the deployment's" },
} as const satisfies ProviderDescription<typeof AZURE_OPTIONS>;

function azureUrl(values: OptionValues<typeof AZURE_OPTIONS>): string {
  const { base_url: baseUrl, resource_name: resource = '', deployment_id: deployment = '' } = values;
  return baseUrl ?? `https://${resource}.openai.azure.com/openai/deployments/${pathSegment(deployment)}`;
}
