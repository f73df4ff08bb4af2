import type { CallAttempt } from '../../schema/kept-call.ts';
import type { JsonValue } from '../../base/json.ts';
import type { Explanation } from '../../schema/explanation.ts';
import type { Message } from '../../schema/message.ts';
import type { Violation } from '../../schema/violation.ts';

/** The body of an error, as far as the page shows it. */
export interface ErrorBody {
  /** The code; `network`, `stopped` and `not_svc` are of the page itself. */
  readonly error: string;
  readonly message: string;
  readonly request_id?: string;
  readonly details?: readonly Violation[];
  readonly raw_output?: string;
  readonly trace?: Trace;
  readonly explanation?: Explanation;
}

export interface Trace {
  readonly client?: string;
  readonly model?: string;
  readonly attempts: readonly CallAttempt[];
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  /** US dollars. */
  readonly cost?: number;
  readonly finish_reason?: string;
  readonly model_ms: number;
  readonly first_text_ms?: number;
  readonly total_ms: number;
  /** Of the last attempt. */
  readonly prompt?: readonly Message[];
  readonly reply?: string;
}

/** One event of a stream that includes its trace. */
export type StreamEvent =
  | { readonly text: string }
  | { readonly partial_result: JsonValue }
  | { readonly final_result: JsonValue; readonly trace?: Trace }
  | { readonly reset: { readonly reason: string } }
  | { readonly reasoning: string }
  | ErrorBody;
