/*
 * What the wire formats state about replies besides their text, as data: the runtime reads replies by it, and docs/clients.md
 * has it as a table.
 */

/**
 * What a finish reason means. `whole`: the model said all that it wanted to. `cut`: a limit ended the reply. `tool`: the
 * model calls a tool. `refused`: the model refuses. `filtered`: the provider withholds the reply. `unfinished`: the provider
 * expects another request. `failed`: an error of the provider.
 */
export type Ending = 'whole' | 'cut' | 'tool' | 'refused' | 'filtered' | 'unfinished' | 'failed';

export const TOKEN_COUNTS = [
  'inputTokens',
  'outputTokens',
  'cachedInputTokens',
  'cacheWrittenInputTokens',
  'reasoningTokens',
  'audioInputTokens',
  'audioOutputTokens',
] as const;

export type TokenCount = (typeof TOKEN_COUNTS)[number];

/** Where a count stands below the usage: the first place that has it counts. */
export interface CountPlace {
  /** Keys, separated by dots. `key[WORD]` is the entry with that `modality` in a list. */
  readonly path: string;
  /** Counts that the provider leaves out of this one: they are added. */
  readonly plus?: readonly string[];
  /** The service that writes it here; absent where the format's own documentation names the place. */
  readonly of?: string;
}

/** One wire format, or what a provider adds to it. */
export interface ReplyFacts {
  /** The documented finish reasons, in lower case. Any other means `whole`. */
  readonly finishReasons: Readonly<Record<string, Ending>>;
  /** Paths of the object with the counts, below a reply or an event; the first that exists counts. */
  readonly usage: readonly string[];
  readonly counts: Readonly<Partial<Record<TokenCount, readonly CountPlace[]>>>;
  /** Key of a list of counts below the usage whose sum is the usage, if one of them has this `type`. */
  readonly sumOf?: { readonly key: string; readonly type: string };
  /** What surprised in recorded exchanges, one sentence each with the month of the recording. */
  readonly surprises: readonly string[];
}

/** OpenAI's chat completions, and the services that follow it. */
export const CHAT_REPLIES: ReplyFacts = {
  finishReasons: {
    stop: 'whole',
    length: 'cut',
    model_length: 'cut',
    max_tokens: 'cut',
    model_context_window_exceeded: 'cut',
    tool_calls: 'tool',
    function_call: 'tool',
    content_filter: 'filtered',
    sensitive: 'filtered',
    error: 'failed',
    network_error: 'failed',
    insufficient_system_resource: 'failed',
  },
  usage: ['usage', 'x_groq.usage'],
  counts: {
    inputTokens: [{ path: 'prompt_tokens' }],
    outputTokens: [{ path: 'completion_tokens' }],
    cachedInputTokens: [
      { path: 'prompt_tokens_details.cached_tokens' },
      { path: 'prompt_cache_hit_tokens', of: 'DeepSeek' },
      { path: 'num_cached_tokens', of: 'Mistral' },
      { path: 'cached_tokens', of: 'Moonshot' },
    ],
    cacheWrittenInputTokens: [{ path: 'prompt_tokens_details.cache_write_tokens', of: 'OpenRouter' }],
    reasoningTokens: [{ path: 'completion_tokens_details.reasoning_tokens' }],
    audioInputTokens: [{ path: 'prompt_tokens_details.audio_tokens' }],
    audioOutputTokens: [{ path: 'completion_tokens_details.audio_tokens' }],
  },
  surprises: [
    'xAI leaves the reasoning out of `completion_tokens`: if the three counts add up to `total_tokens`, svc adds it (2026-08)',
    'Groq puts the usage of a stream into `x_groq` (2026-08)',
    'DashScope sends an error as an event whose data have no `error`, and `data: null` between chunks (2026-08)',
    'OpenRouter states the words of the failed model in `error.metadata.raw` (2026-08)',
  ],
};

/** OpenAI's responses. The status is the finish reason of a response without `incomplete_details`. */
export const RESPONSES_REPLIES: ReplyFacts = {
  finishReasons: {
    completed: 'whole',
    incomplete: 'cut',
    max_output_tokens: 'cut',
    content_filter: 'filtered',
    failed: 'failed',
    cancelled: 'unfinished',
    queued: 'unfinished',
    in_progress: 'unfinished',
  },
  usage: ['usage'],
  counts: {
    inputTokens: [{ path: 'input_tokens' }],
    outputTokens: [{ path: 'output_tokens' }],
    cachedInputTokens: [{ path: 'input_tokens_details.cached_tokens' }],
    cacheWrittenInputTokens: [{ path: 'input_tokens_details.cache_write_tokens' }],
    reasoningTokens: [{ path: 'output_tokens_details.reasoning_tokens' }],
  },
  surprises: ['Messages of the phase `commentary` come before the answer: svc counts them as reasoning (2026-08)'],
};

export const ANTHROPIC_REPLIES: ReplyFacts = {
  finishReasons: {
    end_turn: 'whole',
    stop_sequence: 'whole',
    max_tokens: 'cut',
    model_context_window_exceeded: 'cut',
    tool_use: 'tool',
    pause_turn: 'unfinished',
    compaction: 'unfinished',
    refusal: 'refused',
  },
  usage: ['usage'],
  counts: {
    inputTokens: [{ path: 'input_tokens', plus: ['cache_read_input_tokens', 'cache_creation_input_tokens'] }],
    outputTokens: [{ path: 'output_tokens' }],
    cachedInputTokens: [{ path: 'cache_read_input_tokens' }],
    cacheWrittenInputTokens: [{ path: 'cache_creation_input_tokens' }],
    reasoningTokens: [{ path: 'output_tokens_details.thinking_tokens' }],
  },
  sumOf: { key: 'iterations', type: 'compaction' },
  surprises: ['After a compaction, the totals lack its tokens: svc adds up the `iterations` (2026-08)'],
};

export const BEDROCK_REPLIES: ReplyFacts = {
  finishReasons: {
    end_turn: 'whole',
    stop_sequence: 'whole',
    max_tokens: 'cut',
    model_context_window_exceeded: 'cut',
    tool_use: 'tool',
    guardrail_intervened: 'filtered',
    content_filtered: 'filtered',
    malformed_model_output: 'failed',
    malformed_tool_use: 'failed',
  },
  usage: ['usage'],
  counts: {
    inputTokens: [{ path: 'inputTokens', plus: ['cacheReadInputTokens', 'cacheWriteInputTokens'] }],
    outputTokens: [{ path: 'outputTokens' }],
    cachedInputTokens: [{ path: 'cacheReadInputTokens' }],
    cacheWrittenInputTokens: [{ path: 'cacheWriteInputTokens' }],
  },
  surprises: [],
};

/** Gemini, also on Vertex AI. */
export const GOOGLE_REPLIES: ReplyFacts = {
  finishReasons: {
    stop: 'whole',
    max_tokens: 'cut',
    safety: 'filtered',
    recitation: 'filtered',
    blocklist: 'filtered',
    prohibited_content: 'filtered',
    spii: 'filtered',
    language: 'filtered',
    model_armor: 'filtered',
    image_safety: 'filtered',
    image_prohibited_content: 'filtered',
    image_recitation: 'filtered',
    malformed_function_call: 'unfinished',
    unexpected_tool_call: 'unfinished',
    too_many_tool_calls: 'unfinished',
    missing_thought_signature: 'unfinished',
    malformed_response: 'failed',
  },
  usage: ['usageMetadata'],
  counts: {
    inputTokens: [{ path: 'promptTokenCount', plus: ['toolUsePromptTokenCount'] }],
    outputTokens: [{ path: 'candidatesTokenCount', plus: ['thoughtsTokenCount'] }],
    cachedInputTokens: [{ path: 'cachedContentTokenCount' }],
    reasoningTokens: [{ path: 'thoughtsTokenCount' }],
    audioInputTokens: [{ path: 'promptTokensDetails[AUDIO].tokenCount' }],
    audioOutputTokens: [{ path: 'candidatesTokensDetails[AUDIO].tokenCount' }],
  },
  surprises: [
    'The prompts of its own tools are counted apart, in `toolUsePromptTokenCount`: svc adds them (2026-08)',
    'A response with status 429 states its wait in the body (`RetryInfo.retryDelay`), not in a header (2026-08)',
  ],
};

const ALL_REPLIES = [CHAT_REPLIES, RESPONSES_REPLIES, ANTHROPIC_REPLIES, BEDROCK_REPLIES, GOOGLE_REPLIES];

/** The finish reasons, in lower case, that mean that a limit ended the reply. */
export const CUT_REASONS: ReadonlySet<string> = new Set(
  ALL_REPLIES.flatMap(({ finishReasons }) =>
    Object.entries(finishReasons).flatMap(([reason, ending]) => (ending === 'cut' ? [reason] : [])),
  ),
);
