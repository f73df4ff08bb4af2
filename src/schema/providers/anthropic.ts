import { BODY_MODEL, COMMON_OPTIONS, COMMON_RULES, ROLES } from './common-options.ts';
import type { OptionTable } from './option-shapes.ts';
import type { ProviderDescription } from './provider-description.ts';
import { FORCED_TOOL } from './structured-output.ts';

const DEFAULT_URL = 'https://api.anthropic.com';

const OPTIONS = {
  model: BODY_MODEL,
  ...COMMON_OPTIONS,
  headers: {
    ...COMMON_OPTIONS.headers,
    text: '`anthropic-version` (2023-06-01 unless the client gives it), `anthropic-beta`',
  },
  max_tokens: {
    shape: { kind: 'json' },
    inBody: true,
    default: 4096,
    text: 'the limit of a reply, which the API requires',
  },
} as const satisfies OptionTable;

/** Anthropic: https://docs.anthropic.com/en/api/messages */
export const ANTHROPIC = {
  legacyName: 'baml-anthropic-chat',
  options: OPTIONS,
  rules: COMMON_RULES,
  otherOptions: 'body',
  expectsModel: true,
  http: {
    roles: ROLES,
    defaultRole: 'user',
    keyVariable: 'ANTHROPIC_API_KEY',
    defaultUrl: DEFAULT_URL,
    mediaUrls: { pdf: 'send_base64' },
    structured: () => FORCED_TOOL,
    url: ({ base_url: baseUrl }) => baseUrl ?? DEFAULT_URL,
  },
  docs: { model: '`model` in the body' },
} as const satisfies ProviderDescription<typeof OPTIONS>;
