import { isCredentialName, isKey, SHORTEST_SECRET } from '../../base/credentials.ts';
import { editDistance } from '../../base/suggestion.ts';
import type { OptionEntry } from '../client.ts';
import { LONGEST_SUGGESTED } from './option-shapes.ts';
import type { ProviderDescription } from './provider-description.ts';

/*
 * The options that svc does not know. A provider receives them in the request body, so that new ones work at once.
 */

/** Members of request bodies whose value is a number, in the documentation of OpenAI, Anthropic, OpenRouter, Ollama or vLLM. */
const NUMBERS: ReadonlySet<string> = new Set(
  'temperature top_p top_k top_a min_p max_tokens max_completion_tokens max_output_tokens presence_penalty frequency_penalty repetition_penalty length_penalty seed n best_of top_logprobs prompt_logprobs min_tokens max_tool_calls'.split(
    ' ',
  ),
);

/**
 * The other members in this documentation, and one of Fireworks whose name resembles that of a credential. None of them is a misspelt
 * option, and a misspelt option can mean one of them.
 */
const OTHERS: ReadonlySet<string> = new Set(
  'allowed_token_ids audio background bad_words betas cache_control chat_template_kwargs container context_management conversation extra_body format functions function_call guided_choice guided_grammar guided_json guided_regex ignore_eos include instructions keep_alive logit_bias logprobs mcp_servers messages metadata modalities models options output_config parallel_tool_calls plugins prediction previous_response_id prompt_cache_isolation_key prompt_cache_key prompt_cache_retention provider reasoning reasoning_effort response_format route safety_identifier service_tier skip_special_tokens speed stop stop_sequences stop_token_ids store stream stream_options structured_outputs system text think thinking tool_choice tools transforms truncation usage use_beam_search user verbosity web_search_options'.split(
    ' ',
  ),
);

/** The same for the APIs of Google and AWS, whose settings of the model are inside one of them. Nothing resembles them. */
const NESTED: ReadonlySet<string> = new Set(
  'additionalModelRequestFields additionalModelResponseFieldPaths cachedContent cached_content contents generationConfig generation_config guardrailConfig inferenceConfig labels outputConfig performanceConfig promptVariables requestMetadata safetySettings safety_settings serviceTier systemInstruction system_instruction toolConfig tool_config'.split(
    ' ',
  ),
);

/** True for an unknown option whose value is a number in every API that documents it. */
export function isNumberExpected({ settingsOfModel }: ProviderDescription, key: string): boolean {
  return settingsOfModel !== 'nested' && NUMBERS.has(key);
}

/** A shorter name resembles too many others. */
const SHORTEST_SUGGESTED = 5;

/** Two changes of a shorter name can give another word. */
const LONG_NAME = 10;

/**
 * Returns the option that an unknown one means: the same in another case or with other separators, or the only one at a distance of
 * one edit (two for long names). Undefined if the name is that of a documented member of request bodies, or resembles none.
 */
export function meantOption({ options, settingsOfModel }: ProviderDescription, name: string): string | undefined {
  if (isDocumented(name) || name.length > LONGEST_SUGGESTED) return undefined;
  const settings = settingsOfModel === 'nested' ? [] : [...NUMBERS];
  const others = settingsOfModel === 'nested' ? [] : [...OTHERS];
  const all = new Set([...Object.keys(options), ...settings, ...others]);
  const same = [...all].find((each) => plainName(each) === plainName(name));
  if (same !== undefined) return same;
  // The other members are everyday words, such as `think`: only a long name resembles one by mistake.
  const known = name.length < LONG_NAME ? new Set([...Object.keys(options), ...settings]) : all;
  const near = [...known].filter((each) => isNear(name, each));
  return near.length === 1 ? near[0] : undefined;
}

function isNear(name: string, known: string): boolean {
  const [plain, other] = [plainName(name), plainName(known)];
  if (plain === other) return true;
  const limit = plain.length < LONG_NAME ? 1 : 2;
  return plain.length >= SHORTEST_SUGGESTED && editDistance(plain, other, limit) <= limit;
}

function isDocumented(name: string): boolean {
  return NUMBERS.has(name) || OTHERS.has(name) || NESTED.has(name);
}

function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/gu, '');
}

/**
 * Returns the unknown options that svc does not send, because credentials do not belong in a request body: those whose string is a
 * credential by the name of the option or of its variable, or has the form of a key. Strings inside lists and maps belong to
 * documented members, such as the headers of a tool, and are sent. `read` returns the value of a variable, if it is known.
 */
export function unsentOptions(
  description: ProviderDescription,
  entries: readonly OptionEntry[],
  read: (variable: string) => string | undefined,
): ReadonlySet<string> {
  if (description.otherOptions !== 'body') return new Set();
  const isUnsent = ({ key, value }: OptionEntry): boolean => {
    if (Object.hasOwn(description.options, key)) return false;
    if (value.kind === 'env') {
      return (
        isForCredentials(description, key) || isCredentialName(value.variable) || isKey(read(value.variable) ?? '')
      );
    }
    if (value.kind !== 'scalar' || typeof value.value !== 'string') return false;
    return value.value.length >= SHORTEST_SECRET && (isForCredentials(description, key) || isKey(value.value));
  };
  return new Set(entries.filter(isUnsent).map(({ key }) => key));
}

/** The name, which a request can choose, is compared with a few others only. */
function isForCredentials({ options }: ProviderDescription, key: string): boolean {
  if (isDocumented(key) || !/^[\w.-]+$/u.test(key)) return false;
  if (isCredentialName(key)) return true;
  return (
    key.length <= LONGEST_SUGGESTED &&
    Object.entries(options).some(([known, { secret }]) => secret === true && isNear(key, known))
  );
}
