import type { ReplyParser } from '../reply/reply-parser.ts';
import { FunctionRun } from './function-run.ts';
import type { RunServices } from './function-run.ts';
import type { ReadyCall } from './prepare-call.ts';
import { StreamReader } from './reply-reader.ts';
import type { CallContext, FunctionStream, StreamObserver } from './runtime.ts';

/** Starts a call whose value can be looked at while it grows. The observer hears of it on a later turn. */
export function streamFunction(
  services: RunServices & { readonly parser: ReplyParser },
  call: ReadyCall,
  context: CallContext,
  observer: StreamObserver,
): FunctionStream {
  const reader = new StreamReader(services.parser, services.options, observer);
  const run = new FunctionRun({ services, call, context, reader });
  setImmediate(() => {
    void run.run().then((outcome) => observer.ended(outcome));
  });
  return {
    takePartial: () => reader.takePartial(),
    gather: (ms) => run.gather(ms),
    pause: () => run.pause(),
    resume: () => run.resume(),
  };
}
