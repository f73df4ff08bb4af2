import type { Cancellation } from '../../base/cancellation.ts';
import type { Result } from '../../base/result.ts';
import type { ParsedReply } from '../reply/reply-parser.ts';
import type { Failure } from '../../schema/errors.ts';

/** A reply that has arrived in full, and how long anybody waits for its value. */
export interface WholeReply {
  readonly functionName: string;
  readonly text: string;
  readonly cancellation: Cancellation;
  /** On the clock of `performance.now()`, in milliseconds. */
  readonly deadlineAt: number;
}

export type ReplyOutcome = Result<ParsedReply, Failure>;
