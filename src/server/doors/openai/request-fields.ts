import { isJsonObject } from '../../../base/json.ts';
import type { FunctionModel } from './function-model.ts';
import { RequestRefusal } from './function-model.ts';

type Members = Readonly<Record<string, unknown>>;

/** Svc uses the field, ignores it with a header that lists it, or refuses all values but harmless ones. */
type FieldUse = 'used' | 'ignored' | 'refused';

/** Decides about a value: undefined if it is accepted, or else whether it is ignored, or the message of a refusal. */
type FieldCheck = (value: unknown, model: FunctionModel) => 'ignored' | { readonly refused: string } | undefined;

/** How the interface treats one field of a request. Null counts as absent. */
export interface FieldRule {
  readonly use: FieldUse;
  /** For the documentation, in Markdown. */
  readonly note: string;
  readonly check: FieldCheck;
}

function used(note: string, check: FieldCheck = () => undefined): FieldRule {
  return { use: 'used', note, check };
}

const IGNORED: FieldRule = { use: 'ignored', note: '', check: () => 'ignored' };

/** `harmless`: the values that ask for nothing. */
function refused(note: string, harmless: (value: unknown) => boolean, advice: string): FieldRule {
  return { use: 'refused', note, check: (value) => (harmless(value) ? undefined : { refused: advice }) };
}

const isEmpty = (value: unknown): boolean => Array.isArray(value) && value.length === 0;
const isFalse = (value: unknown): boolean => value === false;
const never = (): boolean => false;

/** The return type decides the form of the answer. A format that asks for the other form is ignored. */
const checkFormat: FieldCheck = (format, { returnsText }) => {
  const type = isJsonObject(format) ? format['type'] : undefined;
  return (type === 'text') === returnsText ? undefined : 'ignored';
};

const checkStream: FieldCheck = (value) =>
  typeof value === 'boolean' ? undefined : { refused: 'has to be true or false' };

const NO_TOOLS = 'is not supported: a function of svc calls no tools of its caller. Let it return the call as a value';
const NO_PROBABILITIES = 'is not supported: svc returns values, not tokens';
const NO_CONVERSATIONS = 'is not supported: svc keeps no conversations. Send all messages';
const FORMAT_NOTE =
  'the return type of the function decides; ignored if it asks for text from a function that returns JSON, or the reverse';

const SHARED: Readonly<Record<string, FieldRule>> = {
  model: used('the name of the function'),
  stream: used('', checkStream),
  svc_args: used('the arguments as an object, as in the body of `/call`; decides over messages'),
  svc_options: used('the [options of the request](../http.md#options-of-a-request)'),
  tools: refused('except `[]`', isEmpty, NO_TOOLS),
  tool_choice: refused('except `"none"` and `"auto"`', (value) => value === 'none' || value === 'auto', NO_TOOLS),
  top_logprobs: refused('except 0', (value) => value === 0, NO_PROBABILITIES),
};

const IGNORED_BY_BOTH = [
  'metadata',
  'moderation',
  'parallel_tool_calls',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'safety_identifier',
  'service_tier',
  'store',
  'temperature',
  'top_p',
  'user',
];

function ignored(...names: readonly string[]): Readonly<Record<string, FieldRule>> {
  return Object.fromEntries(names.map((name) => [name, IGNORED]));
}

/** The fields of `POST /v1/chat/completions`. */
export const CHAT_FIELDS: Readonly<Record<string, FieldRule>> = {
  ...SHARED,
  messages: used('see [arguments](#arguments)'),
  response_format: used(FORMAT_NOTE, checkFormat),
  stream_options: used('`include_usage`'),
  audio: refused('', never, 'is not supported: svc answers with text'),
  function_call: refused('except `"none"` and `"auto"`', (value) => value === 'none' || value === 'auto', NO_TOOLS),
  functions: refused('except `[]`', isEmpty, NO_TOOLS),
  logprobs: refused('except `false`', isFalse, NO_PROBABILITIES),
  modalities: refused(
    'except `["text"]`',
    (value) => Array.isArray(value) && value.every((each) => each === 'text'),
    'is not supported: svc answers with text',
  ),
  n: refused('except 1', (value) => value === 1, 'has to be 1: svc returns one value. Send one request for each value'),
  web_search_options: refused('', never, NO_TOOLS),
  ...ignored(
    ...IGNORED_BY_BOTH,
    'frequency_penalty',
    'logit_bias',
    'max_completion_tokens',
    'max_tokens',
    'prediction',
    'presence_penalty',
    'reasoning_effort',
    'seed',
    'stop',
    'verbosity',
  ),
};

/** The fields of `POST /v1/responses`. */
export const RESPONSES_FIELDS: Readonly<Record<string, FieldRule>> = {
  ...SHARED,
  input: used('see [arguments](#arguments)'),
  instructions: used(
    'the first system message of a function that takes a conversation; otherwise ignored',
    (_, model) => (model.takesLastMessage ? 'ignored' : undefined),
  ),
  text: used(`\`format\`: ${FORMAT_NOTE}`, (value, model) => {
    const format = isJsonObject(value) ? value['format'] : undefined;
    return format === undefined || format === null ? undefined : checkFormat(format, model);
  }),
  background: refused('except `false`', isFalse, 'is not supported: wait for the answer, or stream it'),
  conversation: refused('', never, NO_CONVERSATIONS),
  previous_response_id: refused('', never, NO_CONVERSATIONS),
  prompt: refused('', never, 'is not supported: the function has its prompt'),
  ...ignored(
    ...IGNORED_BY_BOTH,
    'context_management',
    'include',
    'max_output_tokens',
    'max_tool_calls',
    'reasoning',
    'stream_options',
    'truncation',
  ),
};

/** Applies the table to a request: returns the fields that svc ignores. Throws a RequestRefusal. */
export function checkFields(
  body: Members,
  fields: Readonly<Record<string, FieldRule>>,
  model: FunctionModel,
): readonly string[] {
  return Object.entries(body).flatMap(([name, value]) => {
    if (value === null) return [];
    const rule = Object.hasOwn(fields, name) ? fields[name] : undefined;
    const verdict = (rule ?? IGNORED).check(value, model);
    if (typeof verdict === 'object') throw new RequestRefusal(name, `"${name}" ${verdict.refused}.`);
    return verdict === undefined ? [] : [name];
  });
}
