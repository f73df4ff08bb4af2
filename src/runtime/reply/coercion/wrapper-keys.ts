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
  justification language logprobs message model name note notes object ok page probability rationale reason reasoning
  role schema source status statuscode stopreason success thinking thought thoughts timestamp title tool total type
  version
`);

/** Keys of values that are never an answer. */
const OTHER_KEYS = wordsOf(`
  detail details error errorcode errormessage errors example examples failure failures meta metadata usage warning
  warnings
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

/** True for `error` and other names of values that are not answers. */
export function isOtherKey(key: string): boolean {
  return includes(OTHER_KEYS, key);
}

/** True for a key of a frame, in which even a complete object can be a wrapper: `arguments`, `content`, `properties`. */
export function isFrameKey(key: string): boolean {
  return includes(ARGUMENT_KEYS, key) || key === 'properties' || key === 'content';
}

/**
 * Returns the position of the arguments in `{"name": "…", "arguments": {…}}`, or of the content in
 * `{"role": "assistant", "content": …}`; -1 for other objects.
 */
export function frameAt({ keys }: ReplyNode): number {
  if (keys.length > 1 && keys.length < 5 && keys.includes('role') && keys.includes('content'))
    return keys.indexOf('content');
  const at = keys.findIndex((key) => includes(ARGUMENT_KEYS, key));
  if (at < 0 || keys.length < 2 || keys.length > CALL_KEYS.size) return -1;
  return keys.every((key, other) => other === at || includes(CALL_KEYS, key)) ? at : -1;
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
