import { type JsonObject, type JsonValue, isJsonObject, ownValue } from '../../base/json.ts';
import type { Explanation, ExplainedCandidate } from '../../schema/explanation.ts';
import type { ErrorBody, StreamEvent, Trace } from '../server/wire.ts';
import type { RunMode } from './link.ts';
import type { PlaygroundClient, PlaygroundDocument, PlaygroundFunction } from '../../schema/playground-document.ts';
import { childPath } from './argument-values.ts';

/** One call of a function from this page, while it runs and after it. */
export interface Run {
  readonly id: number;
  readonly startedAt: Date;
  readonly functionName: string;
  readonly args: JsonObject;
  readonly mode: RunMode;
  readonly choice: ClientChoice;
  /** What a person calls the client. */
  readonly client: string;
  readonly state: RunState;
  readonly value?: JsonValue;
  readonly partials: number;
  /** How often an attempt failed midway and another one began. */
  readonly resets: number;
  readonly reply: string;
  readonly problem?: ErrorBody;
  readonly trace?: Trace;
  readonly explanation?: Explanation;
  /** Milliseconds, as this page measured them: until the first event, and in total so far. */
  readonly firstMs?: number;
  readonly elapsedMs: number;
}

type RunState = 'waiting' | 'streaming' | 'done' | 'failed' | 'stopped';

export type RunChange = Partial<Pick<Run, 'state' | 'value' | 'partials' | 'resets' | 'reply' | 'trace'>> & {
  readonly problem?: ErrorBody;
  readonly explanation?: Explanation;
};

export function isRunning({ state }: Pick<Run, 'state'>): boolean {
  return state === 'waiting' || state === 'streaming';
}

export const STATE_TEXT: Readonly<Record<RunState, string>> = {
  waiting: 'Waiting for the model',
  streaming: 'Streaming',
  done: 'Done',
  failed: 'Failed',
  stopped: 'Stopped',
};

/** Messages of a stream before the last one. */
type Growth = Exclude<StreamEvent, ErrorBody | { readonly final_result: unknown }>;

/** The changes to a run that a message of its stream makes. A message that the page does not ask for, such as reasoning, changes nothing. */
export function growth(event: Growth, run: Run): RunChange {
  if ('text' in event) return { state: 'streaming', reply: run.reply + event.text };
  if ('partial_result' in event) return { state: 'streaming', value: event.partial_result, partials: run.partials + 1 };
  return 'reset' in event ? { state: 'waiting', reply: '', resets: run.resets + 1 } : {};
}

export type ClientChoice =
  /** The function's own. */
  | { readonly kind: 'own' }
  /** One of the definition files. */
  | { readonly kind: 'named'; readonly name: string }
  | CustomClient;

/** A client that the user defines. It stays in this tab. */
export interface CustomClient {
  readonly kind: 'custom';
  readonly provider: string;
  readonly model: string;
  readonly apiKey: string;
  readonly baseUrl: string;
}

export const OWN_CLIENT: ClientChoice = { kind: 'own' };

export const EMPTY_CUSTOM_CLIENT: CustomClient = {
  kind: 'custom',
  provider: 'openai',
  model: '',
  apiKey: '',
  baseUrl: '',
};

export type Keys = Readonly<Record<string, string>>;

/** The name of a custom client in requests. */
const CUSTOM_NAME = 'Playground';

/** The options of a request that select a client; undefined if it needs none. */
export function requestOptions(choice: ClientChoice, keys: Keys): JsonObject | undefined {
  const env = Object.fromEntries(Object.entries(keys).filter(([, value]) => value !== ''));
  const options = { ...selection(choice), ...(Object.keys(env).length > 0 && { env }) };
  return Object.keys(options).length === 0 ? undefined : options;
}

function selection(choice: ClientChoice): JsonObject {
  if (choice.kind === 'own') return {};
  if (choice.kind === 'named') return { client: choice.name };
  const { provider, model, apiKey, baseUrl } = choice;
  const options = {
    ...(model !== '' && { model }),
    ...(apiKey !== '' && { api_key: apiKey }),
    ...(baseUrl !== '' && { base_url: baseUrl }),
  };
  return { client_registry: { primary: CUSTOM_NAME, clients: [{ name: CUSTOM_NAME, provider, options }] } };
}

export function requestBody(args: JsonObject, options: JsonObject | undefined): JsonObject {
  return options === undefined ? args : { ...args, svc_options: options };
}

/** What a person calls the client. */
export function clientLabel(choice: ClientChoice, fn: PlaygroundFunction): string {
  if (choice.kind === 'own') return fn.client;
  return choice.kind === 'named' ? choice.name : `${choice.provider}/${choice.model}`;
}

/** The variables without which calls of the client fail, those of the members of a strategy included. */
export function missingVariables(
  choice: ClientChoice,
  fn: PlaygroundFunction,
  { clients }: PlaygroundDocument,
): readonly string[] {
  if (choice.kind === 'custom') return [];
  const byName = new Map(clients.map((client) => [client.name, client]));
  const found = new Set<string>();
  collectMissing(choice.kind === 'named' ? choice.name : fn.client, byName, { found, seen: new Set() });
  return [...found];
}

function collectMissing(
  name: string,
  clients: ReadonlyMap<string, PlaygroundClient>,
  { found, seen }: { readonly found: Set<string>; readonly seen: Set<string> },
): void {
  const client = clients.get(name);
  if (client === undefined || seen.has(name)) return;
  seen.add(name);
  if (client.missing !== undefined) found.add(client.missing);
  for (const member of client.members ?? []) collectMissing(member, clients, { found, seen });
}

interface ReplySegment {
  readonly text: string;
  readonly verdict?: ExplainedCandidate['verdict'];
}

/** The better the verdict, the later: it covers the ones before. */
const ORDER = ['mismatch', 'passed-over', 'taken'] as const;

/** Cuts a reply where candidates begin and end. A candidate that is the whole reply, or several parts of it, marks nothing. */
export function replySegments(reply: string, explanation: Explanation | undefined): readonly ReplySegment[] {
  const parts = (explanation?.candidates ?? []).filter(
    ({ place, from, to }) => PARTS.has(place) && from < to && to - from < reply.trim().length,
  );
  const ends = new Set([0, reply.length, ...parts.flatMap(({ from, to }) => [from, to])]);
  const cuts = [...ends].filter((at) => at <= reply.length).toSorted((a, b) => a - b);
  return cuts.slice(1).map((to, at) => {
    const from = cuts[at] ?? 0;
    const covering = parts.filter((part) => part.from <= from && to <= part.to);
    const verdict = ORDER.findLast((each) => covering.some((part) => part.verdict === each));
    return { text: reply.slice(from, to), ...(verdict !== undefined && { verdict }) };
  });
}

const PARTS: ReadonlySet<string> = new Set(['fence', 'prose', 'thought']);

/** The paths at which two values differ: of scalars, of members that only one has, and of values of different kinds. */
export function differingPaths(a: JsonValue | undefined, b: JsonValue | undefined): ReadonlySet<string> {
  const found = new Set<string>();
  compare(a, b, '', found);
  return found;
}

function compare(a: JsonValue | undefined, b: JsonValue | undefined, path: string, found: Set<string>): void {
  if (Array.isArray(a) && Array.isArray(b)) {
    for (let at = 0; at < Math.max(a.length, b.length); at += 1) compare(a[at], b[at], childPath(path, at), found);
  } else if (isJsonObject(a) && isJsonObject(b)) {
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
      compare(ownValue(a, key), ownValue(b, key), childPath(path, key), found);
    }
  } else if (a !== b) found.add(path);
}

/** Words, groups of three digits, line breaks and pairs of signs: about the units in which tokenizers of models split text. */
const UNITS =
  /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{L}+\p{M}*|\p{N}{1,3}|\n+|[^\s\p{L}\p{N}]{1,2}/gu;

/** Longer words are several tokens. */
const LETTERS_PER_TOKEN = 7;

/** What a message takes beside its content: its role and its ends. */
const TOKENS_PER_MESSAGE = 4;

/** Estimates the number of tokens of a text. Tokenizers differ from model to model, so no count is right for all of them. */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (const [unit] of text.matchAll(UNITS))
    tokens += /^\p{L}/u.test(unit) ? Math.ceil(unit.length / LETTERS_PER_TOKEN) : 1;
  return tokens;
}

/** Estimates the tokens of a message by the texts of its parts. */
export function estimateMessageTokens(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + estimateTokens(text), TOKENS_PER_MESSAGE);
}
