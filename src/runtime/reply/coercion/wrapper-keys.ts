import type { ReplyNode } from '../text/reply-node.ts';

/*
 * The keys of the objects that models put around an answer: those of chat messages and tool calls, those of JSON schemas,
 * and the names that models choose.
 */

/** Keys under which models put an answer. */
const ANSWER_KEYS = wordsOf(`
  answer answers args arguments body candidates choices completion content contents data final finalanswer finalresult
  function functioncall generatedtext input item items json message object output outputs parameters params parsed parts
  payload prediction properties response result results return structuredcontent structuredoutput text toolcalls
  toolinput value values
`);

/** Keys under which a call has its arguments. */
const ARGUMENT_KEYS = wordsOf('args arguments function functioncall input parameters params toolinput');

/** Keys beside the arguments of a call. */
const CALL_KEYS = wordsOf(
  'action callid function functionname id index name recipient role tool toolcallid toolname type',
);

/** Keys of values that describe an answer. */
const DESCRIPTION_KEYS = wordsOf(`
  $schema code comment confidence count created createdat description explanation finishreason format id index
  iserror jsonrpc justification language logprobs message model name note notes object ok page probability rationale reason reasoning
  role schema source status statuscode stopreason success thinking thought thoughts timestamp title tool total type
  version
`);

/** Keys of values that a model adds to any answer, and that are not a field in another spelling. */
const COMMENTARY_KEYS = wordsOf(`
  $schema comment comments confidence explanation finishreason justification kind logprobs object ok probability rationale
  reason reasoning role schema status statuscode stopreason success thinking thought thoughts type
`);

/** Keys of values that are never an answer. */
const OTHER_KEYS = wordsOf(`
  citationmetadata detail details error errorcode errormessage errors example examples failure failures meta metadata
  promptfeedback safetyratings usage usagemetadata warning warnings
`);

/** The keywords of JSON Schema that models copy. */
const SCHEMA_KEYS = wordsOf(`
  $defs $id $ref $schema additionalproperties allof anyof const default definitions deprecated description enum example
  examples format items maximum maxitems maxlength minimum minitems minlength nullable oneof pattern properties required
  title type uniqueitems
`);

const SCHEMA_TYPES = wordsOf('array bool boolean float int integer list null number object string');

/** The length of the longest of these keys, with room for separators. */
const LONGEST = 32;

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/u));
}

function includes(keys: ReadonlySet<string>, key: string): boolean {
  return key.length <= LONGEST && keys.has(key.toLowerCase().replace(/[\s_-]+/gu, ''));
}

/** True for `result`, `data` and other names for an answer. */
export function isAnswerKey(key: string): boolean {
  return includes(ANSWER_KEYS, key);
}

/** True for `status`, `reasoning` and other names of values beside an answer. */
export function isDescriptionKey(key: string): boolean {
  return includes(DESCRIPTION_KEYS, key) || includes(OTHER_KEYS, key);
}

/** True for `reasoning`, `type` and other names of values that belong to the reply rather than to the answer. */
export function isCommentaryKey(key: string): boolean {
  return includes(COMMENTARY_KEYS, key) || includes(OTHER_KEYS, key);
}

/** True for `error` and other names of values that are not answers. */
export function isOtherKey(key: string): boolean {
  return includes(OTHER_KEYS, key);
}

/** True for a key of a frame, in which even a complete object can be a wrapper: `arguments`, `content`, `properties`. */
export function isFrameKey(key: string): boolean {
  return includes(ARGUMENT_KEYS, key) || key === 'properties' || key === 'content';
}

/**
 * Returns the position of the member with the answer in a tool call or a message of a chat API; -1 for other objects:
 * `{"name": "…", "arguments": {…}}`, `{"role": "assistant", "content": …}`, `{"type": "text", "text": …}`,
 * `{"choices": [{"message": …}], …}`, `{"candidates": [{"content": …}], …}`.
 */
export function frameAt(node: ReplyNode): number {
  const { keys } = node;
  if (keys.length > MAX_FRAME) return -1;
  let call = -1;
  for (let at = keys.length - 1; at >= 0; at -= 1) {
    const key = keys[at] ?? '';
    if (ENVELOPES.get(key)?.(node, at) === true || isOnlyAnswer(node, key)) return at;
    if (keys.length > 1 && includes(ARGUMENT_KEYS, key)) call = at;
  }
  if (call < 0 || keys.length > CALL_KEYS.size) return -1;
  return keys.every((key, other) => other === call || includes(CALL_KEYS, key)) ? call : -1;
}

/** No message of a chat API has more members. */
const MAX_FRAME = 24;

type IsFrame = (node: ReplyNode, at: number) => boolean;

const isCall: IsFrame = ({ items }, at) => {
  const call = items[at];
  return call !== undefined && frameAt(call) >= 0;
};

/** The test for a list of objects each of which has one of the keys. */
function membersHave(...keys: readonly string[]): IsFrame {
  return ({ items: values }, at) => {
    const { kind, items } = values[at] ?? {};
    if (kind !== 'list' || items === undefined || items.length === 0 || items.length > MAX_FRAME) return false;
    return items.every((item) => keys.some((key) => item.keys.includes(key)));
  };
}

function typeOf({ keys, items }: ReplyNode): string {
  return items[keys.indexOf('type')]?.text ?? '';
}

/** The objects of chat APIs, by the key of the member with the answer. */
const ENVELOPES: ReadonlyMap<string, IsFrame> = new Map<string, IsFrame>([
  ['content', ({ keys, items }, at) => keys.length > 1 && keys.includes('role') && isSome(items[at])],
  ['text', (node, at) => isPartOfMessage(node) && isSome(node.items[at])],
  ['input', (node) => typeOf(node) === 'tool_use'],
  ['parts', membersHave('text', 'functionCall', 'function_call')],
  ['output', membersHave('content', 'arguments')],
  ['tool_calls', membersHave('function')],
  ['candidates', membersHave('content')],
  ['choices', membersHave('message', 'delta', 'text')],
  ['message', ({ items }, at) => items[at]?.keys.includes('role') === true],
  ['function_call', isCall],
  ['functionCall', isCall],
]);

/** True for an answer in JSON, as in `{"generated_text": "{…}"}`. */
function isOnlyAnswer({ keys, items }: ReplyNode, key: string): boolean {
  return keys.length === 1 && items[0]?.kind === 'string' && IN_JSON.test(items[0].text) && isAnswerKey(key);
}

const IN_JSON = /^\s*(?:```|[[{])/u;

/** True for `{"type": "text", "text": …}`. */
function isPartOfMessage(node: ReplyNode): boolean {
  return /^(?:output_)?text$/u.test(typeOf(node));
}

/** False for the content of a message that only calls a tool. */
function isSome(content: ReplyNode | undefined): boolean {
  return content !== undefined && content.kind !== 'null' && content.text + content.items.length !== '0';
}

/** True for an object that contains nothing but the keywords of a JSON schema. */
export function isSchema({ kind, keys, items }: ReplyNode): boolean {
  if (kind !== 'object' || keys.length > SCHEMA_KEYS.size || !keys.every((key) => includes(SCHEMA_KEYS, key)))
    return false;
  return keys.some((key, at) => {
    if (key === 'type') return includes(SCHEMA_TYPES, items[at]?.text ?? '');
    return key === '$ref' || (key === 'properties' && items[at]?.kind === 'object');
  });
}
