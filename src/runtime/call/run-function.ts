import type { ReplyParser } from '../reply/reply-parser.ts';
import { FunctionRun } from './function-run.ts';
import type { RunServices } from './function-run.ts';
import type { ReadyCall } from './prepare-call.ts';
import { WholeReader } from './reply-reader.ts';
import type { CallContext, CallOutcome } from './runtime.ts';

/** Calls a function for its final value: prompt, model (with retries and strategies), parsing. Never rejects. */
export function runFunction(
  services: RunServices & { readonly parser: ReplyParser },
  call: ReadyCall,
  context: CallContext,
): Promise<CallOutcome> {
  const reader = new WholeReader(services.parser, services.options);
  return new FunctionRun({ services, call, context, reader }).run();
}
