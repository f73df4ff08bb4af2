import { OPEN_BRACE, OPEN_BRACKET, skipSpace } from '../candidates/scan/characters.ts';
import type { ReplyNode } from '../candidates/scan/reply-node.ts';
import { Scanner } from '../candidates/scan/scanner.ts';
import { TreeSink } from '../candidates/scan/tree-sink.ts';
import { fenceBody } from '../candidates/whole-text.ts';
import { coercionError, describeValue } from './coercion-error.ts';
import { compareCost, GUESS, type CoercedValue, type CoercionOutcome } from './outcome.ts';
import { NO_LOSSES } from '../reply-parser.ts';
import type { Plan } from './plan.ts';
import type { Reading } from './step-budget.ts';

/*
 * Models wrap values in others: an object in a list or in an object, JSON in a string. The functions here find the value
 * inside.
 */

// --- the keys of wrappers ------------------------------------------------------------------------------------------------

/** Keys under which models put an answer. */
const ANSWER_KEYS = wordsOf(`
  answer answers args arguments body candidates choices completion content contents data final finalanswer finalresult
  function functioncall generatedtext input item items json message object output outputs parameters params parsed parts
  payload prediction properties response result results return structuredcontent structuredoutput text toolcalls
  toolinput value values
`);

/** Keys under which a call of a tool has its arguments. */
const ARGUMENT_KEYS = wordsOf('args arguments function functioncall input parameters params toolinput');

/** Keys of values that are never an answer. */
const OTHER_KEYS = wordsOf(`
  citationmetadata detail details error errorcode errormessage errors example examples failure failures meta metadata
  promptfeedback safetyratings usage usagemetadata warning warnings
`);

/** Keys of values that a model adds to any answer, and that are not a field in another spelling. */
const COMMENTARY_KEYS = wordsOf(`
  $schema comment comments confidence explanation finishreason justification kind logprobs object ok probability rationale
  reason reasoning role schema source status statuscode stopreason success thinking thought thoughts type
`);

/** Keys of values that describe an answer, and that can be a field in another spelling. */
const NAMING_KEYS = wordsOf(`
  callid code count created createdat description format functionname id index iserror jsonrpc language message model name
  note notes page recipient timestamp title tool toolcallid toolname total version
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
  return isCommentaryKey(key) || includes(NAMING_KEYS, key);
}

/** True for `reasoning`, `type` and other names of values that belong to the reply rather than to the answer. */
export function isCommentaryKey(key: string): boolean {
  return includes(COMMENTARY_KEYS, key) || isOtherKey(key);
}

/** True for `error` and other names of values that are not answers. */
export function isOtherKey(key: string): boolean {
  return includes(OTHER_KEYS, key);
}

/** True for a key of a frame, in which even a complete object can be a wrapper: `arguments`, `content`, `properties`. */
export function isFrameKey(key: string): boolean {
  return includes(ARGUMENT_KEYS, key) || key === 'properties' || key === 'content';
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

/** Returns the position of the arguments of `{"name": "…", "arguments": {…}}`; -1 for other objects. */
export function argumentsAt({ keys }: ReplyNode): number {
  if (keys.length < 2 || keys.length > MAX_MEMBERS) return -1;
  const at = keys.findIndex((key) => includes(ARGUMENT_KEYS, key));
  return keys.every((key, other) => other === at || includes(ARGUMENT_KEYS, key) || isDescriptionKey(key)) ? at : -1;
}

// --- JSON in a string ------------------------------------------------------------------------------------------------

/** The key under which a string node stores the value inside it, since several members of a union can ask for it. */
const NESTED = {};

/** Coerces the value that a string contains as JSON; undefined if it contains none or the value does not match. */
export function coerceNested(plan: Plan, node: ReplyNode, reading: Reading): CoercedValue | undefined {
  const value = nestedValue(node, reading);
  const outcome = value === undefined ? undefined : plan.coerce(value, reading);
  return outcome?.ok === true ? outcome.guessed(GUESS.scalar, 'json-in-text') : undefined;
}

/** Returns the list or object that a string contains as JSON, which can be in a fence. */
function nestedValue(node: ReplyNode, reading: Reading): ReplyNode | undefined {
  return node.kind === 'string' ? node.cached(NESTED, () => readNested(node.text, reading)).value : undefined;
}

interface Nested {
  readonly value: ReplyNode | undefined;
}

const NOTHING: Nested = { value: undefined };

function readNested(raw: string, reading: Reading): Nested {
  const text = beginsValue(raw) ? raw : (fenceBody(raw) ?? raw);
  if (!beginsValue(text)) return NOTHING;
  reading.spend(text.length / READ_PER_STEP);
  const reader = new Scanner(new TreeSink());
  const end = reader.read(text, skipSpace(text, 0), true);
  const { root } = reader;
  if (root?.complete !== true || skipSpace(text, end) !== text.length) return NOTHING;
  keepStrings(root);
  return { value: root };
}

/** The characters that the tolerant parser reads in one step. */
const READ_PER_STEP = 2;

/** Strings inside a value that was itself in a string stay strings, which bounds the recursion. */
function keepStrings(node: ReplyNode): void {
  if (node.kind === 'string' && (beginsValue(node.text) || node.text.includes('```')))
    node.cached(NESTED, () => NOTHING);
  for (const item of node.items) keepStrings(item);
}

function beginsValue(text: string): boolean {
  const first = text.charCodeAt(skipSpace(text, 0));
  return first === OPEN_BRACE || first === OPEN_BRACKET;
}

// --- members of lists ------------------------------------------------------------------------------------------------

/** Coerces a list to a single value: the member that matches best. */
export function bestMember(plan: Plan, list: ReplyNode, reading: Reading): CoercionOutcome {
  let best: CoercedValue | undefined;
  for (const item of list.items) {
    const outcome = plan.coerce(item, reading);
    if (outcome.ok && (best === undefined || compareCost(outcome.cost, best.cost) < 0)) best = outcome;
  }
  if (best === undefined) return coercionError(`expected ${plan.name}, got a list in which no item matches`);
  return asOneOf(list, best, GUESS.scalar);
}

/** Flags a value as one of the members of a list, of which the others are lost. */
export function asOneOf(list: ReplyNode, value: CoercedValue, weight: number): CoercedValue {
  const others = list.items.length - 1;
  const losses = others < 1 ? NO_LOSSES : { dropped: others, defaulted: 0 };
  return value.guessed(weight, 'first-of-list', `taken from ${describeValue(list)}`, losses);
}

// --- values in wrappers ----------------------------------------------------------------------------------------------

/** A list, map or class that is looked for in a wrapper. */
export interface WrappedType {
  /** Coerces a value that has no wrapper; undefined if it does not match. Nodes store the result under this object. */
  read(node: ReplyNode, reading: Reading): CoercedValue | undefined;
  /** Returns the test for the keys of an object under which it can have the value or a wrapper. */
  holdersIn(node: ReplyNode, reading: Reading): (key: string) => boolean;
}

/** The most wrappers around a value: a completion of a chat with a tool call has seven. */
const MAX_WRAPPERS = 8;

/** The most values that one search examines, and the most members of a wrapper: objects with more are data. */
const MAX_LOOKS = 32;
const MAX_MEMBERS = 24;

/** The most members of a list that is a wrapper, such as the blocks of a message. */
const MAX_BLOCKS = 4;

/**
 * Finds the value in `{"status": "ok", "result": {…}}`, in `{"choices": [{"message": {"content": "{…}"}}]}` and other
 * wrappers; undefined unless exactly one member of each wrapper contains a value of the type. `at`: the position of the
 * only member that can contain it; -1 for any.
 */
export function unwrap(type: WrappedType, node: ReplyNode, reading: Reading, at = -1): CoercedValue | undefined {
  const search = new WrapperSearch(type, reading);
  const only = node.items[at];
  const found = only === undefined ? search.inside(node, MAX_WRAPPERS) : search.at(only, MAX_WRAPPERS);
  return found?.guessed(GUESS.shape, 'unwrapped');
}

interface Read {
  readonly value: CoercedValue | undefined;
}

class WrapperSearch {
  readonly #type: WrappedType;
  readonly #reading: Reading;
  #looks = 0;

  constructor(type: WrappedType, reading: Reading) {
    this.#type = type;
    this.#reading = reading;
  }

  /** Returns the only value of the type among the members of a wrapper. */
  inside(node: ReplyNode, depth: number): CoercedValue | undefined {
    const { items, keys } = node;
    if (depth === 0 || items.length > (node.kind === 'list' ? MAX_BLOCKS : MAX_MEMBERS)) return undefined;
    const fits: CoercedValue[] = [];
    const mayHold = node.kind === 'list' ? () => true : this.#type.holdersIn(node, this.#reading);
    for (const [index, item] of items.entries()) {
      const key = keys[index] ?? '';
      if (isOtherKey(key) || !mayHold(key)) continue;
      if (this.#looks >= MAX_LOOKS) return undefined;
      const value = this.at(item, depth);
      if (value !== undefined) fits.push(value);
    }
    return onlyFit(fits);
  }

  /** Returns the value of the type that a member of a wrapper is or contains. */
  at(member: ReplyNode, depth: number): CoercedValue | undefined {
    const node = member.isScalar ? nestedValue(member, this.#reading) : member;
    if (node === undefined) return undefined;
    this.#looks += 1;
    this.#reading.spend(1 + Math.min(node.items.length, MAX_MEMBERS));
    const { value } = node.cached<Read>(this.#type, () => ({ value: this.#type.read(node, this.#reading) }));
    const found = value ?? this.inside(node, depth - 1);
    return found === undefined || node === member ? found : found.guessed(GUESS.scalar, 'json-in-text');
  }
}

/** Returns the only value; of several different ones, the only one that is not empty. */
function onlyFit(fits: readonly CoercedValue[]): CoercedValue | undefined {
  const kept = fits.filter(({ json }) => json.length > 2);
  const [first, ...others] = kept.length === 0 ? fits : kept;
  return others.every(({ json }) => json === first?.json) ? first : undefined;
}
