import type { JsonValue } from '../base/json.ts';

/*
 * A kept call: what a caller asked, what the models replied, and the value or the failure. Workers write these, a database keeps them, and the
 * playground, `svc calls` and `svc test --data calls:…` read them.
 */

/** The facts about a call that the database can search. Times are in milliseconds. */
export interface CallFacts {
  readonly requestId: string;
  /** When the call ended, since 1970. */
  readonly at: number;
  readonly functionName: string;
  readonly route: 'call' | 'stream';
  /** The hash of the program that answered. */
  readonly program: string;
  /** The name of the caller's key; null without a key file. */
  readonly key: string | null;
  readonly status: number;
  /** The code of the failure; null if the call returned a value. */
  readonly error: string | null;
  /** The value lacks a part of the reply. */
  readonly lossy: boolean;
  /** `hit`, if no model was asked. */
  readonly cache: string | null;
  /** Of the last attempt; null if no model was asked. */
  readonly client: string | null;
  readonly model: string | null;
  readonly attempts: number;
  readonly ms: number;
  readonly modelMs: number;
  readonly firstTextMs: number | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  /** US dollars. */
  readonly cost: number | null;
  readonly tags: Readonly<Record<string, string>> | null;
}

/** What the database keeps of the texts of a call; with `--calls-content values`, only `args`, `value` and `message`. */
export interface CallContent {
  readonly args?: JsonValue;
  readonly value?: JsonValue;
  /** The text of the failure. */
  readonly message?: string;
  readonly details?: JsonValue;
  /** The prompt of the last attempt: a list of `Message`, in which the data of files is empty. */
  readonly prompt?: JsonValue;
  /** The reply to the last attempt. */
  readonly reply?: string;
  readonly finishReason?: string;
  readonly attempts?: readonly CallAttempt[];
  /** The repairs of the reply, each with its path in the value. */
  readonly flags?: ReadonlyArray<{ readonly flag: string; readonly path: string }>;
  /** Why the texts are not kept: they are too long, or contain more credentials than svc can mask. */
  readonly withheld?: string;
}

/** One request to a model, in the form of the answers of svc. */
export interface CallAttempt {
  readonly client: string;
  /** `ok`, or the code of the failure. */
  readonly outcome: string;
  readonly upstream_status?: number;
  readonly message?: string;
  readonly duration_ms: number;
  /** It asked for the correction of the reply before. */
  readonly reask?: true;
  readonly input_tokens?: number;
  readonly output_tokens?: number;
}

/** The opinion of a person or a program about a call. */
export interface CallFeedback {
  /** When it arrived, in milliseconds since 1970. */
  readonly at: number;
  readonly key: string | null;
  readonly score: number | null;
  readonly label: string | null;
  readonly comment: string | null;
  /** The right value; null without one. */
  readonly value: JsonValue;
}

/** A call in a list. */
export interface ListedCall extends CallFacts {
  /** Grows with the time at which the call was kept. */
  readonly seq: number;
  /** Of the newest feedback; null without any. */
  readonly score: number | null;
  readonly label: string | null;
}

/** A call in full. */
export interface KeptCall extends ListedCall {
  /** Null if the contents of calls are not kept. */
  readonly content: CallContent | null;
  /** The oldest first. */
  readonly feedback: readonly CallFeedback[];
}

/** The members of a filter beside its times, as addresses and commands name them. */
export const FILTER_NAMES = [
  'function',
  'client',
  'key',
  'request',
  'error',
  'lossy',
  'slow',
  'tag',
  'text',
  'feedback',
] as const;

/** The calls to list: those that fit all members. */
export interface CallFilter {
  readonly functionName?: string;
  readonly client?: string;
  readonly key?: string;
  readonly requestId?: string;
  /** The code of a failure, or `any`. */
  readonly error?: string;
  readonly lossy?: true;
  /** At least this long. */
  readonly slowMs?: number;
  readonly tag?: { readonly name: string; readonly value: string };
  /** In the contents; the case of letters of ASCII does not matter. */
  readonly text?: string;
  /** `any`, or a label. */
  readonly feedback?: string;
  /** In milliseconds since 1970. */
  readonly since?: number;
  readonly until?: number;
}

/** The value that the newest feedback calls right; undefined if none does. */
export function rightValue({ feedback }: Pick<KeptCall, 'feedback'>): JsonValue | undefined {
  return feedback.findLast(({ value }) => value !== null)?.value;
}

/** A part of the calls that fit a filter, the newest first. */
export interface CallPage {
  readonly calls: readonly ListedCall[];
  /** The `before` of the next part; null after the last one. A part can be empty although more follow. */
  readonly next: number | null;
  /** The end of the oldest call that was searched, in milliseconds since 1970; null if there is none. */
  readonly searchedTo: number | null;
}

/** The calls of one function over time. */
export interface CallSeries {
  readonly functionName: string;
  readonly points: readonly CallPoint[];
}

/** The calls that ended within one interval. */
export interface CallPoint {
  /** The begin of the interval, in milliseconds since 1970. */
  readonly at: number;
  readonly calls: number;
  readonly failures: number;
  readonly lossy: number;
  /** US dollars. */
  readonly cost: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The sum of the durations. */
  readonly ms: number;
}

/** A test that was written from a call. */
export interface SavedTest {
  /** The test block. */
  readonly test: string;
  /** The file of definitions to which it was added. */
  readonly path: string;
  /** The file of the recorded reply; null if the call has none. */
  readonly recording: string | null;
}
