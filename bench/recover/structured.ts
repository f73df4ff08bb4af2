import { isJsonObject, type JsonObject, type JsonValue } from '../../src/base/json.ts';
import { FunctionReplies } from '../../src/runtime/call/function-replies.ts';
import type { ReplyParser } from '../../src/runtime/reply/reply-parser.ts';
import {
  FORCED_TOOL,
  FORCED_TOOL_OF_BEDROCK,
  RESPONSE_FORMAT,
  RESPONSE_JSON_SCHEMA,
  type StructuredForm,
} from '../../src/schema/providers/structured-output.ts';
import { structuredOutput, type StructuredOutput } from '../../src/schema/structured-output.ts';
import type { Draw, Kind } from './kind.ts';
import { SUBJECTS, type Subject } from './subjects.ts';
import { compiledSubjects } from './svc-side.ts';

/*
 * The replies of providers that honour schemas: undamaged values in the form that each provider receives, with the
 * liberties that the schema leaves.
 */

export const PROVIDERS: ReadonlyArray<readonly [string, StructuredForm]> = [
  ['OpenAI, Azure, Ollama', RESPONSE_FORMAT],
  ['Gemini, Vertex AI', RESPONSE_JSON_SCHEMA],
  ['Anthropic', FORCED_TOOL],
  ['Bedrock', FORCED_TOOL_OF_BEDROCK],
];

/** The ways to write the same JSON. */
const LAYOUTS: Readonly<Record<string, (value: JsonValue) => string>> = {
  'on one line': (value) => JSON.stringify(value),
  'on several lines': (value) => JSON.stringify(value, undefined, 2),
  'with spaces': (value) => JSON.stringify(value, undefined, 1).replaceAll(/\n */gu, ' '),
  'with escapes for all but ASCII': (value) => JSON.stringify(value).replaceAll(/[^\0-\x7F]/gu, escaped),
};

const { definitions, functions } = compiledSubjects(SUBJECTS);

/** A kind for each provider and layout. */
const WRITTEN: readonly Kind[] = PROVIDERS.flatMap(([group, form]) =>
  Object.entries(LAYOUTS).map(([name, write]) => kindOf({ group, name, form, write: ({ sent }) => write(sent) })),
);

/** Gemini can leave out the members in which a type contains itself. */
const SHORTENED = kindOf({
  group: 'Gemini, Vertex AI',
  name: 'without members that are not required',
  form: RESPONSE_JSON_SCHEMA,
  write: ({ sent, schema }) => {
    const keys = optionalKeys(schema);
    const text = JSON.stringify(sent, (key, value: JsonValue) => (keys.has(key) && isEmpty(value) ? undefined : value));
    return text === JSON.stringify(sent) ? undefined : text;
  },
});

export const STRUCTURED_KINDS: readonly Kind[] = [...WRITTEN, SHORTENED];

/** The parsers of all types, for replies to requests with a schema. */
export function structuredParsers(): ReadonlyMap<string, ReplyParser> {
  const parsers = [...functions].map(
    ([name, fn]) => [name, new FunctionReplies(fn, definitions).parserFor(true)] as const,
  );
  return new Map(parsers);
}

interface StructuredReply {
  /** The object that the schema describes, with the aliases. */
  readonly sent: JsonValue;
  readonly schema: JsonObject;
}

interface StructuredKind extends Pick<Kind, 'group' | 'name'> {
  readonly form: StructuredForm;
  readonly write: (reply: StructuredReply) => string | undefined;
}

function kindOf({ group, name, form, write }: StructuredKind): Kind {
  return {
    group,
    name,
    clear: true,
    fits: (subject) => outputFor(subject, form) !== undefined,
    ways: [
      (draw) => {
        const reply = structuredReply(draw, form);
        return reply && write(reply);
      },
    ],
  };
}

/** A value in the form that a provider receives; undefined if it does not take the type. */
export function structuredReply(draw: Draw, form: StructuredForm): StructuredReply | undefined {
  const output = outputFor(draw.subject, form);
  if (output === undefined) return undefined;
  const { schema, wrapper } = output;
  const value = JSON.parse(draw.write()) as JsonValue;
  return { schema, sent: wrapper === undefined ? value : { [wrapper]: value } };
}

function outputFor(subject: Subject, { limits }: StructuredForm): StructuredOutput | undefined {
  const fn = functions.get(subject.name);
  const output = fn && structuredOutput(fn, definitions, limits);
  return output?.ok === true ? output.value : undefined;
}

/** The keys that no object of the schema requires. */
function optionalKeys(schema: JsonObject): ReadonlySet<string> {
  const required = new Set<string>();
  const all = new Set<string>();
  JSON.stringify(schema, (_key, part: unknown) => {
    if (!isJsonObject(part) || !isJsonObject(part['properties'])) return part;
    for (const key of Object.keys(part['properties'])) all.add(key);
    for (const key of Array.isArray(part['required']) ? part['required'] : []) required.add(String(key));
    return part;
  });
  return new Set([...all].filter((key) => !required.has(key)));
}

function isEmpty(value: JsonValue): boolean {
  return value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
