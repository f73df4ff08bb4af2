import type { JsonObject, JsonValue } from '../../base/json.ts';
import type { Explanation } from '../../schema/explanation.ts';
import type { ErrorBody, StreamEvent, Trace } from '../server/wire.ts';
import type { ClientChoice } from './client-choice.ts';
import type { RunMode } from './link.ts';

/** One call of a function from this page, while it runs and after it. */
export interface Run {
  readonly id: number;
  /** The runs that one click started have the same group. */
  readonly group: number;
  readonly startedAt: Date;
  readonly functionName: string;
  readonly args: JsonObject;
  readonly mode: RunMode;
  readonly choice: ClientChoice;
  /** What a person calls the client. */
  readonly client: string;
  readonly state: RunState;
  /** The newest value. */
  readonly value?: JsonValue;
  readonly partials: number;
  /** How often an attempt failed midway and another one began. */
  readonly resets: number;
  /** The text of the model so far. */
  readonly reply: string;
  readonly problem?: ErrorBody;
  readonly trace?: Trace;
  readonly explanation?: Explanation;
  /** Milliseconds, as this page measured them: until the first event, and in total so far. */
  readonly firstMs?: number;
  readonly elapsedMs: number;
}

export type RunState = 'waiting' | 'streaming' | 'done' | 'failed' | 'stopped';

export type RunChange = Partial<Pick<Run, 'state' | 'value' | 'partials' | 'resets' | 'reply' | 'trace'>> & {
  readonly problem?: ErrorBody;
  readonly explanation?: Explanation;
};

export function isRunning({ state }: Pick<Run, 'state'>): boolean {
  return state === 'waiting' || state === 'streaming';
}

/** The words for each state. */
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
