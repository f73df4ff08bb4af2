import {
  addressRequired,
  COMMON_OPTIONS,
  COMMON_RULES,
  modelRequired,
  ROLES,
  TEXT,
  URL_MODEL,
} from './common-options.ts';
import type { OptionTable, OptionValues } from './option-shapes.ts';
import type { ProviderDescription } from './provider-description.ts';
import { FORCED_TOOL, RESPONSE_JSON_SCHEMA } from './structured-output.ts';

const GOOGLE_AI_URL = 'https://generativelanguage.googleapis.com/v1beta';

const GOOGLE_AI_OPTIONS = { model: URL_MODEL, ...COMMON_OPTIONS } as const satisfies OptionTable;

/** The Gemini API: https://ai.google.dev/api/generate-content */
export const GOOGLE_AI = {
  options: GOOGLE_AI_OPTIONS,
  rules: [...COMMON_RULES, modelRequired('google-ai', 'model')],
  otherOptions: 'body',
  settingsOfModel: 'nested',
  http: {
    roles: ROLES,
    defaultRole: 'user',
    keyVariable: 'GOOGLE_API_KEY',
    headersReplaceKey: true,
    defaultUrl: GOOGLE_AI_URL,
    mediaUrls: { image: 'send_base64' },
    structured: () => RESPONSE_JSON_SCHEMA,
    url: ({ base_url: baseUrl }) => baseUrl ?? GOOGLE_AI_URL,
  },
  docs: { model: '`model`, required' },
} as const satisfies ProviderDescription<typeof GOOGLE_AI_OPTIONS>;

/** The project of calls when neither the client nor its credentials name one. */
export const GOOGLE_PROJECT_VARIABLE = 'GOOGLE_CLOUD_PROJECT';

/** Part of the path of a request, whether the client, its credentials or a variable name it. */
export const GOOGLE_PROJECT_ID = /^[a-z0-9][a-z0-9:.-]{0,62}$/u;

/** Variables that decide which account svc uses. */
export const GOOGLE_VARIABLES = {
  /** The path of a file, or its content. */
  credentials: 'GOOGLE_APPLICATION_CREDENTIALS',
  credentialsContent: 'GOOGLE_APPLICATION_CREDENTIALS_CONTENT',
  /** The folder of `gcloud`, where that is not below the home directory. */
  gcloudFolder: 'CLOUDSDK_CONFIG',
  /** The host of the metadata service, where that is not the one of Google's machines. */
  metadataHost: 'GCE_METADATA_HOST',
  /** `none`: svc does not ask Google's machines for their account. */
  detection: 'METADATA_SERVER_DETECTION',
  home: 'HOME',
} as const;

const CREDENTIALS = {
  kind: 'either',
  shapes: [TEXT, { kind: 'object', expected: 'a map' }],
  expected: 'a map, the same as JSON text, or the path of a file',
} as const;

const VERTEX_AI_OPTIONS = {
  model: URL_MODEL,
  ...COMMON_OPTIONS,
  base_url: { ...COMMON_OPTIONS.base_url, text: 'in place of `location`; ends before the model' },
  location: {
    shape: { kind: 'text', pattern: /^[a-z0-9-]{1,40}$/u, expected: 'the name of a Google Cloud location' },
    decidesUrl: true,
    public: true,
    text: 'the address: `https://{location}-aiplatform.googleapis.com`; `global` has no prefix, and the multi-regions `us` and `eu` are at `https://aiplatform.{location}.rep.googleapis.com`',
  },
  project_id: {
    shape: { kind: 'text', pattern: GOOGLE_PROJECT_ID, expected: 'the ID of a project' },
    decidesTarget: true,
    public: true,
    text: 'the project; part of the address',
  },
  credentials: {
    shape: CREDENTIALS,
    secret: true,
    namesAccount: true,
    text: 'the [account](#credentials-of-google-cloud)',
  },
  credentials_content: {
    shape: CREDENTIALS,
    secret: true,
    namesAccount: true,
    text: 'the same as `credentials`, which wins',
  },
  anthropic_version: { shape: TEXT, text: "the model is one of Anthropic's" },
  max_tokens: {
    shape: { kind: 'json' },
    inBody: true,
    default: 4096,
    text: 'with `anthropic_version`: the limit of a reply',
  },
} as const satisfies OptionTable;

/** Vertex AI: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference */
export const VERTEX_AI = {
  options: VERTEX_AI_OPTIONS,
  rules: [
    ...COMMON_RULES,
    modelRequired('vertex-ai', 'model'),
    addressRequired('is required, or "base_url" in its place', ['location'], ['base_url']),
    { kind: 'excludes', options: ['location', 'base_url'] },
  ],
  otherOptions: 'body',
  settingsOfModel: 'nested',
  http: {
    roles: ROLES,
    defaultRole: 'user',
    variables: [GOOGLE_PROJECT_VARIABLE, ...Object.values(GOOGLE_VARIABLES)],
    ownOrigins: /^https:\/\/(?:(?:[a-z0-9-]+-)?aiplatform|aiplatform\.(?:us|eu)\.rep)\.googleapis\.com$/u,
    mediaUrls: { image: 'send_base64' },
    structured: ({ anthropic_version: version }) => (version === undefined ? RESPONSE_JSON_SCHEMA : FORCED_TOOL),
    url: vertexUrl,
  },
  docs: {
    address: '`location`, or `base_url`',
    key: '[account](#credentials-of-google-cloud)',
    model: '`model`, required',
  },
} as const satisfies ProviderDescription<typeof VERTEX_AI_OPTIONS>;

/** https://docs.cloud.google.com/gemini-enterprise-agent-platform/resources/locations: regions, multi-regions, the globe. */
function vertexUrl({ base_url: baseUrl, location = '' }: OptionValues<typeof VERTEX_AI_OPTIONS>): string {
  if (baseUrl !== undefined) return baseUrl;
  if (location === 'global') return 'https://aiplatform.googleapis.com';
  if (location === 'us' || location === 'eu') return `https://aiplatform.${location}.rep.googleapis.com`;
  return `https://${location}-aiplatform.googleapis.com`;
}
