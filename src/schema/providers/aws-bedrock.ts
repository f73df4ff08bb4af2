import { COMMON_OPTIONS, COMMON_RULES, modelRequired, ROLES, TEXT, URL_MODEL } from './common-options.ts';
import type { OptionTable, OptionValues } from './option-shapes.ts';
import type { ProviderDescription } from './provider-description.ts';
import { FORCED_TOOL_OF_BEDROCK } from './structured-output.ts';

/** Holds a Bedrock API key, which svc sends unchanged and unsigned. */
export const BEDROCK_TOKEN_VARIABLE = 'AWS_BEARER_TOKEN_BEDROCK';

/** Keys in the environment: all of one account. */
export const AWS_KEY_VARIABLES: readonly string[] = [
  BEDROCK_TOKEN_VARIABLE,
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
];

/** Variables that decide which keys svc uses. */
const CREDENTIAL_VARIABLES: readonly string[] = [
  ...AWS_KEY_VARIABLES,
  'AWS_PROFILE',
  'AWS_SHARED_CREDENTIALS_FILE',
  'AWS_CONFIG_FILE',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_ROLE_ARN',
  'AWS_ROLE_SESSION_NAME',
  'AWS_ENDPOINT_URL_STS',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN',
  'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE',
  'AWS_EC2_METADATA_DISABLED',
  'AWS_EC2_METADATA_SERVICE_ENDPOINT',
  'HOME',
];

const REGION_VARIABLES = ['AWS_REGION', 'AWS_DEFAULT_REGION'] as const;

/**
 * The names of AWS regions: `us-east-1`, `us-gov-west-1`. Another label in this position can be a service in which customers
 * choose the subdomain: anyone can create the bucket `bedrock-runtime.s3.amazonaws.com`.
 */
const REGION_PATTERN = '[a-z]{2,5}(?:-[a-z]{2,16}){1,3}-[0-9]{1,2}';

export const AWS_REGION = new RegExp(`^${REGION_PATTERN}$`, 'u');

const OPTIONS = {
  model: URL_MODEL,
  ...COMMON_OPTIONS,
  model_id: { ...URL_MODEL, text: 'the same as `model`, which wins' },
  region: {
    shape: { kind: 'text', pattern: /^[a-z0-9-]{1,40}$/u, expected: 'the name of an AWS region' },
    fromVariables: REGION_VARIABLES,
    decidesUrl: true,
    public: true,
    text: 'part of the address and of the signature',
  },
  endpoint_url: {
    shape: { kind: 'url' },
    decidesUrl: true,
    text: 'another address; it wins over `base_url`, which is the same',
  },
  inference_configuration: {
    shape: { kind: 'object', expected: 'a map' },
    text: 'a map: `max_tokens`, `temperature`, `top_p`, `stop_sequences`',
  },
  additional_model_request_fields: { shape: { kind: 'json' }, text: 'a map for the model itself' },
  access_key_id: { shape: TEXT, secret: true, text: 'a key of the [account](#credentials-of-aws)' },
  secret_access_key: { shape: TEXT, secret: true, text: 'its secret' },
  session_token: { shape: TEXT, secret: true, text: 'its session, for temporary keys' },
  profile: { shape: TEXT, namesAccount: true, text: 'a profile of the AWS files' },
} as const satisfies OptionTable;

/** Amazon Bedrock's Converse: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html */
export const AWS_BEDROCK = {
  options: OPTIONS,
  rules: [
    ...COMMON_RULES,
    modelRequired('aws-bedrock', 'model', 'model_id'),
    {
      kind: 'requires',
      alternatives: [['region']],
      message: 'is required, here or as AWS_REGION',
      why: 'which is part of the address',
    },
  ],
  otherOptions: 'body',
  settingsOfModel: 'nested',
  http: {
    roles: ROLES,
    defaultRole: 'user',
    variables: [...REGION_VARIABLES, ...CREDENTIAL_VARIABLES],
    ownOrigins: new RegExp(String.raw`^https://bedrock-runtime\.${REGION_PATTERN}\.amazonaws\.com$`, 'u'),
    mediaUrls: { image: 'send_base64', audio: 'send_base64', pdf: 'send_base64', video: 'send_base64' },
    structured: () => FORCED_TOOL_OF_BEDROCK,
    url: bedrockUrl,
  },
  docs: {
    address: '`region` (or `AWS_REGION`, `AWS_DEFAULT_REGION`), or `endpoint_url`',
    key: '[account](#credentials-of-aws)',
    model: '`model` or `model_id`, required',
  },
} as const satisfies ProviderDescription<typeof OPTIONS>;

function bedrockUrl(values: OptionValues<typeof OPTIONS>): string {
  const { endpoint_url: endpoint, base_url: baseUrl, region = '' } = values;
  return endpoint ?? baseUrl ?? `https://bedrock-runtime.${region}.amazonaws.com`;
}
