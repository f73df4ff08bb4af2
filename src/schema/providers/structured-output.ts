/*
 * Structured output: the provider receives the JSON Schema of the return type and generates a reply that matches it. The
 * forms in which providers accept a schema, and their documented limits, are data here.
 */

export const STRUCTURED_OUTPUT_MODES = ['off', 'auto', 'on'] as const;

/** The documented limits of a provider on schemas. An absent member has no documented limit. */
export interface SchemaLimits {
  /** The pages that document the limits, and when they were read. */
  readonly source: string;
  /** `inline`: a schema must not refer to others, so each one is expanded where it is used. */
  readonly definitions: 'shared' | 'inline';
  /** Where a type can contain itself: nowhere, in members that can be absent, or anywhere. */
  readonly recursion: 'no' | 'in optional members' | 'yes';
  /** The names that members of objects can have. */
  readonly memberNames?: RegExp;
  /** An enum can list only strings and numbers, so the literal `true` becomes any boolean. */
  readonly noBooleanLiterals?: true;
  /** The keywords for bounds of values that the provider documents. Only JSON Schemas of requests have such bounds. */
  readonly bounds?: ReadonlySet<string>;
  /** The provider does not support `additionalProperties: false`. */
  readonly openObjects?: true;
  /** The most members that all objects of an inlined schema have together. */
  readonly maxMembers?: number;
  /** The provider guarantees replies for schemas within these limits, and accepts other schemas without a guarantee. */
  readonly strict?: StrictLimits;
}

/** In addition, strict schemas have no maps, because they list all members of every object. */
export interface StrictLimits {
  readonly maxMembers: number;
  readonly maxDepth: number;
  readonly maxEnumValues: number;
  /** Characters of all names of members and definitions, and of all values of enums. */
  readonly maxCharacters: number;
  /** An enum of strings with more values than `values` has at most `characters` characters. */
  readonly longEnum: { readonly values: number; readonly characters: number };
}

/** The form in which a provider accepts a schema. */
export interface StructuredForm {
  readonly kind: 'response-format' | 'text-format' | 'response-json-schema' | 'tool' | 'tool-config';
  /** The cell of the form in docs/clients.md. */
  readonly text: string;
  readonly limits: SchemaLimits;
  /** Members of the request body that exclude the form. A client that sets one of them keeps it. */
  readonly excludedBy: readonly string[];
  /** Models that certainly do not support the form. */
  readonly without?: RegExp;
  /** Models that support the form, for a provider with many others. `on` is for models that this does not list. */
  readonly only?: RegExp;
  /** The server is unknown, so only `on` uses the form. */
  readonly unknownServer?: true;
}

const OPENAI_STRICT: StrictLimits = {
  maxMembers: 5000,
  maxDepth: 10,
  maxEnumValues: 1000,
  maxCharacters: 120_000,
  longEnum: { values: 250, characters: 15_000 },
};

const OPENAI_LIMITS: SchemaLimits = {
  source: 'OpenAI, "Structured model outputs", "Supported schemas", November 2026',
  definitions: 'shared',
  recursion: 'yes',
  strict: OPENAI_STRICT,
};

const AZURE_LIMITS: SchemaLimits = {
  ...OPENAI_LIMITS,
  source: 'Microsoft, "Structured outputs", "Nesting depth and number of properties", November 2026',
  strict: { ...OPENAI_STRICT, maxMembers: 100, maxDepth: 5 },
};

const GEMINI_LIMITS: SchemaLimits = {
  source: 'Google, "GenerationConfig", member `responseJsonSchema`, November 2026',
  definitions: 'shared',
  recursion: 'in optional members',
  noBooleanLiterals: true,
  bounds: new Set(['minimum', 'maximum', 'minItems', 'maxItems']),
};

/** The API rejects other names of members with status 400. */
const TOOL_MEMBER_NAMES = /^[a-zA-Z0-9_.-]{1,64}$/u;

const ANTHROPIC_LIMITS: SchemaLimits = {
  source: 'Anthropic, "Define tools", November 2026',
  definitions: 'shared',
  recursion: 'yes',
  memberNames: TOOL_MEMBER_NAMES,
  // The input of a tool is a JSON Schema without a documented restriction of its keywords, and the schema is a hint.
  bounds: new Set(
    (
      'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength pattern minItems maxItems ' +
      'uniqueItems'
    ).split(' '),
  ),
};

const BEDROCK_LIMITS: SchemaLimits = {
  source: 'Amazon, "ToolInputSchema" and "Tool use with Amazon Nova", November 2026',
  // The top level of a schema for Nova has `type`, `properties` and `required` only.
  definitions: 'inline',
  recursion: 'no',
  memberNames: TOOL_MEMBER_NAMES,
  openObjects: true,
  // Inlined schemas can grow exponentially. A model does not fill in this many members well.
  maxMembers: 1000,
};

export const RESPONSE_FORMAT: StructuredForm = {
  kind: 'response-format',
  text: '`response_format` with `json_schema`',
  limits: OPENAI_LIMITS,
  excludedBy: ['response_format'],
  without: /^(?:gpt-3|gpt-4$|gpt-4-|gpt-4o-2024-05-13|chatgpt-4o|o1-mini|o1-preview)/u,
};

export const RESPONSE_FORMAT_OF_AZURE: StructuredForm = { ...RESPONSE_FORMAT, limits: AZURE_LIMITS };

/** Ollama's chat completions turn it into the `format` of its own API. */
export const OLLAMA_FORMAT: StructuredForm = {
  ...RESPONSE_FORMAT,
  text: '`response_format` with `json_schema`, which Ollama uses as its `format`',
  without: /-cloud$/u,
};

/** Many servers use XGrammar, which does not compile a schema with another key (@mlc-ai/web-xgrammar 0.1.27). */
const UNKNOWN_LIMITS: SchemaLimits = { ...OPENAI_LIMITS, memberNames: /^[^"\\]*$/u };

export const RESPONSE_FORMAT_OF_UNKNOWN_SERVER: StructuredForm = {
  ...RESPONSE_FORMAT,
  limits: UNKNOWN_LIMITS,
  unknownServer: true,
};

export const TEXT_FORMAT: StructuredForm = {
  ...RESPONSE_FORMAT,
  kind: 'text-format',
  text: '`text.format`',
  excludedBy: ['text.format'],
};

export const RESPONSE_JSON_SCHEMA: StructuredForm = {
  kind: 'response-json-schema',
  text: '`responseJsonSchema` in `generationConfig`',
  limits: GEMINI_LIMITS,
  excludedBy: ['tools', ...['generationConfig', 'generation_config'].flatMap(ownSchemasOf)],
  without: /(?:^|\/)(?:gemini-1|gemma)/u,
};

function ownSchemasOf(config: string): readonly string[] {
  const members = ['responseMimeType', 'responseSchema', 'responseJsonSchema'];
  const snake = ['response_mime_type', 'response_schema', 'response_json_schema'];
  return [...members, ...snake].map((member) => `${config}.${member}`);
}

/**
 * A tool that the model has to call, instead of the `output_config` of newer models: a tool supports recursive types and maps,
 * all models since Claude 3 have tools, and so do the models on other clouds.
 */
export const FORCED_TOOL: StructuredForm = {
  kind: 'tool',
  text: 'a tool that the model has to call',
  limits: ANTHROPIC_LIMITS,
  excludedBy: ['tools', 'tool_choice', 'thinking', 'output_config', 'output_format'],
  without: /^claude-(?:2|instant)/u,
};

export const FORCED_TOOL_OF_BEDROCK: StructuredForm = {
  kind: 'tool-config',
  text: 'a tool that the model has to call, in `toolConfig`',
  limits: BEDROCK_LIMITS,
  excludedBy: [
    'toolConfig',
    'outputConfig',
    'additionalModelRequestFields.thinking',
    'additional_model_request_fields.thinking',
  ],
  only: /(?:^|[./])(?:anthropic\.claude-(?!v|2|instant)|amazon\.nova-)/u,
};
